"""The vectors of the index: which entries have theirs, and how the others get them.

They are made of the texts that stand in the index, so a secret that was kept out of it is in no vector, and they go
with their entry. Numbers of entries only rise, so those without vectors are the ones above the last that has some.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from coffer.core.meaning import pieces
from coffer.core.text import as_text
from coffer.store import index
from coffer.store.home import Home

SIZE = 256
"""Bytes of a vector: a signed byte for each dimension."""
Maker = Callable[[Sequence[str]], list[bytes]]
"""Texts → a vector each."""
_BEHIND = "SELECT count(*) FROM entries WHERE id > (SELECT coalesce(max(entry), 0) FROM pieces)"
_NEXT = (
    "SELECT entries.id, title, text FROM entries JOIN texts USING (id) "
    "WHERE entries.id > (SELECT coalesce(max(entry), 0) FROM pieces) ORDER BY entries.id LIMIT ?"
)


def behind(connection: sqlite3.Connection, name: str) -> int:
    """How many entries have no vectors yet. name: which maker's; those of another are none."""
    if not _of(connection, name):
        return int(connection.execute("SELECT count(*) FROM entries").fetchone()[0])
    return int(connection.execute(_BEHIND).fetchone()[0])


def _of(connection: sqlite3.Connection, name: str) -> bool:
    return (name,) in connection.execute("SELECT name FROM maker").fetchall()


def give(home: Home, name: str, make: Maker, most: int, wait: float = index.BUSY) -> int:
    """Give the next entries their vectors, in one transaction; how many. 0: all have theirs.

    wait: seconds for another process that writes. Raises IndexBusy, OSError, sqlite3.Error.
    """
    with index.alone(home, wait):
        connection = index.as_it_is(home, write=True)
        try:
            with index.transaction(connection):
                if not _of(connection, name):
                    connection.execute("DELETE FROM pieces")
                    connection.execute("DELETE FROM maker")
                    connection.execute("INSERT INTO maker (name) VALUES (?)", (name,))
                rows = connection.execute(_NEXT, (most,)).fetchall()
                for entry, title, text in rows:
                    cut = pieces(as_text(text)) or [
                        title
                    ]  # an entry without a word has one all the same: it is done
                    connection.executemany(
                        "INSERT INTO pieces (entry, vector) VALUES (?,?)",
                        [(entry, vector) for vector in make(cut)],
                    )
        finally:
            connection.close()
    return len(rows)
