"""Whole lines of an open file from an offset on, and the few among them that hold some bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator

_CHUNK = 4 << 20


class TailLines:
    """Iterates (offset, line) of the whole lines from `start` to `end`, those that hold `needle`.

    `end`: afterwards, where the first line begins that is not whole yet. Lines without the needle cost a search of
    their bytes and nothing else.
    """

    def __init__(self, descriptor: int, start: int, end: int, needle: bytes = b"") -> None:
        self._descriptor, self._start, self._size, self._needle = descriptor, start, end, needle
        self.end = start

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        rest, position = b"", self._start
        while position < self._size:
            data = os.pread(self._descriptor, min(_CHUNK, self._size - position), position)
            if not data:
                return  # it was cut meanwhile
            position += len(data)
            data = rest + data
            cut = data.rfind(b"\n") + 1
            rest, body = data[cut:], data[:cut]
            yield from self._in(body, self.end)
            self.end += cut

    def _in(self, body: bytes, offset: int) -> Iterator[tuple[int, bytes]]:
        at = 0
        while (found := body.find(self._needle, at)) >= 0 and found < len(body):
            begin = body.rfind(b"\n", 0, found) + 1
            at = body.index(b"\n", found) + 1
            yield offset + begin, body[begin:at]


def last_lines(descriptor: int, end: int, size: int) -> Iterator[tuple[int, bytes]]:
    """(offset, line) of whole lines before `end`, the last first, from at most the last `size` bytes."""
    start = max(0, end - size)
    data = os.pread(descriptor, end - start, start)
    stop = data.rfind(b"\n") + 1
    while stop > 0:
        begin = data.rfind(b"\n", 0, stop - 1) + 1
        if begin == 0 and start > 0:
            return  # its beginning may lie before
        yield start + begin, data[begin:stop]
        stop = begin
