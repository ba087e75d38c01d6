"""Which sessions are closed and not told yet, and what keeps the others (facts of both clients: registry, locks)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coffer.disk.anchor import anchor
from coffer.disk.places import Places
from coffer.disk.sessions import ARCHIVED, MAIN, Found
from coffer.store.db import database
from coffer.store.distilled import SKIPPED, TOLD, Row, rows
from coffer.store.distilled import row as row_of
from coffer.store.home import Home
from coffer.work.sessions.holders import Holders

QUIET_SECONDS = 3.0
"""After the last write, where the client says for itself which sessions it has open."""
UNSURE_SECONDS = 900.0
"""After the last write, where it does not: an older client, or another one's files."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A session that is not told. state: due, open, quiet, claimed, failing. why: of a failing one."""

    found: Found
    state: str
    row: Row


def standings(
    home: Home, places: Places, sessions: Iterable[Found], now: float, *, quiet: bool = True
) -> list[Standing]:
    """Sessions with something that is not told, newest first. quiet: whether one that was just written to waits.

    Nothing is written. Raises StoreFailed.
    """
    every = list(sessions)
    known = _known(home, every)
    held = Holders(places)
    found: list[Standing] = []
    for one in every:
        row = known.get((one.agent, one.id), Row(one.agent, one.id))
        if one.kind not in (MAIN, ARCHIVED) or is_told(row, one):
            continue
        found.append(Standing(one, _state(one, row, held, places, now, quiet=quiet), row))
    return sorted(found, key=lambda standing: -standing.found.modified)


_FEW = 50


def _known(home: Home, sessions: list[Found]) -> dict[tuple[str, str], Row]:
    """Their rows: of some, one by one, of many all at once."""
    if not home.database.exists():
        return {}
    with database(home, write=False) as connection:
        if len(sessions) > _FEW:
            found = rows(connection)
        else:
            found = [row_of(connection, one.agent, one.id) for one in sessions]
    return {(row.agent, row.session): row for row in found}


def due(
    home: Home, places: Places, sessions: Iterable[Found], now: float, *, quiet: bool = True
) -> list[Found]:
    """Those of these sessions that are to be told now, newest first."""
    found = standings(home, places, sessions, now, quiet=quiet)
    return [standing.found for standing in found if standing.state == "due"]


def is_told(row: Row, found: Found) -> bool:
    """Whether a session was told, or passed over, as it is: by its inode and size, without looking into it."""
    if row.state not in (TOLD, SKIPPED) or found.size != row.offset:
        return False
    try:
        return found.path.stat().st_ino == row.inode
    except OSError:
        return True  # gone: there is nothing to tell


def unchanged(row: Row, found: Found) -> bool:
    """Whether a transcript ends where it was read up to."""
    if row.offset == 0 or found.size != row.offset:
        return False
    try:
        return anchor(found.path, row.offset) == row.anchor
    except OSError:
        return False


def _state(  # noqa: PLR0913  (all that decides)
    found: Found, row: Row, held: Holders, places: Places, now: float, *, quiet: bool
) -> str:
    if row.held(now):
        return "claimed"
    if row.waits(now):
        return "failing"
    if held.of(found.agent, found.id):
        return "open"
    waits = QUIET_SECONDS if is_sure(found.agent, places) else UNSURE_SECONDS
    return "quiet" if quiet and 0 <= now - found.modified < waits else "due"


def is_sure(agent: str, places: Places) -> bool:
    """Whether this client keeps a registry, or locks, by which it shows what it has open."""
    folder = places.codex / "thread-writer-locks" if agent == "codex" else places.claude / "sessions"
    return folder.is_dir()
