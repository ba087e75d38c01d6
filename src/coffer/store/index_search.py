"""Questions to the index."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from coffer.core.search import BROAD, Term, match_of
from coffer.store.index_tables import place_word, same_key

_WEIGHTS = "3.0, 1.0, 0.5, 0.0"
"""Of title, text, parts of identifiers, and the folder, which only filters."""
_COLUMNS = (
    "entries.id, entries.name, folders.name, lane, source, agent, session, time, branch, title, texts.text, "
    "files.path"
)
_JOINED = (
    "JOIN texts ON texts.id = entries.id JOIN files ON files.id = entries.file "
    "JOIN folders ON folders.id = entries.folder"
)
_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that was found. folder: global or a project's id. path: below the vault. score: the more the better.

    number: the index's own, which another index need not share.
    """

    number: int
    id: str
    folder: str
    lane: str
    source: str
    agent: str
    session: str
    time: str
    branch: str
    title: str
    text: str
    path: str
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Filters:
    """Which entries count; None and "" are all. since, until: beginnings of ISO times, both inclusive."""

    folders: tuple[str, ...] | None = None
    lane: str = ""
    agent: str = ""
    source: str = ""
    session: str = ""
    since: str = ""
    until: str = ""

    def terms(self, *, folders: bool = True) -> tuple[str, list[str]]:
        """As SQL, which begins with AND, and its values. folders: also those."""
        sql, values = "", list[str]()
        if folders and self.folders is not None:
            marks = ",".join("?" * len(self.folders))
            sql += f" AND entries.folder IN (SELECT id FROM folders WHERE name IN ({marks}))"  # noqa: S608
            values += self.folders
        for column, value in (("lane", self.lane), ("agent", self.agent), ("source", self.source)):
            if value:
                sql += f" AND entries.{column} = ?"
                values.append(value)
        if self.session:
            sql += " AND substr(session, 1, length(?)) = ?"
            values += [self.session, self.session]
        if self.since:
            sql += " AND time >= ?"
            values.append(self.since)
        if self.until:
            sql += " AND substr(time, 1, length(?)) <= ?"
            values += [self.until, self.until]
        return sql, values


def search(connection: sqlite3.Connection, terms: Sequence[Term], filters: Filters) -> list[Hit]:
    """Entries that answer, the best first by their words alone; at most some dozens."""
    place = _place(connection, filters)
    if place is None:
        return []
    match = match_of([(term, _count(connection, f"{place}({term.match})")) for term in terms])
    found = _matching(connection, match, place, filters)
    if not found and " AND " in match and not any(term.required for term in terms):
        found = _matching(connection, " OR ".join(term.match for term in terms), place, filters)
    return found


def _place(connection: sqlite3.Connection, filters: Filters) -> str | None:
    """What to put before a match so that only the wanted folders count; None where none of them has an entry."""
    if filters.folders is None:
        return ""
    marks = ",".join("?" * len(filters.folders))
    rows = connection.execute(f"SELECT id FROM folders WHERE name IN ({marks})", filters.folders).fetchall()  # noqa: S608
    if not rows:
        return None
    return f"place : ({' OR '.join(place_word(folder) for (folder,) in rows)}) AND "


def _count(connection: sqlite3.Connection, match: str) -> int:
    """In how many entries it occurs, as far as that makes a difference."""
    asked = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
    return int(connection.execute(asked, (match, BROAD + 1)).fetchone()[0])


def _matching(connection: sqlite3.Connection, match: str, place: str, filters: Filters) -> list[Hit]:
    """The newest entries that match, as many as can be ranked in time, the best first."""
    if not match:
        return []
    where, values = filters.terms(folders=False)
    joined = "JOIN entries ON entries.id = words.rowid " if where else ""
    asked = (
        f"SELECT words.rowid AS row, bm25(words, {_WEIGHTS}) AS rank FROM words "  # noqa: S608  (constants)
        f"{joined}WHERE words MATCH ?{where} ORDER BY words.rowid DESC LIMIT {BROAD}"
    )
    best = f"SELECT row, rank FROM ({asked}) ORDER BY rank LIMIT {_LOOKED_AT}"  # noqa: S608
    rows = connection.execute(
        f"SELECT {_COLUMNS}, -rank FROM ({best}) JOIN entries ON entries.id = row {_JOINED} ORDER BY rank",  # noqa: S608
        [f"{place}({match})", *values],
    )
    return [Hit(*row) for row in rows]


def named(connection: sqlite3.Connection, name: str, filters: Filters) -> list[Hit]:
    """Entries of an id."""
    return _selected(connection, "entries.name = ?", [name], filters, 20, 0)


def numbered(connection: sqlite3.Connection, numbers: Sequence[int], filters: Filters) -> list[Hit]:
    """The entries of these numbers that are still there, and count."""
    marks = ",".join("?" * len(numbers))
    return _selected(connection, f"entries.id IN ({marks})", numbers, filters, len(numbers), 0)


def saying(connection: sqlite3.Connection, text: str, filters: Filters) -> list[Hit]:
    """Entries whose text says the same, but for case, width and white space."""
    return _selected(connection, "entries.same = ?", [same_key(text)], filters, 20, 0)


def newest(connection: sqlite3.Connection, filters: Filters, most: int, skip: int = 0) -> list[Hit]:
    """The newest entries, without a question."""
    return _selected(connection, "1", [], filters, most, skip)


def counted(connection: sqlite3.Connection, filters: Filters) -> int:
    """How many entries there are."""
    where, values = filters.terms()
    asked = f"SELECT count(*) FROM entries WHERE 1{where}"  # noqa: S608  (constants)
    return int(connection.execute(asked, values).fetchone()[0])


def _selected(  # noqa: PLR0913  (a query's parts)
    connection: sqlite3.Connection,
    what: str,
    said: Sequence[str | int],
    filters: Filters,
    most: int,
    skip: int,
) -> list[Hit]:
    where, values = filters.terms()
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM entries {_JOINED} WHERE {what}{where} "  # noqa: S608  (constants)
        "ORDER BY time DESC, entries.id DESC LIMIT ? OFFSET ?",
        [*said, *values, most, skip],
    )
    return [Hit(*row) for row in rows]
