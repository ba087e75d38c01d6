"""Deliveries: what was sent into which context, and whether it was seen to arrive."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from coffer.core.text import as_text

State = Literal["sent", "confirmed", "held", "missing", "unverifiable"]
"""held: the context had it already. missing: the model answered since, and it isn't there. unverifiable: there is no
transcript to look at."""
STATES: tuple[State, ...] = ("sent", "confirmed", "held", "missing", "unverifiable")
_COLUMNS = (
    "id, time, agent, session, transcript, child, event, project, bundle, rules, text, bytes, milliseconds, state,"
    " seen, process"
)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One reply of ours. time: ISO 8601 with microseconds, UTC. transcript: "" without one. child: agent_id or "".

    event: with its source, "SessionStart:resume". project: its root or "". bundle: hash of the whole bundle then.
    rules: ids of the rules that were sent. bytes: of the text, UTF-8. seen: when it was confirmed, or "". process:
    the hook's parent, 0 if unknown.
    """

    time: str
    agent: str
    session: str
    transcript: str
    child: str
    event: str
    project: str
    bundle: str
    rules: tuple[str, ...]
    text: str
    milliseconds: float = 0.0
    state: State = "sent"
    seen: str = ""
    process: int = 0
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:16])

    @property
    def bytes(self) -> int:
        """UTF-8 bytes of the text."""
        return len(self.text.encode())

    @property
    def moment(self) -> float:
        """Its time in seconds since the epoch."""
        return datetime.fromisoformat(self.time).timestamp()


def stamp(now: datetime) -> str:
    """A moment as the table holds it; now is aware."""
    return now.astimezone(UTC).isoformat(timespec="microseconds")


def save(connection: sqlite3.Connection, delivery: Delivery) -> None:
    """Insert a delivery, or bring its state, seen and transcript up to date.

    One that names a folder whose name is no text is kept all the same: it would hold up all that wait behind it.
    """
    connection.execute(
        f"INSERT INTO deliveries ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "  # noqa: S608  (a constant)
        "ON CONFLICT (id) DO UPDATE SET state = excluded.state, seen = excluded.seen, "
        "transcript = excluded.transcript",
        (
            delivery.id,
            delivery.time,
            delivery.agent,
            as_text(delivery.session),
            as_text(delivery.transcript),
            as_text(delivery.child),
            as_text(delivery.event),
            as_text(delivery.project),
            delivery.bundle,
            json.dumps(delivery.rules),
            as_text(delivery.text),
            delivery.bytes,
            delivery.milliseconds,
            delivery.state,
            delivery.seen,
            delivery.process,
        ),
    )


def of_transcript(
    connection: sqlite3.Connection, transcript: str, child: str | None = None
) -> list[Delivery]:
    """What was sent into a transcript's context, the oldest first; child: only into a subagent's, "" for none."""
    found = _select(connection, "transcript = ?", [transcript])
    return [one for one in found if child is None or one.child == child]


def in_states(
    connection: sqlite3.Connection, states: Collection[State], since: datetime | None = None
) -> list[Delivery]:
    """All in one of these states, the oldest first; since: only later ones."""
    marks = ",".join("?" * len(states))
    return _select(
        connection, f"state IN ({marks}) AND time >= ?", [*states, stamp(since) if since is not None else ""]
    )


def counts(connection: sqlite3.Connection, transcript: str) -> dict[State, int]:
    """How many of a transcript's deliveries are in which state."""
    rows = connection.execute(
        "SELECT state, count(*) FROM deliveries WHERE transcript = ? GROUP BY state", (transcript,)
    )
    return dict(rows.fetchall())


def last(connection: sqlite3.Connection, agent: str, state: State | None = None) -> Delivery | None:
    """The last delivery to an agent, or the last in a state: when it was last heard of, and last confirmed."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM deliveries WHERE agent = ? AND (? = '' OR state = ?) "  # noqa: S608  (a constant)
        "ORDER BY time DESC LIMIT 1",
        (agent, state or "", state or ""),
    ).fetchone()
    return _delivery(found) if found is not None else None


def forget(connection: sqlite3.Connection, before: datetime) -> int:
    """Remove what is older; how many that were."""
    return connection.execute("DELETE FROM deliveries WHERE time < ?", (stamp(before),)).rowcount


def _select(connection: sqlite3.Connection, where: str, values: Iterable[str]) -> list[Delivery]:
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM deliveries WHERE {where} ORDER BY time, rowid",  # noqa: S608  (constants)
        tuple(values),
    )
    return [_delivery(row) for row in rows]


def _delivery(row: tuple[str, ...]) -> Delivery:
    (
        name,
        time,
        agent,
        session,
        transcript,
        child,
        event,
        project,
        bundle,
        rules,
        text,
        _,
        ms,
        state,
        seen,
        pid,
    ) = row
    return Delivery(
        time,
        agent,
        session,
        transcript,
        child,
        event,
        project,
        bundle,
        tuple(json.loads(rules)),
        text,
        float(ms),
        next(known for known in STATES if known == state),
        seen,
        int(pid),
        name,
    )
