"""What an agent or a program asked for and only the person may do: kept until the person decides."""

from __future__ import annotations

import json
import sqlite3
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from coffer.core.redact import kept

LONGEST = 1_000
"""Characters that are kept of each text."""

ProposalState = Literal["open", "accepted", "rejected"]
_COLUMNS = "id, time, by, verb, digest, arguments, state"


@dataclass(frozen=True, slots=True)
class Proposal:
    """by: who asked, in words. verb: of the command. digest: path of the file. arguments: of the command, JSON."""

    id: str
    time: str
    by: str
    verb: str
    digest: str
    arguments: dict[str, Any]
    state: ProposalState


def add(  # noqa: PLR0913  (the fields of what it makes)
    connection: sqlite3.Connection,
    verb: str,
    digest: str,
    arguments: dict[str, Any],
    by: str,
    now: datetime | None = None,
) -> Proposal:
    """Keep a proposal, its texts redacted; the open one of before if the same was asked for already."""
    said = json.dumps(_clean(arguments), sort_keys=True)
    by, row = kept(by, LONGEST), ("open", verb, digest, said)
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM proposals "  # noqa: S608  (constants)
        "WHERE state = ? AND verb = ? AND digest = ? AND arguments = ? ORDER BY time LIMIT 1",
        row,
    ).fetchone()
    if found:
        return _proposal(found)
    time = (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="microseconds")
    made = (uuid.uuid4().hex[:10], time, by, verb, digest, said, "open")
    connection.execute(f"INSERT INTO proposals ({_COLUMNS}) VALUES (?,?,?,?,?,?,?)", made)  # noqa: S608
    return _proposal(made)


def open_proposals(connection: sqlite3.Connection) -> list[Proposal]:
    """Those that wait for the person, oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM proposals WHERE state = 'open' ORDER BY time, id"  # noqa: S608
    )
    return [_proposal(row) for row in rows]


def close(connection: sqlite3.Connection, name: str, state: Literal["accepted", "rejected"]) -> bool:
    """Say what became of a proposal; False where it isn't open."""
    done = connection.execute("UPDATE proposals SET state = ? WHERE id = ? AND state = 'open'", (state, name))
    return done.rowcount == 1


def _proposal(row: tuple[str, ...]) -> Proposal:
    name, time, by, verb, digest, arguments, state = row
    said: ProposalState = "accepted" if state == "accepted" else "rejected" if state == "rejected" else "open"
    return Proposal(name, time, by, verb, digest, json.loads(arguments), said)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return kept(value, LONGEST)
    if isinstance(value, dict):
        return {str(name): _clean(inner) for name, inner in value.items()}
    return [_clean(inner) for inner in value] if isinstance(value, list | tuple) else value
