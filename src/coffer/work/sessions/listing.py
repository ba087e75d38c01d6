"""The sessions of this machine, each with what a person chooses by."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coffer.disk.live import Holder
from coffer.disk.places import Places
from coffer.disk.sessions import MAIN, SUBAGENT, Found, thread_names
from coffer.errors import CofferError
from coffer.work.sessions.find import thread_paths
from coffer.work.sessions.holders import Holders
from coffer.work.sessions.inspect import inspect
from coffer.work.sessions.read import opened

FORK = "fork"


@dataclass(frozen=True, slots=True)
class Listed:
    """One session for a list. problem: the sentence that says why it could not be read, else ""."""

    found: Found
    kind: str
    title: str = ""
    folder: str = ""
    model: str = ""
    tokens: int = 0
    window: int = 0
    turns: int = 0
    holders: tuple[Holder, ...] = ()
    problem: str = ""

    @property
    def fill(self) -> float:
        """Part of the window that is used."""
        return self.tokens / self.window if self.window else 0.0


@dataclass(frozen=True, slots=True)
class Stood:
    """What a daemon that follows a session says of it, when it had seen `size` bytes of its file."""

    size: int
    folder: str
    model: str
    tokens: int
    window: int


def listing(
    sessions: Iterable[Found],
    places: Places,
    environment: Mapping[str, str],
    everything: Iterable[Found],
    known: Mapping[Path, Stood] | None = None,
) -> Iterator[Listed]:
    """Read each session; one that can't be read is listed with its problem.

    known: by real path, those that need not be read where they have not grown since; they have no title and no turns.
    """
    names, parents, held = thread_names(places), thread_paths(list(everything)), Holders(places)
    for found in sessions:
        stood = known.get(Path(os.path.realpath(found.path))) if known else None
        if stood is not None and stood.size == found.size:
            yield _known(found, stood, held)
            continue
        try:
            yield _listed(found, environment, names, parents, held)
        except CofferError as error:
            yield Listed(found, found.kind, problem=str(error))


def _known(found: Found, stood: Stood, held: Holders) -> Listed:
    return Listed(
        found,
        found.kind,
        folder=stood.folder,
        model=stood.model,
        tokens=stood.tokens,
        window=stood.window,
        holders=tuple(held.of(found.agent, found.id)),
    )


def _listed(
    found: Found,
    environment: Mapping[str, str],
    names: Mapping[str, str],
    parents: Mapping[str, Path],
    held: Holders,
) -> Listed:
    with opened(found.path, parents=parents) as session:
        report = inspect(session, environment, names, top=0)
        about = session.transcript.about
    kind = found.kind
    if kind == MAIN and found.agent == "codex":
        kind = SUBAGENT if about.subagent else FORK if about.parent else MAIN
    return Listed(
        found,
        kind,
        report.title,
        report.folder,
        report.model,
        report.tokens,
        report.window.tokens,
        report.turns,
        tuple(held.of(found.agent, found.id)),
    )


def as_json(item: Listed) -> dict[str, Any]:
    """One row for programs: sizes in bytes, tokens, seconds since the epoch."""
    return {
        "session": item.found.id,
        "agent": item.found.agent,
        "kind": item.kind,
        "path": str(item.found.path),
        "owner": item.found.owner,
        "title": item.title,
        "folder": item.folder,
        "model": item.model,
        "bytes": item.found.size,
        "modified": round(item.found.modified, 3),
        "tokens": item.tokens,
        "window": item.window,
        "window_used": round(item.fill, 4),
        "turns": item.turns,
        "live": [{"pid": holder.pid, "status": holder.status} for holder in item.holders],
        "problem": item.problem,
    }
