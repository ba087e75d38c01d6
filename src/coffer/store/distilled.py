"""The ledger of the journal: which session is told up to where, who is at it, and what waits after a failure.

A claim is held by a process for a time. A process that is gone, or late, loses it: what it left half done stands in
`pending`, and whoever comes next looks whether the entry was written.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

from coffer.disk.live import start_mark

CLAIMED, TOLD, SKIPPED, FAILING = "claimed", "told", "skipped", "failing"
LEASE_SECONDS = 600.0
"""Longer than the longest job; a worker that is killed is known to be gone at once."""
FIRST_WAIT, LONGEST_WAIT = 60.0, 86_400.0
"""Seconds after a first failure, four times as many after each further one, and at most."""


@dataclass(frozen=True, slots=True)
class Row:
    """One session in the ledger; the fields are the table's."""

    agent: str
    session: str
    path: str = ""
    inode: int = 0
    offset: int = 0
    anchor: str = ""
    mark: str = ""
    state: str = ""
    owner: int = 0
    owner_start: str = ""
    lease: float = 0.0
    tries: int = 0
    next_try: float = 0.0
    outcome: str = ""
    why: str = ""
    entry: str = ""
    file: str = ""
    begun: str = ""
    hash: str = ""
    pending: str = ""
    time: str = ""

    def held(self, now: float) -> bool:
        """Whether another process, which is alive, is at it."""
        if self.state != CLAIMED or not now < self.lease <= now + LEASE_SECONDS:
            return False
        return start_mark(self.owner) == self.owner_start

    def waits(self, now: float) -> bool:
        """Whether it failed a short while ago. A time further off than any wait comes of a clock that was wrong."""
        return self.state in (FAILING, CLAIMED) and now < self.next_try <= now + LONGEST_WAIT


_NAMES = [field.name for field in fields(Row)]
_COLUMNS = ", ".join(_NAMES)


def row(connection: sqlite3.Connection, agent: str, session: str) -> Row:
    """A session's row; an empty one where nothing is known of it."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM distilled_sessions WHERE agent = ? AND session = ?",  # noqa: S608  (constants)
        (agent, session),
    ).fetchone()
    return Row(*found) if found else Row(agent, session)


def rows(connection: sqlite3.Connection) -> list[Row]:
    """All of them, the newest first."""
    found = connection.execute(f"SELECT {_COLUMNS} FROM distilled_sessions ORDER BY time DESC")  # noqa: S608
    return [Row(*one) for one in found]


def put(connection: sqlite3.Connection, one: Row) -> None:
    """Insert a row, or replace it."""
    marks = ",".join("?" * len(_NAMES))
    connection.execute(
        f"INSERT OR REPLACE INTO distilled_sessions ({_COLUMNS}) VALUES ({marks})",  # noqa: S608  (constants)
        [getattr(one, name) for name in _NAMES],
    )


def claimed(connection: sqlite3.Connection, before: Row, path: str, pid: int, now: float) -> Row:
    """Claim a session for a process; the row as it is from now on.

    The failure of this try is written down in advance: a session that kills whoever reads it must wait as well.
    """
    wait = min(LONGEST_WAIT, FIRST_WAIT * 4**before.tries)
    one = replace(
        before,
        path=path,
        state=CLAIMED,
        owner=pid,
        owner_start=start_mark(pid) or "",
        lease=now + LEASE_SECONDS,
        tries=before.tries + 1,
        next_try=now + wait,
        outcome="failed",
        why="whoever read it was ended while it was read",
        time=stamp(now),
    )
    put(connection, one)
    return one


def mine(connection: sqlite3.Connection, one: Row) -> bool:
    """Whether a claim still holds."""
    found = row(connection, one.agent, one.session)
    return (found.state, found.owner, found.owner_start, found.tries) == (
        CLAIMED,
        one.owner,
        one.owner_start,
        one.tries,
    )


def told_elsewhere(connection: sqlite3.Connection, turns: Iterable[str], session: str) -> frozenset[str]:
    """Those of these human turns that another session's entry tells of."""
    found = set()
    for turn in turns:
        said = connection.execute("SELECT session FROM distilled_turns WHERE turn = ?", (turn,)).fetchone()
        if said is not None and said[0] != session:
            found.add(turn)
    return frozenset(found)


def tell_turns(connection: sqlite3.Connection, turns: Iterable[str], session: str) -> None:
    """Note that a session's entry tells of these human turns."""
    connection.executemany(
        "INSERT OR IGNORE INTO distilled_turns (turn, session) VALUES (?,?)",
        [(turn, session) for turn in turns],
    )


def as_pending(one: Row, turns: list[str], receipt: str) -> str:
    """What a row will be once its entry is written. receipt: the id of the one for it."""
    said: dict[str, Any] = {name: getattr(one, name) for name in _NAMES if name != "pending"}
    return json.dumps({"row": said, "turns": turns, "receipt": receipt})


def pending_of(one: Row) -> tuple[Row, list[str], str]:
    """What `as_pending` wrote."""
    said = json.loads(one.pending)
    return Row(**said["row"]), said["turns"], said["receipt"]


def stamp(now: float) -> str:
    """A moment as the ledger writes it."""
    return datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
