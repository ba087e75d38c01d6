"""A new file that is written while an old one is read, once, from its beginning to its end."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import IO

from coffer.disk.files import Source
from coffer.errors import FileMoved

_CHUNK = 1 << 20


def pieces(source: Source, start: int, end: int) -> Iterator[bytes]:
    """A stretch of a file, in pieces that fit into memory. Raises FileMoved where it was cut meanwhile."""
    while start < end:
        data = source.read(start, min(end, start + _CHUNK))
        if not data:
            raise FileMoved(str(source.path))
        yield data
        start += len(data)


class Copying:
    """The way from an old file to a new one: how large the new one is, and the digests of both as they grow.

    By the digests an undo knows its backup, and the file that it takes back.
    """

    def __init__(self, source: Source, file: IO[bytes]) -> None:
        self._source, self._file = source, file
        self._position = 0
        self._before, self._after = hashlib.sha256(), hashlib.sha256()
        self.size = 0
        self.ends_with_newline = True

    @property
    def digest_before(self) -> str:
        """sha256 of the old bytes that were read."""
        return self._before.hexdigest()

    @property
    def digest_after(self) -> str:
        """sha256 of the new bytes."""
        return self._after.hexdigest()

    def take(self, end: int) -> None:
        """Take the old bytes up to `end` over. Raises FileMoved."""
        for data in pieces(self._source, self._position, end):
            self._before.update(data)
            self.put(data)
        self._position = max(self._position, end)

    def leave(self, end: int) -> bytes:
        """The old bytes up to `end`, which are not taken over."""
        start, self._position = self._position, max(self._position, end)
        data = self._source.read(start, self._position)
        self._before.update(data)
        return data

    def put(self, data: bytes) -> None:
        """Write new bytes."""
        if data:
            self._file.write(data)
            self._after.update(data)
            self.size += len(data)
            self.ends_with_newline = data.endswith(b"\n")
