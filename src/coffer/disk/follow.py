"""What came to a transcript since it was looked at last: by its new bytes alone, however long it is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from msgspec import Struct

from coffer.agents.hints import PERSON, may_be_persons
from coffer.disk.admitted import opened_unlinked

_CHUNK = 1 << 20
_ANCHOR = 64
_LONGEST_LINE = 1 << 23
"""Bytes of a line that has no end yet; a longer one is taken for a person's."""


class Followed(Struct, frozen=True):
    """How far a file was looked at. file: device and inode. offset: behind the last whole line. size: then.

    anchor: the bytes before the offset: a file that was emptied and written anew is known by them.
    """

    file: tuple[int, int] = (0, 0)
    offset: int = 0
    size: int = 0
    anchor: bytes = b""


class Growth(Struct, frozen=True):
    """grew: there are bytes that were not seen before. replaced: it is another file now, or was cut.

    person: a new line may hold a person's words.
    """

    exists: bool = False
    grew: bool = False
    replaced: bool = False
    person: bool = False


def peek(path: Path) -> Followed | None:
    """A file as it is now, all of it taken for seen; None where there is none."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return Followed((found.st_dev, found.st_ino), found.st_size, found.st_size)


def follow(agent: str, path: Path, before: Followed | None) -> tuple[Followed | None, Growth]:
    """Look at what is new. before: None for a file that was never looked at; then all of it is."""
    with opened_unlinked(path) as descriptor:
        if descriptor is None:
            return None, Growth()
        found = os.fstat(descriptor)
        same = before is not None and goes_on(descriptor, before)
        if before is not None and same and found.st_size == before.size:
            return before, Growth(exists=True)
        offset = before.offset if before is not None and same else 0
        end, person = _new(agent, descriptor, offset, found.st_size)
        replaced = before is not None and not same
        now = stand(descriptor, end, found.st_size)
        return now, Growth(exists=True, grew=True, replaced=replaced, person=person)


def goes_on(descriptor: int, before: Followed) -> bool:
    """Whether an open file is the one that was followed, with nothing of what was seen changed."""
    found = os.fstat(descriptor)
    same = before.file == (found.st_dev, found.st_ino) and found.st_size >= before.size
    return same and _before(descriptor, before) == before.anchor


def stand(descriptor: int, offset: int, size: int) -> Followed:
    """How far an open file was followed. offset: behind the last whole line; size: as it was then."""
    found = os.fstat(descriptor)
    now = Followed((found.st_dev, found.st_ino), offset, size)
    return Followed(now.file, offset, size, _before(descriptor, now, _ANCHOR))


def _before(descriptor: int, state: Followed, size: int | None = None) -> bytes:
    """The bytes before a state's offset, as many as its anchor has."""
    start = max(0, state.offset - (len(state.anchor) if size is None else size))
    return os.pread(descriptor, state.offset - start, start)


def _new(agent: str, descriptor: int, offset: int, size: int) -> tuple[int, bool]:
    """The offset behind the last whole line, and whether any of the lines may be a person's."""
    rest, position, person = b"", offset, False
    while position < size:
        data = os.pread(descriptor, min(_CHUNK, size - position), position)
        if not data:
            break  # it was cut meanwhile
        position += len(data)
        data = rest + data
        cut = data.rfind(b"\n") + 1
        person = person or _persons(agent, data[:cut])
        rest = data[cut:]
        if len(rest) > _LONGEST_LINE:
            return position, True
    return position - len(rest), person


def _persons(agent: str, lines: bytes) -> bool:
    at = 0
    while (found := PERSON[agent].search(lines, at)) is not None:
        begin = lines.rfind(b"\n", 0, found.start()) + 1
        at = lines.find(b"\n", found.start()) + 1 or len(lines)
        if may_be_persons(agent, lines[begin:at]):
            return True
    return False
