"""The live branch of a Claude Code transcript: which records the client would load on a resume.

File order is not chain order, and a file holds dead branches, dangling parents and records that only hang
beside the chain. The client walks from one leaf to the root; this module walks as it does. After `loader`:

3. leaf: from the last record in file order and the last `last-prompt`.
4. walk: parents to the root; a missing parent is bridged to the closest record at most 5 s older.
5. gather: blocks of the same API message and results of parallel calls that the walk passed by; records that
   hang off the leaf and are no messages.

Each step with the experiment that shows it: docs/formats.md, "Loader".
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct, field

from coffer.core.loader import SPEAKERS, Loaded, load
from coffer.core.record import Record
from coffer.core.transcript import Transcript

BRIDGE_SECONDS = 5.0
"""How much older than its child a stand-in for a missing parent may be."""


class Gap(Struct):
    """A parent that is not in the file. bridged: the record taken instead, or None: history ends here."""

    child: Record
    missing: str
    bridged: Record | None


class Branch(Struct):
    """The live branch in the client's order. leaf None: nothing to resume.

    kept: the last message that a compaction preserved. broken: uuids that it names and the file lacks (then
    nothing is moved or dropped). cycle: the walk met a record twice. rewound_to: the record that a rewind
    ended on, if nothing was said since.
    """

    records: list[Record] = field(default_factory=list)
    leaf: Record | None = None
    gaps: list[Gap] = field(default_factory=list)
    kept: str = ""
    broken: tuple[str, ...] = ()
    cycle: bool = False
    rewound_to: str = ""


def live_branch(transcript: Transcript) -> Branch:
    """The branch that the client would load from this transcript."""
    return branch_of(load(transcript))


def branch_of(loaded: Loaded) -> Branch:
    """The branch that the client would take from these records."""
    branch = Branch(kept=loaded.kept, broken=loaded.broken)
    branch.rewound_to = (loaded.pointer or "") if loaded.rewound else ""
    branch.leaf = _leaf(loaded, loaded.kept)
    if branch.leaf is not None:
        _walk(loaded, branch)
        _gather(loaded, branch)
        _trail(loaded, branch)
    return branch


def _leaf(loaded: Loaded, tail: str) -> Record | None:
    if loaded.cleared:
        return None
    candidates = _candidates(loaded, tail)
    spoken = (loaded.records[uuid] for uuid in candidates if not loaded.records[uuid].sidechain)
    found = _latest(spoken)
    if found is None and not candidates:
        found = _latest(record for record in loaded.records.values() if not record.sidechain)
    return found


def _candidates(loaded: Loaded, tail: str) -> list[str]:
    pointer = loaded.pointer if loaded.pointer in loaded.records else None
    ordered = loaded.explicit and pointer is not None and not loaded.records[pointer].sidechain
    if not tail or ordered:
        start = pointer
        if pointer is not None and not loaded.explicit and _descends(loaded, loaded.last, pointer):
            start = loaded.last
        if start is None and not tail:
            start = loaded.last
        speaker = _speaker(loaded, start or "")
        if speaker:
            return [speaker]
    leaves = _leaves(loaded)
    if len(leaves) > 1:
        start = loaded.pointer if loaded.pointer in leaves else loaded.last
        speaker = _speaker(loaded, start or "")
        return [speaker] if speaker else leaves
    return leaves


def _descends(loaded: Loaded, uuid: str, ancestor: str) -> bool:
    seen: set[str] = set()
    while uuid and uuid not in seen:
        if uuid == ancestor:
            return True
        seen.add(uuid)
        uuid = loaded.parents.get(uuid, "")
    return False


def _speaker(loaded: Loaded, uuid: str) -> str:
    """The nearest user or assistant record from uuid upwards, or ""."""
    seen: set[str] = set()
    while uuid in loaded.records and uuid not in seen:
        if loaded.records[uuid].type in SPEAKERS:
            return uuid
        seen.add(uuid)
        uuid = loaded.parents[uuid]
    return ""


def _leaves(loaded: Loaded) -> list[str]:
    """Speakers above childless records that have no speaker as a child."""
    parents = set(loaded.parents.values())
    answered = {loaded.parents[uuid] for uuid, record in loaded.records.items() if record.type in SPEAKERS}
    found: dict[str, None] = {}
    for uuid in loaded.records:
        if uuid not in parents:
            speaker = _speaker(loaded, uuid)
            if speaker and speaker not in answered:
                found[speaker] = None
    return list(found)


def _latest(records: Iterable[Record]) -> Record | None:
    """The record with the greatest time; the first of equals; times that are none are passed over."""
    best: Record | None = None
    best_time = float("-inf")
    for record in records:
        moment = seconds(record.time)
        if moment is not None and moment > best_time:
            best, best_time = record, moment
    return best


def seconds(time: str) -> float | None:
    """Seconds since the epoch of an ISO 8601 time, or None where it is none."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError):
        return None


def _walk(loaded: Loaded, branch: Branch) -> None:
    seen: set[str] = set()
    current = branch.leaf
    while current is not None:
        if current.uuid in seen:
            branch.cycle = True
            break
        seen.add(current.uuid)
        branch.records.append(current)
        parent = loaded.parents[current.uuid]
        if not parent:
            break
        found = loaded.records.get(parent)
        if found is None or found.uuid in seen:
            branch.cycle = branch.cycle or found is not None
            missing = found is None
            found = _stand_in(loaded, current, seen)
            if missing or found is not None:
                branch.gaps.append(Gap(current, parent, found))
        current = found
    branch.records.reverse()


def _stand_in(loaded: Loaded, child: Record, seen: set[str]) -> Record | None:
    moment = seconds(child.time)
    if moment is None:
        return None
    best: Record | None = None
    closest = float("inf")
    for record in loaded.records.values():
        if record.uuid in seen or record.sidechain != child.sidechain:
            continue
        other = seconds(record.time)
        if other is not None and 0 <= moment - other <= BRIDGE_SECONDS and moment - other < closest:
            best, closest = record, moment - other
    return best


def _gather(loaded: Loaded, branch: Branch) -> None:
    """Insert same-message blocks and parallel results behind the last record of their message."""
    chain = branch.records
    on_chain = {record.uuid for record in chain}
    siblings, results = _beside(loaded, on_chain)
    if not siblings and not results:
        return
    families: dict[str, list[Record]] = {}
    for record in chain:
        if record.type == "assistant" and record.message:
            families.setdefault(record.message, []).append(record)
    extra: dict[str, list[Record]] = {}
    for message, family in families.items():
        parts = siblings.get(message, [])
        in_order = sorted([*family, *parts], key=_place)
        answers = [answer for record in in_order for answer in results.get(record.uuid, ())]
        found = sorted(parts, key=_when) + sorted(answers, key=_when)
        if found:
            extra[family[-1].uuid] = found
    if extra:
        branch.records = [item for record in chain for item in (record, *extra.get(record.uuid, ()))]


def _when(record: Record) -> str:
    return record.time


def _place(record: Record) -> int:
    return record.start


def _beside(loaded: Loaded, on_chain: set[str]) -> tuple[dict[str, list[Record]], dict[str, list[Record]]]:
    """Answers beside the chain by message, and results beside it by parent, in file order."""
    siblings: dict[str, list[Record]] = {}
    results: dict[str, list[Record]] = {}
    for uuid, record in loaded.records.items():
        if uuid in on_chain:
            continue
        if record.type == "assistant" and record.message:
            siblings.setdefault(record.message, []).append(record)
        elif record.type == "user" and not record.plain:
            parent = loaded.parents[uuid]
            if parent and any(block.kind == "tool_result" for block in record.blocks):
                results.setdefault(parent, []).append(record)
    return siblings, results


def _trail(loaded: Loaded, branch: Branch) -> None:
    """Append records that hang off the leaf and are no messages."""
    children: dict[str, list[Record]] = {}
    for uuid, record in loaded.records.items():
        parent = loaded.parents[uuid]
        if parent and record.type not in SPEAKERS:
            children.setdefault(parent, []).append(record)
    assert branch.leaf is not None
    on_chain = {record.uuid for record in branch.records}
    found: list[Record] = []
    queue = [branch.leaf.uuid]
    while queue:
        for child in children.get(queue.pop(0), ()):
            if child.uuid not in on_chain:
                on_chain.add(child.uuid)
                found.append(child)
                queue.append(child.uuid)
    branch.records += sorted(found, key=_when)
