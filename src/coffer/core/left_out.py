"""Would a reload show the newest words of the conversation? What reads the file again may leave them out.

The client holds its place in memory; the file says it by the order of lines and by the last `last-prompt` only. Three
states were seen with 2.1.197 in which these name another place, so that `/resume` drops what was said since:

- *cut off*: a session's first answer is written before its prompt, and the last record of the file is the prompt's
  (about one of three first turns on a busy machine). A reload ends at the prompt.
- *passed by*: a reload leaves a pointer to where it ended; a rewind behind it and a new turn do not change it. A reload
  goes back to the branch that the person left.
- *beside it*: in the middle of a turn the client points at the last of several parallel calls, and goes on behind the
  result that came last, which hangs on another of them. A reload ends at those calls.

A rewind alone leaves no trace in the file: then a reload brings back what it took off. Only the screen can tell.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import msgspec

from coffer.core.chain import Branch, branch_of, seconds
from coffer.core.loader import SPEAKERS, STREAMED_ABOVE, Loaded, load
from coffer.core.record import Record
from coffer.core.transcript import Transcript

CUT = "the end of the file names the prompt only: a reload would leave out what was said after it"
PASSED = (
    "an old pointer names another branch: a reload would go back there, and leave out what was said since"
)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """newest: the newest message that a reload would not show. leaf: the one where it would end, if any.

    cut: newest comes after leaf on one branch; otherwise they stand on two. way: the uuids from newest to its root.
    whole: no parent is missing on that way.
    """

    newest: Record
    leaf: Record | None
    cut: bool
    way: frozenset[str]
    whole: bool

    @property
    def why(self) -> str:
        """A sentence for a person."""
        return CUT if self.cut else PASSED


def left_out(transcript: Transcript) -> LeftOut | None:
    """What a reload would leave out; None: it ends at the newest message.

    A branch that a rewind left is older than the one that lives, in time and in the file, and does not go on from its
    end; so it is never taken for what is missing. Where the client itself has named the place, nothing is missing.
    """
    loaded = load(transcript)
    if loaded.explicit or loaded.cleared:
        return None
    branch = branch_of(loaded)
    shown = {record.uuid for record in branch.records}
    if (
        transcript.size > STREAMED_ABOVE
    ):  # of these the client reads two chains only, and no record beside them
        loaded = load(msgspec.structs.replace(transcript, size=0))
    hidden = [
        record
        for record in loaded.records.values()
        if record.type in SPEAKERS and not record.sidechain and record.uuid not in shown
    ]
    after = _after(loaded, branch.leaf, hidden)
    cut = [record for record in hidden if record.uuid in after]
    found = cut or [record for record in hidden if _is_later(record, branch.leaf)]
    if not found:
        return None
    newest = max(found, key=lambda record: (_time(record), record.start))
    way, end = _way(loaded, newest)
    return LeftOut(newest, branch.leaf, bool(cut), frozenset(way), end == "")


def branch_in_memory(transcript: Transcript, found: LeftOut) -> Branch:
    """The branch on which the client works, where a reload would end elsewhere."""
    loaded = load(transcript)
    loaded.pointer, loaded.explicit = found.newest.uuid, True
    return branch_of(loaded)


def pointer(found: LeftOut, session: str) -> bytes:
    """The record that, appended, lets a reload end at the newest message: the client honours the last one.

    Empty where a parent of that message is missing: a reload would then show it and lose all that came before.
    """
    if not found.whole:
        return b""
    said = {"type": "last-prompt", "leafUuid": found.newest.uuid, "sessionId": session}
    return json.dumps(said, separators=(",", ":")).encode() + b"\n"


def _way(loaded: Loaded, record: Record) -> tuple[list[str], str]:
    """The uuids from a record to its root, and what stands above: "", or a parent that is missing or in a circle."""
    way: dict[str, None] = {}
    uuid = record.uuid
    while uuid in loaded.parents and uuid not in way:
        way[uuid] = None
        uuid = loaded.parents[uuid]
    return list(way), uuid


def _after(loaded: Loaded, leaf: Record | None, hidden: list[Record]) -> set[str]:
    """Which of these hang on the leaf, by way of whatever stands between."""
    hangs: dict[str, bool] = {"": False, leaf.uuid: True} if leaf is not None else {"": False}
    for record in hidden:
        way: dict[str, None] = {}
        uuid = record.uuid
        while uuid not in hangs and uuid not in way and uuid in loaded.parents:
            way[uuid] = None
            uuid = loaded.parents[uuid]
        hangs.update(dict.fromkeys(way, hangs.get(uuid, False)))
    return {record.uuid for record in hidden if hangs.get(record.uuid, False)}


def _is_later(record: Record, leaf: Record | None) -> bool:
    """Later in the file and in time: one alone also holds for lines that another program appended, or a clock."""
    return leaf is None or (record.start > leaf.start and _time(record) > _time(leaf))


def _time(record: Record) -> float:
    found = seconds(record.time)
    return float("-inf") if found is None else found
