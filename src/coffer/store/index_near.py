"""Which entries lie nearest to a question by their vectors. Needs numpy, so only who asks by meaning imports it.

Of each vector a process that lives holds the signs alone, 32 bytes: by them some hundred pieces are chosen out of all,
and of those the vectors are read. What was taken out of the index since stays in that table for a while; it is found
out when the vectors are read.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from coffer.store.index_search import Filters
from coffer.store.index_vectors import SIZE

_CHOSEN = 300
"""Pieces whose vectors are read for one question."""
_AT_A_TIME = 5_000
_STALE = 5_000
"""Rows that may be added before all are read again, so that what went meanwhile does not pile up."""
_LOAD = (
    "SELECT pieces.id, pieces.entry, entries.folder, vector FROM pieces JOIN entries ON entries.id = pieces.entry "
    "WHERE pieces.id > ? ORDER BY pieces.id"
)


class Signs:
    """The signs of all vectors of one index. Its methods may be called in any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forget()

    def nearest(
        self, connection: sqlite3.Connection, asked: bytes, filters: Filters, most: int
    ) -> dict[int, float]:
        """The entries nearest to a question's vector → cosine, the best first."""
        with self._lock:
            self._bring_up(connection)
            chosen = self._choose(connection, asked, filters)
        best = _best(connection, asked, "id", chosen)
        return dict(sorted(best.items(), key=lambda one: -one[1])[:most])

    def _forget(self) -> None:
        self._rows: np.ndarray = np.zeros((3, 0), np.int64)
        """Of each piece its own number, its entry's and its folder's, the numbers rising."""
        self._signs: np.ndarray = np.zeros((SIZE // 64, 0), np.uint64)
        self._added = 0

    def _bring_up(self, connection: sqlite3.Connection) -> None:
        if self._added > _STALE:
            self._forget()
        last = int(self._rows[0, -1]) if self._rows.shape[1] else 0
        found = connection.execute(_LOAD, (last,))
        rows, signs = [self._rows], [self._signs]
        while some := found.fetchmany(_AT_A_TIME):
            rows.append(np.array([one[:3] for one in some], np.int64).T)
            signs.append(_signs_of(b"".join(one[3] for one in some)))
        if len(rows) > 1:
            self._added += sum(part.shape[1] for part in rows[1:]) if last else 0
            self._rows, self._signs = np.concatenate(rows, axis=1), np.concatenate(signs, axis=1)

    def _choose(self, connection: sqlite3.Connection, asked: bytes, filters: Filters) -> list[int]:
        """The numbers of the pieces whose signs agree best."""
        rows, signs = self._rows, self._signs
        wanted = _wanted(connection, filters, rows)
        if wanted is not None:
            rows, signs = rows[:, wanted], signs[:, wanted]
        differ: np.ndarray = np.zeros(rows.shape[1], np.uint8)
        for column, sign in zip(signs, _signs_of(asked), strict=True):
            differ += np.bitwise_count(column ^ sign)  # all 256 make 0: its cosine, -1, puts it right
        counts = np.cumsum(np.bincount(differ, minlength=SIZE))
        most = int(
            np.searchsorted(counts, _CHOSEN)
        )  # faster than sorting: a number of signs that enough pieces have
        numbers: list[int] = rows[0, np.flatnonzero(differ <= most)[: _CHOSEN * 2]].tolist()
        return numbers


def likeness(connection: sqlite3.Connection, asked: bytes, entries: Sequence[int]) -> dict[int, float]:
    """Entries → cosine of their nearest piece and a question's vector; one without vectors is left out."""
    return _best(connection, asked, "entry", entries)


def _wanted(connection: sqlite3.Connection, filters: Filters, rows: np.ndarray) -> np.ndarray | None:
    """Which pieces count; None: all of them."""
    wanted = None
    if filters.folders is not None:
        marks = ",".join("?" * len(filters.folders))
        numbers = connection.execute(f"SELECT id FROM folders WHERE name IN ({marks})", filters.folders)  # noqa: S608
        wanted = np.isin(rows[2], [number for (number,) in numbers])
    if replace(filters, folders=None) != Filters():
        where, values = filters.terms()
        found = connection.execute(f"SELECT id FROM entries WHERE 1{where}", values)  # noqa: S608
        fits = np.isin(rows[1], [number for (number,) in found])
        wanted = fits if wanted is None else wanted & fits
    return None if wanted is None else np.flatnonzero(wanted)


def _signs_of(vectors: bytes) -> np.ndarray:
    """The signs of vectors, 64 dimensions in a number, a column for each vector."""
    numbers = np.frombuffer(vectors, np.int8).reshape(-1, SIZE)
    signs: np.ndarray = np.ascontiguousarray(np.packbits(numbers > 0, axis=1).view(np.uint64).T)
    return signs


def _best(
    connection: sqlite3.Connection, asked: bytes, column: str, numbers: Sequence[int]
) -> dict[int, float]:
    """Entries → cosine of the nearest of those pieces of theirs that a column chooses, and a question's vector."""
    marks = ",".join("?" * len(numbers))
    rows = connection.execute(
        f"SELECT entry, vector FROM pieces WHERE {column} IN ({marks})",  # noqa: S608
        list(numbers),
    ).fetchall()
    question = np.frombuffer(asked, np.int8).astype(np.float32)
    vectors = np.frombuffer(b"".join(row[1] for row in rows), np.int8).reshape(-1, SIZE).astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(question)
    cosines = (vectors @ question) / np.maximum(lengths, 1e-6)
    best: dict[int, float] = {}
    for (entry, _), cosine in zip(rows, cosines.tolist(), strict=True):
        best[entry] = max(best.get(entry, -1.0), cosine)
    return best
