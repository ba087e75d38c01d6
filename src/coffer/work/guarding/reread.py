"""What a client would get if it read a session's file again now, and what the screen must show before it may."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from coffer.core.last_words import last_words
from coffer.core.left_out import left_out
from coffer.core.repair import reparented
from coffer.store.home import Home
from coffer.work.pruning.repair import removed_by_prunes
from coffer.work.sessions.read import opened

HANGS = "a rewind went on from what a prune took out: a reload would lose all that came before it"


@dataclass(frozen=True, slots=True)
class Reread:
    """why: what is in the way of a reload, "" for nothing. words: of `core.last_words`, for whoever sees the screen."""

    why: str
    words: str


def reread(transcript: Path, home: Home | None = None) -> Reread:
    """Read it whole. home: with the receipts of its prunes. Raises CofferError where it can't be read, StoreFailed."""
    with opened(transcript) as session:
        missed = left_out(session.transcript)
        why = "" if missed is None else missed.why
        if home is not None and not why:
            removed = removed_by_prunes(home, session.source.path.resolve())
            why = HANGS if reparented(session.transcript, session.source.read, removed) else ""
        return Reread(why, last_words(session.transcript, session.line))
