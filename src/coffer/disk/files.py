"""Transcripts on disk: read in one stream, lines fetched again by their place.

Memory: one buffer, the longest line, and the records. A file that grows meanwhile is read up to the size it
had when it was opened, so what is shown belongs to one moment.
"""

from __future__ import annotations

import io
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from coffer.errors import NotAFile, TranscriptEmpty, TranscriptMissing, TranscriptUnreadable

if TYPE_CHECKING:
    import zstandard
    from _typeshed import WriteableBuffer as Buffer

_CHUNK = 1 << 20
_AHEAD = 1 << 18

Progress = Callable[[int, int], None]
"""Called with (bytes read, bytes in all) from time to time."""


@dataclass(slots=True)
class Source:
    """An open transcript: its bytes as one stream.

    segments: (file, length) in order; a Codex fork's stream begins with what it inherits from its parent's
    file. size: bytes when it was opened; for a compressed file, of its content. own: where the session's own
    file begins in the stream. opened: the file's status when it was opened.
    """

    path: Path
    segments: list[tuple[IO[bytes], int]]
    opened: os.stat_result
    own: int = 0
    _ahead: bytes = b""
    _ahead_start: int = 0

    @property
    def size(self) -> int:
        """Bytes of the stream."""
        return sum(length for _, length in self.segments)

    def read(self, start: int, end: int) -> bytes:
        """The bytes from start to end; fewer where the file was cut meanwhile.

        Small pieces are served from a stretch that is read ahead: records are mostly asked for in file order.
        """
        offset = start - self._ahead_start
        if offset >= 0 and end - self._ahead_start <= len(self._ahead):
            return self._ahead[offset : end - self._ahead_start]
        if end - start > _AHEAD // 4:
            return self._read(start, end)
        self._ahead, self._ahead_start = self._read(start, min(start + _AHEAD, self.size)), start
        return self._ahead[: end - start]

    def _read(self, start: int, end: int) -> bytes:
        pieces = []
        first = 0
        for file, length in self.segments:
            begin, stop = max(start, first), min(end, first + length)
            if begin < stop:
                pieces.append(os.pread(file.fileno(), stop - begin, begin - first))
            first += length
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def head(self, size: int = 65_536) -> bytes:
        """The first bytes of the session's own file."""
        return self.read(self.own, min(self.own + size, self.size))

    def tail(self, size: int = 65_536) -> bytes:
        """The last bytes."""
        return self.read(max(self.own, self.size - size), self.size)

    def grown(self) -> int:
        """Bytes that were appended since the file was opened; negative where it was cut."""
        file, length = self.segments[-1]
        return os.fstat(file.fileno()).st_size - length

    def inherit(self, parent: Source, length: int) -> None:
        """Put the first `length` bytes of a parent's stream before this one's."""
        inherited: list[tuple[IO[bytes], int]] = []
        for file, available in parent.segments:
            taken = min(available, length)
            length -= taken
            inherited.append((file, taken))
        self.segments = inherited + self.segments
        self._ahead = b""
        self.own += sum(size for _, size in inherited)


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """Open a transcript for reading.

    Raises TranscriptMissing, NotAFile, TranscriptEmpty, TranscriptUnreadable.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        raise TranscriptMissing(str(path)) from None
    except (OSError, ValueError) as error:
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
        found = os.fstat(file.fileno())
        if path.suffix == ".zst":
            with _decompressed(file, path) as plain:
                yield Source(path, [(plain, os.fstat(plain.fileno()).st_size)], found)
        else:
            yield Source(path, [(file, found.st_size)], found)


_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def _reason(error: OSError | ValueError) -> str:
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return said.lower()


@contextmanager
def _decompressed(file: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    """The content of a .zst file in an unnamed file, so that lines can be fetched by their place."""
    import zstandard  # noqa: PLC0415  (few sessions are compressed, and the import costs 10 ms)

    with tempfile.TemporaryFile(prefix="coffer-") as plain:
        try:
            whole = _unpack(file, plain, zstandard.ZstdDecompressor())
        except zstandard.ZstdError as error:
            raise TranscriptUnreadable(str(path), f"its compression is broken ({error})") from error
        if not whole:
            raise TranscriptUnreadable(str(path), "its compression ends too early")
        plain.flush()
        yield plain


def _unpack(file: IO[bytes], plain: IO[bytes], decompressor: zstandard.ZstdDecompressor) -> bool:
    """Unpack all frames; False where the last one is cut: half a history is not taken for the whole."""
    frame, rest = decompressor.decompressobj(), b""
    while data := rest or file.read(_CHUNK):
        plain.write(frame.decompress(data))
        rest = frame.unused_data if frame.eof else b""
        if frame.eof and rest:
            frame = decompressor.decompressobj()
    return frame.eof


_Line = TypeVar("_Line")


class _Window(io.RawIOBase):
    """The first `length` bytes of an open file, read by place, so that nobody's position moves."""

    def __init__(self, file: IO[bytes], length: int) -> None:
        self._descriptor, self._left, self.position = file.fileno(), length, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)
        got = os.preadv(self._descriptor, [view[: self._left]], self.position) if self._left else 0
        self._left -= got
        self.position += got
        return got


def read_lines(
    source: Source, translate: Callable[[bytes, int], list[_Line]], progress: Progress | None = None
) -> Iterator[list[_Line]]:
    """What translate makes of each line and its offset, in file order, up to the size at opening.

    A line comes with its newline, the last one perhaps without.
    """
    size, base = source.size, 0
    for file, length in source.segments:
        window = _Window(file, length)
        shown, position = 0, base
        for line in io.BufferedReader(window, _CHUNK):
            yield translate(line, position)
            position += len(line)
            if progress is not None and window.position != shown:
                shown = window.position
                progress(base + shown, size)
        base += length
