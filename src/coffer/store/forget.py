"""Words taken out of the database and of the packs of pruned content, for good."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

import zstandard

from coffer.core.forget import struck
from coffer.store.home import Home

TEXTS: dict[str, tuple[str, ...]] = {
    "receipts": ("data",),
    "turns": ("text", "before", "actions", "reason"),
    "proposals": ("arguments",),
    "answers": ("answer",),
    "deliveries": ("text",),
}
"""Table → columns that may hold what a person or an agent said. Other columns are ids, kinds, times and paths."""


def rows_with(connection: sqlite3.Connection, words: Sequence[str]) -> dict[str, int]:
    """How many rows of each table hold one of these words."""
    found: dict[str, int] = {}
    for table, column, before, _ in _struck(connection, words):
        sql = f"SELECT count(*) FROM {table} WHERE {column} = ?"  # noqa: S608  (constants)
        found[table] = found.get(table, 0) + int(connection.execute(sql, (before,)).fetchone()[0])
    return found


def _struck(connection: sqlite3.Connection, words: Sequence[str]) -> Iterator[tuple[str, str, str, str]]:
    """Table, column, and a value before and after, of all that hold one of these words."""
    for table, columns in TEXTS.items():
        for column in columns:
            where = " OR ".join(f"instr({column}, ?)" for _ in words)
            sql = f"SELECT DISTINCT {column} FROM {table} WHERE {where}"  # noqa: S608  (constants)
            for (before,) in connection.execute(sql, list(words)).fetchall():
                if (after := struck(before, words, names=True)) != before:
                    yield table, column, before, after


def strike(connection: sqlite3.Connection, words: Sequence[str]) -> None:
    """Write FORGOTTEN in the place of these words; the pages that held them are overwritten."""
    connection.execute("PRAGMA secure_delete = ON")
    for table, column, before, after in list(_struck(connection, words)):
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (after, before))  # noqa: S608  (constants)


def pieces_with(connection: sqlite3.Connection, home: Home, words: Iterable[bytes]) -> list[str]:
    """Hashes of the pruned content that holds one of these words. A pack that is gone holds nothing."""
    wanted = tuple(words)
    found = []
    rows = connection.execute("SELECT hash, pack, offset, length FROM blobs ORDER BY pack, offset").fetchall()
    for key, pack, offset, length in rows:
        try:
            with (home.pruned / pack).open("rb") as file:
                file.seek(offset)
                data = zstandard.ZstdDecompressor().decompress(file.read(length))
        except (OSError, zstandard.ZstdError):
            continue
        if any(word in data for word in wanted):
            found.append(str(key))
    return found


def destroy(connection: sqlite3.Connection, home: Home, hashes: Iterable[str]) -> None:
    """Overwrite content in its pack, and let go of its row. Raises OSError."""
    for key in hashes:
        row = connection.execute("SELECT pack, offset, length FROM blobs WHERE hash = ?", (key,)).fetchone()
        if row is None:
            continue
        pack, offset, length = row
        with (home.pruned / pack).open("r+b") as file:
            file.seek(offset)
            file.write(bytes(length))
        connection.execute("DELETE FROM blob_refs WHERE hash = ?", (key,))
        connection.execute("DELETE FROM blobs WHERE hash = ?", (key,))
