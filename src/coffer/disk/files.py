"""Transcripts on disk: read in one stream, lines fetched again by their place.

Memory: one buffer, the longest line, and the records. A file that grows meanwhile is read up to the size it
had when it was opened, so what is shown belongs to one moment.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from coffer.core.json_lines import Oddity
from coffer.core.record import Record
from coffer.errors import NotAFile, TranscriptEmpty, TranscriptMissing, TranscriptUnreadable

_CHUNK = 1 << 20

Translate = Callable[[bytes, int], list[Record | Oddity]]
Progress = Callable[[int, int], None]
"""Called with (bytes read, bytes in all) from time to time."""


@dataclass(slots=True)
class Source:
    """An open transcript. size: bytes when it was opened; for a compressed file, of its content."""

    file: IO[bytes]
    path: Path
    size: int

    def line(self, start: int, end: int) -> bytes:
        """The bytes from start to end."""
        return os.pread(self.file.fileno(), end - start, start)

    def head(self, size: int = 65_536) -> bytes:
        """The first bytes."""
        return os.pread(self.file.fileno(), min(size, self.size), 0)

    def tail(self, size: int = 65_536) -> bytes:
        """The last bytes."""
        first = max(0, self.size - size)
        return os.pread(self.file.fileno(), self.size - first, first)

    def grown(self) -> int:
        """Bytes that were appended since the file was opened; negative where it was cut."""
        return os.fstat(self.file.fileno()).st_size - self.size


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """Open a transcript for reading.

    Raises TranscriptMissing, NotAFile, TranscriptEmpty, TranscriptUnreadable.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        raise TranscriptMissing(str(path)) from None
    except OSError as error:
        raise TranscriptUnreadable(str(path), _reason(error)) from error
    if not stat.S_ISREG(found.st_mode):
        raise NotAFile(str(path), _KINDS.get(stat.S_IFMT(found.st_mode), "a special file"))
    if found.st_size == 0:
        raise TranscriptEmpty(str(path))
    try:
        file = path.open("rb", buffering=0)
    except OSError as error:
        raise TranscriptUnreadable(str(path), _reason(error)) from error
    with file:
        if path.suffix == ".zst":
            with _decompressed(file, path) as plain:
                yield Source(plain, path, os.fstat(plain.fileno()).st_size)
        else:
            yield Source(file, path, os.fstat(file.fileno()).st_size)


_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


@contextmanager
def _decompressed(file: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    """The content of a .zst file in an unnamed file, so that lines can be fetched by their place."""
    import zstandard  # noqa: PLC0415  (one Codex session in a hundred is compressed; the import costs 10 ms)

    with tempfile.TemporaryFile(prefix="coffer-") as plain:
        try:
            zstandard.ZstdDecompressor().copy_stream(file, plain)
        except zstandard.ZstdError as error:
            raise TranscriptUnreadable(str(path), f"its compression is broken ({error})") from error
        plain.flush()
        yield plain


def read_lines(
    source: Source, translate: Translate, progress: Progress | None = None
) -> Iterator[list[Record | Oddity]]:
    """What each line holds, in file order, up to the size that the source had when it was opened."""
    pieces: list[bytes] = []
    base = position = 0
    descriptor = source.file.fileno()
    while position < source.size:
        chunk = os.pread(descriptor, min(_CHUNK, source.size - position), position)
        if not chunk:
            break
        position += len(chunk)
        end = chunk.rfind(b"\n")
        if end < 0:
            pieces.append(chunk)
            continue
        pieces.append(chunk[: end + 1])
        buffer = b"".join(pieces) if len(pieces) > 1 else pieces[0]
        begin = 0
        while (stop := buffer.find(b"\n", begin)) >= 0:
            if stop > begin:
                yield translate(buffer[begin:stop], base + begin)
            begin = stop + 1
        base += begin
        pieces = [chunk[end + 1 :]] if end + 1 < len(chunk) else []
        if progress is not None:
            progress(position, source.size)
    if pieces:
        yield translate(b"".join(pieces), base)
