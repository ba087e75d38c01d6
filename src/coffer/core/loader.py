"""The records of a transcript as Claude Code's loader maps them, before a branch is chosen.

1. read: records with a uuid enter a map in file order; `progress` records are bridged out of parent links.
   Above 5 MiB the client streams the file instead, and sees less (`streamed`).
2. relink: messages that a compaction preserved are moved behind its summary, all else before it is dropped.

Both steps are those of 2.1.197 (docs/formats.md, "Loader"); `chain` goes on from here.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from coffer.core.json_lines import Oddity
from coffer.core.record import LARGE_FILES, SMALL_FILES, Boundary, Pointer, Record
from coffer.core.transcript import CHAINED, Transcript

STREAMED_ABOVE = 5 * 1024 * 1024
"""Bytes above which the client scans the file in two passes (2.1.197)."""
SPEAKERS = ("user", "assistant")
"""Record types that carry the conversation's messages."""


class Loaded(Struct):
    """uuid → record in file order, with parents as the loader leaves them ("" for none).

    last: the last record of the main conversation. pointer: the leaf that the last `last-prompt` names;
    explicit: nothing was said since. kept: the last message that a compaction preserved, "" for none.
    broken: uuids that the last compaction names and the file lacks; then nothing was moved or dropped.
    """

    records: dict[str, Record] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    bridged: dict[str, str] = field(default_factory=dict)
    last: str = ""
    pointer: str | None = None
    explicit: bool = False
    cleared: bool = False
    rewound: bool = False
    kept: str = ""
    broken: tuple[str, ...] = ()


def load(transcript: Transcript) -> Loaded:
    """The map after both steps."""
    large = transcript.size > STREAMED_ABOVE
    unread = SMALL_FILES if large else LARGE_FILES
    records = [record for record in transcript.records if record.read != unread]
    if large:
        torn = [_torn(oddity) for oddity in transcript.oddities if oddity.uuid]
        records = [record for record in streamed(_in_order(records, torn)) if record.type != _TORN]
    loaded = _read(records)
    loaded.kept = _relink(loaded)
    return loaded


def _read(records: Iterable[Record]) -> Loaded:
    loaded = Loaded()
    bridged = loaded.bridged
    for record in records:
        if record.type in CHAINED:
            if record.uuid:
                _enter(loaded, record)
        elif record.type == "progress":
            if record.uuid:
                bridged[record.uuid] = bridged.get(record.parent, record.parent)
        elif isinstance(record.detail, Pointer):
            _point(loaded, record.detail)
    return loaded


def _enter(loaded: Loaded, record: Record) -> None:
    loaded.records[record.uuid] = record
    loaded.parents[record.uuid] = loaded.bridged.get(record.parent, record.parent)
    if not record.sidechain:
        loaded.last = record.uuid
        loaded.explicit = loaded.cleared = loaded.rewound = False
    if isinstance(record.detail, Boundary):
        loaded.pointer, loaded.explicit = None, False


def _point(loaded: Loaded, pointer: Pointer) -> None:
    if pointer.leaf:
        again = pointer.leaf == loaded.pointer
        loaded.explicit = pointer.explicit or (loaded.explicit and again)
        loaded.rewound = pointer.rewound or (loaded.rewound and again)
        loaded.pointer, loaded.cleared = pointer.leaf, False
    elif pointer.cleared:
        loaded.pointer, loaded.explicit, loaded.rewound, loaded.cleared = None, False, False, True


def streamed(records: list[Record]) -> list[Record]:
    """What is left of the records when the client streams the file.

    A boundary that preserves nothing forgets all before it; and if since then nothing is preserved and no
    parent is missing, only the records on the chains of the last record and of the last pointer are read, so
    that parallel results beside the chain are lost.
    """
    chained: list[Record] = []
    others: list[Record] = []
    keeps, pointer = False, ""
    for record in records:
        if isinstance(record.detail, Pointer) and record.detail.leaf:
            pointer = record.detail.leaf
        if isinstance(record.detail, Boundary):
            keeps = record.detail.keeps
            if not keeps:
                chained, others, pointer = [], [], ""
        (chained if record.uuid else others).append(record)
    by_uuid = {record.uuid: record for record in chained}
    if keeps:
        return chained + others
    last = next((record for record in reversed(chained) if not record.sidechain), None)
    wanted: set[int] = set()
    for end in (last, by_uuid.get(pointer)):
        if not _mark(end, by_uuid, wanted):
            return _in_order(chained, others)
    return _in_order([record for record in chained if record.start in wanted], others)


_TORN = "torn"


def _torn(oddity: Oddity) -> Record:
    return Record(oddity.start, oddity.end, _TORN, uuid=oddity.uuid, parent=oddity.parent)


def _in_order(chained: list[Record], others: list[Record]) -> list[Record]:
    return sorted(chained + others, key=lambda record: record.start)


def _mark(end: Record | None, by_uuid: dict[str, Record], wanted: set[int]) -> bool:
    """Add where the records from end to the root begin; False when a parent is missing.

    Of records with one uuid the last is the one that is read.
    """
    current = end
    while current is not None and current.start not in wanted:
        wanted.add(current.start)
        if not current.parent:
            return True
        if current.parent not in by_uuid:
            return False
        current = by_uuid[current.parent]
    return True


def _relink(loaded: Loaded) -> str:
    """Move what the last preserving boundary keeps; the uuid of the last moved record, or ""."""
    order = {uuid: index for index, uuid in enumerate(loaded.records)}
    boundaries = [record for record in loaded.records.values() if isinstance(record.detail, Boundary)]
    keeping = [record for record in boundaries if _boundary(record).keeps]
    if not keeping:
        return ""
    said, last = _boundary(keeping[-1]), boundaries[-1]
    kept: tuple[str, ...] = ()
    if keeping[-1] is last:
        found = said.preserved if said.listed else _segment(said, loaded)
        if found is None:
            return ""
        missing = tuple(uuid for uuid in found if uuid not in loaded.records)
        if missing:
            loaded.broken = missing
            return ""
        kept = found
    if kept:
        _splice(loaded, kept, said.anchor)
    _forget(loaded, kept, order, order[last.uuid])
    return kept[-1] if kept else ""


def _boundary(record: Record) -> Boundary:
    assert isinstance(record.detail, Boundary)
    return record.detail


def _segment(said: Boundary, loaded: Loaded) -> tuple[str, ...] | None:
    """The uuids from the segment's head to its tail, or None where the walk does not meet the head."""
    walked: list[str] = []
    uuid = said.tail
    while uuid in loaded.records and uuid not in walked:
        walked.append(uuid)
        if uuid == said.head:
            return tuple(reversed(walked))
        uuid = loaded.parents[uuid]
    return None


def _splice(loaded: Loaded, kept: tuple[str, ...], anchor: str) -> None:
    previous = anchor
    for uuid in kept:
        loaded.parents[uuid] = previous
        previous = uuid
    for uuid, parent in loaded.parents.items():
        if parent == anchor and uuid != kept[0]:
            loaded.parents[uuid] = kept[-1]


def _forget(loaded: Loaded, kept: tuple[str, ...], order: dict[str, int], boundary: int) -> None:
    keep = set(kept)
    dropped = {uuid for uuid in loaded.records if order[uuid] < boundary and uuid not in keep}
    for uuid in dropped:
        del loaded.records[uuid], loaded.parents[uuid]
    if kept and dropped:
        for uuid, parent in loaded.parents.items():
            if parent in dropped and loaded.records[uuid].type in SPEAKERS:
                loaded.parents[uuid] = kept[-1]
