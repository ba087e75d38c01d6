"""What in a damaged transcript can be repaired without losing a byte of anybody's words.

Repairs are byte edits. None changes a record: they set free what stands behind damage, or take away bytes that
hold nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coffer.core import json_lines
from coffer.core.items import Item
from coffer.core.json_lines import Oddity
from coffer.core.left_out import left_out, pointer
from coffer.core.transcript import CHAINED, Transcript
from coffer.core.view import View


@dataclass(frozen=True, slots=True)
class Fix:
    """Replace the bytes from start to end. what: for a person."""

    what: str
    start: int
    end: int
    new: bytes


def fixes(transcript: Transcript, read: Callable[[int, int], bytes], removed: Mapping[str, str]) -> list[Fix]:
    """The repairs of a transcript, in file order; removed: what prunes took out → its surviving ancestor."""
    found = [fix for oddity in transcript.oddities if (fix := _of_oddity(oddity, read)) is not None]
    found += reparented(transcript, read, removed)
    pointing = (
        [] if found else _pointing(transcript)
    )  # others may change the branch: then it takes a second time
    if transcript.unfinished:
        found.append(Fix("a newline at the end", transcript.size, transcript.size, b"\n"))
    return sorted(found, key=lambda fix: (fix.start, fix.end)) + pointing


def _pointing(transcript: Transcript) -> list[Fix]:
    missed = left_out(transcript)
    if missed is None:
        return []
    line = pointer(missed, transcript.about.session)
    what = "a pointer to the newest message, which a resume would have left out"
    return [Fix(what, transcript.size, transcript.size, line)] if line else []


def _of_oddity(oddity: Oddity, read: Callable[[int, int], bytes]) -> Fix | None:
    match oddity.kind:
        case json_lines.SECOND | json_lines.GLUED:
            return Fix("a record set free that was glued to another", oddity.rescue, oddity.rescue, b"\n")
        case json_lines.NUL:
            return Fix("NUL bytes removed", oddity.start, oddity.end, b"")
        case json_lines.NULL:
            end = oddity.end + (read(oddity.end, oddity.end + 1) == b"\n")
            return Fix("a line “null” removed, which keeps the client from resuming", oddity.start, end, b"")
        case _:
            return None


def reparented(
    transcript: Transcript, read: Callable[[int, int], bytes], removed: Mapping[str, str]
) -> list[Fix]:
    """Records whose parent a prune removed (a rewind after a prune): hung on the surviving ancestor."""
    known = {record.uuid for record in transcript.records}
    found = []
    for record in transcript.records:
        if record.type in CHAINED and record.parent in removed and record.parent not in known:
            ancestor = _surviving(record.parent, removed, known)
            old = f'"{record.parent}"'.encode()
            at = read(record.start, record.end).find(b'"parentUuid":' + old)
            if at >= 0 and ancestor:
                start = record.start + at + len(b'"parentUuid":')
                new = f'"{ancestor}"'.encode()
                found.append(Fix("a record hung on the surviving ancestor", start, start + len(old), new))
    return found


def _surviving(uuid: str, removed: Mapping[str, str], known: set[str]) -> str:
    """The nearest ancestor that is there: a later prune may have removed the one that an earlier one named."""
    seen: set[str] = set()
    while uuid not in known and uuid in removed and uuid not in seen:
        seen.add(uuid)
        uuid = removed[uuid]
    return uuid if uuid in known else ""


def keeps_all(transcript: Transcript, before: View, after: View) -> bool:
    """Whether everything that a resume sent is still sent, in the same order; before: the view of the transcript.

    Where the newest message was left out, only what it stands on is asked for: not the end of a branch that a rewind
    has left, nor an attachment that hung on the old end and that the client's memory does not have.
    """
    missed = left_out(transcript)
    rest = iter(_keys(after))
    return all(key in rest for key in _keys(before) if missed is None or key[0] in missed.way)


def _keys(view: View) -> list[tuple[str, int, str]]:
    return [
        (item.record.uuid, item.index if isinstance(item, Item) else -1, item.record.type)
        for item in view.items
        if item.record is not None
    ]
