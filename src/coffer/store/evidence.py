"""Human turns that were read, and which of them stand behind which rule.

The one door through which words of a transcript come into the database: every text is redacted here
(DESIGN section 10), so no caller can forget it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields, replace
from datetime import datetime
from typing import Any, Literal, cast

from coffer.core.redact import kept
from coffer.core.rule import Certainty, Evidence, Label, Reliability

LONGEST_TEXT = 1_000
"""Characters of a turn, and of what stood before it, that are kept."""

TurnState = Literal["nothing", "counted", "noticed", "answered", "rejected"]
"""nothing: not worth a rule. counted: behind a rule. noticed: waits in the inbox. answered: the person made
something of it. rejected: the person said that it is nothing."""


@dataclass(frozen=True, slots=True)
class HeardTurn:
    """A human turn as the database keeps it. actions: tool and target each. text "": not worth keeping."""

    id: str
    agent: str
    session: str
    folder: str
    project: str
    time: str
    reliability: str
    label: str
    persistence: str
    certainty: str
    confidence: float
    reason: str
    text: str
    before: str
    actions: tuple[tuple[str, str], ...]
    state: TurnState


_TURN = tuple(field.name for field in fields(HeardTurn))
_TURN_COLUMNS = ", ".join(_TURN)
_EVIDENCE_COLUMNS = "turn, time, session, project, reliability, label, certainty, weight"


def known(connection: sqlite3.Connection, ids: Iterable[str]) -> set[str]:
    """Those of the ids whose turns were read before."""
    return {
        name for name in ids if connection.execute("SELECT 1 FROM turns WHERE id = ?", (name,)).fetchone()
    }


def clean(turn: HeardTurn) -> HeardTurn:
    """The turn without secrets, its texts cut; what is not worth a rule keeps no text at all."""
    if turn.state == "nothing":
        return replace(turn, text="", before="", actions=(), reason="")
    return replace(
        turn,
        text=kept(turn.text, LONGEST_TEXT),
        before=kept(turn.before, LONGEST_TEXT, tail=True),
        actions=tuple((tool, kept(target, LONGEST_TEXT)) for tool, target in turn.actions),
        reason=kept(turn.reason, LONGEST_TEXT),
    )


def keep_turns(connection: sqlite3.Connection, turns: Iterable[HeardTurn]) -> None:
    """Insert turns; one that is there already stays as it is, unless it was worth nothing until now."""
    marks = ", ".join("?" * len(_TURN))
    columns = ", ".join(f"{name} = excluded.{name}" for name in _TURN if name != "id")
    connection.executemany(
        f"INSERT INTO turns ({_TURN_COLUMNS}) VALUES ({marks}) "  # noqa: S608  (constants)
        f"ON CONFLICT (id) DO UPDATE SET {columns} WHERE turns.state = 'nothing'",
        [_row(clean(turn)) for turn in turns],
    )


def _row(turn: HeardTurn) -> tuple[Any, ...]:
    return tuple(
        json.dumps(value) if name == "actions" else value
        for name, value in zip(_TURN, astuple(turn), strict=True)
    )


def turn_as_json(turn: HeardTurn) -> list[Any]:
    """A turn for a receipt that may have to be finished later."""
    return list(_row(clean(turn)))


def turn_of(row: Iterable[Any]) -> HeardTurn:
    """A turn from a row, or from what `turn_as_json` made."""
    said = dict(zip(_TURN, row, strict=True))
    said["actions"] = tuple((str(tool), str(target)) for tool, target in json.loads(said["actions"]))
    return HeardTurn(**said)


def turns(connection: sqlite3.Connection, state: TurnState | None = None) -> list[HeardTurn]:
    """Turns of a state, or all that have text, oldest first."""
    where, values = ("state = ?", (state,)) if state else ("text != ''", ())
    rows = connection.execute(
        f"SELECT {_TURN_COLUMNS} FROM turns WHERE {where} ORDER BY time, id",  # noqa: S608  (constants)
        values,
    )
    return [turn_of(row) for row in rows]


def turn(connection: sqlite3.Connection, name: str) -> HeardTurn | None:
    """The turn of that id."""
    row = connection.execute(
        f"SELECT {_TURN_COLUMNS} FROM turns WHERE id = ?",  # noqa: S608  (constants)
        (name,),
    ).fetchone()
    return turn_of(row) if row else None


def set_state(connection: sqlite3.Connection, ids: Iterable[str], state: TurnState) -> None:
    """What became of turns."""
    connection.executemany("UPDATE turns SET state = ? WHERE id = ?", [(state, name) for name in ids])


def evidence_of(connection: sqlite3.Connection, digest: str) -> dict[str, tuple[Evidence, ...]]:
    """The evidence behind each rule of a digest file, by the rule's id."""
    found: dict[str, list[Evidence]] = {}
    rows = connection.execute(
        f"SELECT rule, {_EVIDENCE_COLUMNS} FROM evidence WHERE digest = ? ORDER BY time, turn",  # noqa: S608
        (digest,),
    )
    for rule, *said in rows:
        found.setdefault(rule, []).append(evidence_from(said))
    return {rule: tuple(pieces) for rule, pieces in found.items()}


def evidence_as_json(piece: Evidence) -> list[Any]:
    """A piece of evidence for a receipt, in the order of its columns."""
    return [
        piece.uuid,
        piece.time.isoformat(),
        piece.session,
        piece.project,
        piece.reliability,
        piece.label,
        piece.certainty,
        piece.weight,
    ]


def evidence_from(said: Iterable[Any]) -> Evidence:
    """The piece that `evidence_as_json` wrote."""
    name, time, session, project, reliability, label, certainty, weight = said
    return Evidence(
        name,
        datetime.fromisoformat(time),
        session,
        project,
        cast("Reliability", reliability),
        cast("Label", label),
        cast("Certainty", certainty),
        weight,
    )


Moved = Mapping[str, list[list[Any]]]
"""Evidence by rule id, as `evidence_as_json` writes it."""


def move_evidence(connection: sqlite3.Connection, digest: str, removed: Moved, added: Moved) -> None:
    """Take evidence from some rules of a digest and give it to others, as a receipt says."""
    connection.executemany(
        "DELETE FROM evidence WHERE digest = ? AND rule = ? AND turn = ?",
        [(digest, rule, piece[0]) for rule, pieces in removed.items() for piece in pieces],
    )
    connection.executemany(
        f"INSERT OR REPLACE INTO evidence (digest, rule, {_EVIDENCE_COLUMNS}) "  # noqa: S608  (constants)
        "VALUES (?,?,?,?,?,?,?,?,?,?)",
        [(digest, rule, *piece) for rule, pieces in added.items() for piece in pieces],
    )


def heard_up_to(connection: sqlite3.Connection, path: str) -> tuple[int, int, str]:
    """Inode, offset in bytes and anchor of what was read of a transcript; zeros for one never read."""
    row = connection.execute("SELECT inode, offset, anchor FROM heard WHERE path = ?", (path,)).fetchone()
    return (int(row[0]), int(row[1]), str(row[2])) if row else (0, 0, "")


def keep_offset(connection: sqlite3.Connection, path: str, inode: int, offset: int, anchor: str) -> None:
    """Remember how far a transcript was read."""
    connection.execute(
        "INSERT INTO heard (path, inode, offset, anchor) VALUES (?,?,?,?) ON CONFLICT (path) DO UPDATE "
        "SET inode = excluded.inode, offset = excluded.offset, anchor = excluded.anchor",
        (path, inode, offset, anchor),
    )
