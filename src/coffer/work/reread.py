"""What a client would get if it read a session's file again now, and what the screen must show before it may."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from coffer.core.last_words import last_words
from coffer.core.left_out import left_out
from coffer.work.read import opened


@dataclass(frozen=True, slots=True)
class Reread:
    """why: what is in the way of a reload, "" for nothing. words: of `core.last_words`, for whoever sees the screen."""

    why: str
    words: str


def reread(transcript: Path) -> Reread:
    """Read it whole. Raises CofferError where it can't be read."""
    with opened(transcript) as session:
        missed = left_out(session.transcript)
        return Reread("" if missed is None else missed.why, last_words(session.transcript, session.line))
