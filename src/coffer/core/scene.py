"""What a strategy looks at: the view with its turns, calls and tokens, and what it must not touch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from msgspec import Struct

from coffer.core.composition import Part
from coffer.core.dialect import BOUND_THINKING, SYNTHETIC
from coffer.core.items import Context, Item
from coffer.core.parts import is_persons_words
from coffer.core.record import Boundary, Pointer, Record, Snapshot
from coffer.core.transcript import Transcript
from coffer.core.view import View


class Pair(Struct, frozen=True, gc=False):
    """A call of a tool and its result, in the view. order counts the calls from 0."""

    call: Item
    result: Item
    order: int
    turn: int
    call_tokens: float
    result_tokens: float

    @property
    def tokens(self) -> float:
        """Estimated tokens of both."""
        return self.call_tokens + self.result_tokens

    @property
    def tool(self) -> str:
        """The tool's name."""
        return self.call.block.name

    @property
    def path(self) -> str:
        """The file that the call is about, or ""."""
        return self.call.block.path

    @property
    def failed(self) -> bool:
        """Whether the result is an error."""
        return self.result.block.error

    @property
    def stays(self) -> bool:
        """Whether call and result must stay: a launch of background work, a person's words with a rejection."""
        return self.call.block.stays or self.result.block.stays

    @property
    def asked(self) -> tuple[str, int]:
        """Equal for calls that ask for the same."""
        return (self.tool, self.call.block.digest)


class Entry(Struct, frozen=True, gc=False):
    """An item of the view with its turn and estimated tokens."""

    item: Item | Context
    turn: int
    tokens: float


@dataclass(slots=True)
class Scene:
    """One transcript as strategies see it.

    tail: turns from this number on are protected. last: the number of the latest turn that was answered.
    bound: the model's thinking is bound to all that stands before it (`dialect.BOUND_THINKING`).
    unchanged: paths whose file on disk has not changed since a call read it, by call id.
    """

    transcript: Transcript
    view: View
    entries: list[Entry]
    pairs: list[Pair]
    tail: int
    last: int
    protect: Sequence[str] = ()
    unchanged: frozenset[str] = frozenset()
    nameable: frozenset[str] = field(default_factory=frozenset)
    bound: bool = False
    _paths: dict[str, list[Pair]] = field(default_factory=dict)
    _free: list[Pair] | None = None
    _families: dict[str, dict[int, Record]] = field(default_factory=dict)
    _protected: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Index pairs by path and records by message."""
        for pair in self.pairs:
            self._paths.setdefault(pair.path, []).append(pair)
            if self.is_protected(pair):
                self._protected |= {r.start for r in (pair.call.record, pair.result.record) if r is not None}
        for entry in self.entries:
            record = entry.item.record
            if isinstance(entry.item, Item) and record is not None and record.message:
                self._families.setdefault(record.message, {})[record.start] = record

    def of_path(self, path: str) -> list[Pair]:
        """All pairs about a file, in order."""
        return self._paths.get(path, [])

    def family(self, record: Record) -> list[Record]:
        """The records of the same API message that the view holds."""
        return list(self._families.get(record.message, {record.start: record}).values())

    def is_free(self, record: Record | None, turn: int) -> bool:
        """Whether something of a record may be taken: outside the tail, and of nothing that a person protected."""
        return record is not None and turn < self.tail and record.start not in self._protected

    def is_protected(self, pair: Pair) -> bool:
        """Whether a person protected the pair's tool or path."""
        if not self.protect:
            return False
        names = (pair.tool, pair.path, pair.call.block.command)
        return any(name and fnmatchcase(name, glob) for glob in self.protect for name in names)

    def free_pairs(self) -> list[Pair]:
        """Pairs of which something may be taken."""
        if self._free is None:
            free = [p for p in self.pairs if self.is_free(p.result.record, p.turn)]
            self._free = [p for p in free if self.is_free(p.call.record, p.turn) and not p.stays]
        return self._free


@dataclass(frozen=True, slots=True)
class Care:
    """What a prune leaves alone: the last turns, globs of tools and paths. unchanged: the file is as it was read."""

    keep_turns: int = 1
    protect: Sequence[str] = ()
    unchanged: Callable[[Pair], bool] = lambda _pair: False


def scene(transcript: Transcript, view: View, parts: Sequence[tuple[Part, float]], care: Care) -> Scene:
    """The scene of a view whose parts have these tokens."""
    entries, turn = [], 0
    tokens = {(id(part.record), part.index, part.kind): amount for part, amount in parts}
    for item in view.items:
        turn += is_persons_words(item)
        entries.append(Entry(item, turn, _tokens(item, tokens)))
    pairs = _pairs(entries)
    kept = frozenset(pair.call.block.id for pair in pairs if care.unchanged(pair))
    answered = sorted({entry.turn for entry in entries if _is_answer(entry.item)})[-max(1, care.keep_turns) :]
    return Scene(
        transcript,
        view,
        entries,
        pairs,
        answered[0] if len(answered) >= care.keep_turns else 0,
        answered[-1] if answered else 0,
        tuple(care.protect),
        kept,
        frozenset(nameable(transcript, view)),
        view.model.startswith(BOUND_THINKING),
    )


def _is_answer(item: Item | Context) -> bool:
    """A turn that the model did not answer protects nothing: `/exit` and its farewell would stand for the last."""
    return (
        isinstance(item, Item)
        and item.role == "assistant"
        and item.record is not None
        and item.record.model != SYNTHETIC
    )


def _tokens(item: Item | Context, tokens: Mapping[tuple[int, int, str], float]) -> float:
    if isinstance(item, Context):
        return tokens.get((id(item.record), 0, "context"), 0.0)
    return tokens.get((id(item.record), item.index, item.kind), 0.0)


def _pairs(entries: Sequence[Entry]) -> list[Pair]:
    calls: dict[str, Entry] = {}
    pairs: list[Pair] = []
    for entry in entries:
        item = entry.item
        if isinstance(item, Context):
            continue
        if item.kind == "tool_use" and item.record is not None:
            calls[item.block.id] = entry
        elif item.kind == "tool_result" and item.record is not None and item.block.id in calls:
            call = calls[item.block.id]
            assert isinstance(call.item, Item)
            pairs.append(Pair(call.item, item, len(pairs), entry.turn, call.tokens, entry.tokens))
    return pairs


def nameable(transcript: Transcript, view: View) -> set[str]:
    """Uuids that a client may still name as a parent (DESIGN section 5; facts/claude-code §10, rewind).

    Human prompts, the last record of each turn, what file-history names, what the last boundary names.
    """
    found: set[str] = set()
    previous: Record | None = None
    for record in view.branch.records:
        if record.type == "user" and record.role == "user" and not record.returned and not record.meta:
            found.add(record.uuid)
            if previous is not None:
                found.add(previous.uuid)
        if record.uuid:
            previous = record
    if previous is not None:
        found.add(previous.uuid)
    pointed: set[str] = set()
    for record in transcript.records:
        if isinstance(record.detail, Pointer):
            pointed = {record.detail.leaf or ""}
        found |= _named_by(record)
    return found | pointed  # of the pointers the client reads the last


def _named_by(record: Record) -> set[str]:
    match record.detail:
        case Snapshot(message=message):
            return {message}
        case Boundary():
            said = record.detail
            return {*said.preserved, said.head, said.tail, said.anchor, record.uuid}
        case _:
            return set()
