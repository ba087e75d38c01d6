"""Content that was pruned, by its hash: exact, compressed, kept as long as a receipt names it.

One pack file a receipt: each piece compressed by itself, one after the other, so that thousands of pieces
cost one fsync. The index lies in the database.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import zstandard

from coffer.disk.sync import sync_folder
from coffer.errors import PrunedContentMissing, RestoreAmbiguous, RestoreNotFound
from coffer.store.home import Home

_LEVEL = 3
_SHORTEST = 4


@dataclass(frozen=True, slots=True)
class Content:
    """A piece of content to keep: its sha256, its bytes, and what it was."""

    hash: str
    data: bytes
    note: str


def put(
    connection: sqlite3.Connection, home: Home, receipt: str, project: str, pieces: Sequence[Content]
) -> int:
    """Keep the pieces for a receipt; the bytes written. On disk for good when it returns."""
    new = {piece.hash: piece for piece in pieces}
    known = {key for names in batched(new, _BATCH) for key in _known(connection, home, names)}
    written = _write(connection, home, receipt, project, [p for p in new.values() if p.hash not in known])
    connection.executemany("INSERT OR IGNORE INTO blob_refs VALUES (?, ?)", [(key, receipt) for key in new])
    return written


_BATCH = 500


def batched(names: Iterable[str], size: int) -> Iterator[list[str]]:
    """The names in lists of at most `size`."""
    rest = iter(names)
    while found := list(islice(rest, size)):
        yield found


def _known(connection: sqlite3.Connection, home: Home, names: list[str]) -> list[str]:
    """Those that are kept already, in a pack that is still there."""
    marks = ",".join("?" * len(names))
    rows = connection.execute(f"SELECT hash, pack FROM blobs WHERE hash IN ({marks})", names)  # noqa: S608  (marks)
    return [key for key, pack in rows if (home.pruned / pack).is_file()]


def _write(
    connection: sqlite3.Connection, home: Home, receipt: str, project: str, pieces: Sequence[Content]
) -> int:
    if not pieces:
        return 0
    name = f"{receipt}.pack"
    path = home.make(home.pruned) / name
    compressor = zstandard.ZstdCompressor(level=_LEVEL)
    rows, offset = [], 0
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        for piece in pieces:
            packed = compressor.compress(piece.data)
            file.write(packed)
            rows.append((piece.hash, name, offset, len(packed), len(piece.data), piece.note, project))
            offset += len(packed)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(path.parent)
    connection.executemany(
        "INSERT INTO blobs VALUES (?,?,?,?,?,?,?) ON CONFLICT (hash) DO UPDATE SET "
        "pack = excluded.pack, offset = excluded.offset, length = excluded.length",
        rows,
    )
    return offset


def get(connection: sqlite3.Connection, home: Home, name: str) -> Content:
    """The content whose hash begins with `name`.

    Raises RestoreNotFound, RestoreAmbiguous, PrunedContentMissing.
    """
    if len(name) < _SHORTEST or not all(digit in "0123456789abcdef" for digit in name):
        raise RestoreNotFound(name)
    rows = connection.execute(
        "SELECT hash, pack, offset, length, note FROM blobs WHERE hash >= ? AND hash < ?", (name, name + "g")
    ).fetchall()
    if not rows:
        raise RestoreNotFound(name)
    if len(rows) > 1:
        raise RestoreAmbiguous(name, [row[0] for row in rows])
    key, pack, offset, length, note = rows[0]
    path = home.pruned / pack
    try:
        with path.open("rb") as file:
            file.seek(offset)
            data = zstandard.ZstdDecompressor().decompress(file.read(length))
    except (OSError, zstandard.ZstdError) as error:
        raise PrunedContentMissing(name, str(path), str(error)) from error
    if hashlib.sha256(data).hexdigest() != key:
        raise PrunedContentMissing(name, str(path), "its bytes are not those that were kept")
    return Content(key, data, note)


def collect(connection: sqlite3.Connection, home: Home, expired: Sequence[str], *, dry_run: bool) -> int:
    """Remove content that only these receipts name; the bytes that go (or would go)."""
    connection.executemany("DELETE FROM blob_refs WHERE receipt = ?", [(receipt,) for receipt in expired])
    connection.execute("DELETE FROM blobs WHERE hash NOT IN (SELECT hash FROM blob_refs)")
    kept = {row[0] for row in connection.execute("SELECT DISTINCT pack FROM blobs")}
    freed = 0
    for path in sorted(home.pruned.glob("*.pack")) if home.pruned.is_dir() else []:
        if path.name not in kept:
            freed += path.stat().st_size
            if not dry_run:
                path.unlink()
    return freed
