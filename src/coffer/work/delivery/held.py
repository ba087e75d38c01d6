"""What a context holds of the rules: read from the view of its transcript, and on from there as the file grows.

A look at a whole file is made once; then only new bytes are read, as long as they only go on with the branch behind
the newest block. A rewind, a compaction or a rewritten file makes it look again. A file without any block costs one
search of its bytes.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coffer.agents.delivered import DELIVERED, NEEDLE, is_answer
from coffer.agents.table import AGENTS
from coffer.core.block import Held
from coffer.core.chain import seconds
from coffer.core.record import Attached, Boundary, Pointer, Record
from coffer.core.transcript import CHAINED
from coffer.disk.admitted import opened_unlinked
from coffer.disk.places import Places
from coffer.disk.sessions import find_sessions
from coffer.disk.tail_lines import TailLines, last_lines
from coffer.errors import CofferError
from coffer.work.sessions.find import thread_paths
from coffer.work.sessions.read import Opened, opened

QUICK = 64 << 20
"""New bytes up to which a look takes less than a hook waits for the daemon."""
IN_FLIGHT = 10.0
"""Seconds in which what was answered may not be written yet, whatever else was."""
_ANCHOR = 64
_TAIL = 1 << 20
_MOST_KEPT = 200
_NEAR = 500


@dataclass(frozen=True, slots=True)
class Holding:
    """What a context holds. answered: seconds since the epoch of the last answer, 0.0 without one.

    exists: whether the transcript is there; before its first turn it isn't.
    """

    held: Held = field(default_factory=Held)
    answered: float = 0.0
    exists: bool = False


@dataclass(slots=True)
class _State:
    """How far a file was read. anchor: the bytes before `offset`. marked: whether any line holds a block, live or not.

    behind: uuids of the newest block's record and all after it, of the whole branch where it holds none. near: of
    records not long before it.
    """

    file: tuple[int, int]
    offset: int
    anchor: bytes
    held: Held = field(default_factory=Held)
    answered: float = 0.0
    marked: bool = False
    behind: set[str] = field(default_factory=set)
    near: deque[str] = field(default_factory=lambda: deque(maxlen=_NEAR))


def child_file(agent: str, transcript: Path, child: str) -> Path:
    """Where the context of a subagent stands. Codex names the child's own file by itself."""
    if agent != "claude" or not child:
        return transcript
    return transcript.with_suffix("") / "subagents" / f"agent-{child}.jsonl"


class Holdings:
    """Looks at transcripts and remembers how far each was read; one for a process that lives."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._states: dict[tuple[str, Path], _State] = {}

    def look(self, agent: str, path: Path, *, most: int | None = None) -> Holding | None:
        """What the context of this transcript holds; None in doubt: it can't be read, or not with `most` new bytes."""
        with opened_unlinked(path) as descriptor:
            if descriptor is None:
                return None if os.path.lexists(path) else Holding()
            state = self._states.pop((agent, path), None)
            size = os.fstat(descriptor).st_size
            most = size if most is None else most
            if state is not None and _goes_on(state, descriptor):
                if size - state.offset > most:
                    self._keep((agent, path), state)
                    return None
                state = state if _advance(agent, state, descriptor, size) else None
            else:
                state = None
            if state is None and size <= most:
                state = self._whole(agent, path, descriptor, size)
        if state is None:
            return None
        self._keep((agent, path), state)
        return Holding(state.held, state.answered, exists=True)

    def known(self, agent: str, path: Path) -> Held | None:
        """What the context held when it was looked at last; None where it never was. Reads nothing, in any thread."""
        state = self._states.get((agent, path))
        return state.held if state is not None else None

    def _keep(self, key: tuple[str, Path], state: _State) -> None:
        self._states[key] = state
        while len(self._states) > _MOST_KEPT:
            del self._states[next(iter(self._states))]

    def _whole(self, agent: str, path: Path, descriptor: int, size: int) -> _State | None:
        found = os.fstat(descriptor)
        lines = TailLines(descriptor, 0, size, NEEDLE)
        marked = any(True for _ in lines)
        if not marked and not _may_inherit(agent, descriptor):
            return _State(
                (found.st_dev, found.st_ino),
                lines.end,
                _before(descriptor, lines.end),
                answered=_last_answer(agent, descriptor, lines.end),
            )
        try:
            with opened(path, parents=_Threads(self._places)) as session:
                if (session.source.opened.st_dev, session.source.opened.st_ino) != (
                    found.st_dev,
                    found.st_ino,
                ):
                    return None  # it was replaced between two looks
                end = session.source.size - session.source.own - session.transcript.unfinished
                state = _State((found.st_dev, found.st_ino), end, _before(descriptor, end), marked=True)
                _view(agent, session, state)
        except CofferError:
            return None
        state.answered = _last_answer(agent, descriptor, end)
        return state


class _Threads(Mapping[str, Path]):
    """Paths of Codex threads by id, looked up only where a fork asks for its parent."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._known: dict[str, Path] | None = None

    def _paths(self) -> dict[str, Path]:
        if self._known is None:
            self._known = dict(thread_paths(find_sessions(self._places)))
        return self._known

    def __getitem__(self, name: str) -> Path:
        return self._paths()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths())

    def __len__(self) -> int:
        return len(self._paths())


def _may_inherit(agent: str, descriptor: int) -> bool:
    """Whether a Codex thread begins with what another file holds."""
    return agent == "codex" and b'"history_base"' in os.pread(descriptor, _TAIL, 0).split(b"\n", 1)[0]


def _goes_on(state: _State, descriptor: int) -> bool:
    """Whether this is the file that was read, with nothing before the offset changed."""
    found = os.fstat(descriptor)
    same = (found.st_dev, found.st_ino) == state.file and found.st_size >= state.offset
    return same and _before(descriptor, state.offset) == state.anchor


def _before(descriptor: int, offset: int) -> bytes:
    start = max(0, offset - _ANCHOR)
    return os.pread(descriptor, offset - start, start)


def _view(agent: str, session: Opened, state: _State) -> None:
    """Put into the state what the view of a whole session holds."""
    if agent == "claude" and _is_side(session):
        _linear(session, state)
        return
    view = session.agent.view(session.transcript, "")
    newest: Record | None = None
    seen: set[tuple[int, int]] = set()
    for item in view.items:
        record = item.record
        if record is None or (record.start, record.nested) in seen or not _may_deliver(record):
            continue
        seen.add((record.start, record.nested))
        line = session.line(record)
        texts = list(DELIVERED[agent](record, line)) if NEEDLE in line else []
        if texts:
            state.held, newest = state.held.after(texts), record
    records = view.branch.records
    place = next((at for at, record in enumerate(records) if newest and record.uuid == newest.uuid), 0)
    state.behind = {record.uuid for record in records[place:]}
    state.near.extend(record.uuid for record in records[max(0, place - _NEAR) : place])


def _is_side(session: Opened) -> bool:
    """Whether this is the file of a subagent, all of whose records are beside the main chain."""
    chained = [record for record in session.transcript.records if record.type in CHAINED]
    return bool(chained) and all(record.sidechain for record in chained)


def _linear(session: Opened, state: _State) -> None:
    for record in session.transcript.records:
        if isinstance(record.detail, Boundary):
            state.held = Held()
        line = session.line(record) if _may_deliver(record) else b""
        if NEEDLE in line:
            state.held = state.held.after(DELIVERED["claude"](record, line))
        if record.uuid:
            state.behind.add(record.uuid)


def _may_deliver(record: Record) -> bool:
    if isinstance(record.detail, Attached):
        return record.detail.bundle
    return record.role in ("user", "developer") and not record.returned


def _advance(agent: str, state: _State, descriptor: int, size: int) -> bool:
    """Read on; False where a look at the whole file is needed."""
    lines = TailLines(descriptor, state.offset, size)
    for offset, line in lines:
        marked = NEEDLE in line
        if marked and not state.marked:
            return False
        for record in AGENTS[agent].translate(line, offset):
            if not isinstance(record, Record):
                continue
            if not (_follows_codex(record) if agent == "codex" else _follows(state, record)):
                return False
            texts = list(DELIVERED[agent](record, line)) if marked else []
            if texts:
                state.held = state.held.after(texts)
                state.near.extend(state.behind)
                state.behind = {record.uuid}
            if is_answer(agent, record):
                state.answered = max(state.answered, seconds(record.time) or 0.0)
    if lines.end != state.offset:
        state.offset, state.anchor = lines.end, _before(descriptor, lines.end)
    return True


def _follows(state: _State, record: Record) -> bool:
    """Whether a record of Claude Code's leaves the branch with its blocks as it was."""
    if not state.marked:
        return True  # no block anywhere: whatever branch is live holds none
    if isinstance(record.detail, Boundary):
        return False
    if isinstance(record.detail, Pointer):  # one that names an ancestor of the last record changes nothing
        leaf, rewinds = record.detail.leaf or "", record.detail.explicit
        return not rewinds and (leaf in state.behind or leaf in state.near)
    if not record.uuid or (record.type not in CHAINED and record.type != "progress"):
        return True
    if record.parent not in state.behind:
        return record.sidechain
    state.behind.add(record.uuid)
    return True


_HARMLESS_EVENTS = frozenset(
    {
        "task_started",
        "task_complete",
        "turn_aborted",
        "token_count",
        "item_completed",
        "thread_settings_applied",
    }
)


def _follows_codex(record: Record) -> bool:
    """Whether a record of Codex's takes nothing away: a compaction does, and an unknown event may."""
    if record.type == "event_msg":
        return record.subtype in _HARMLESS_EVENTS
    return record.type in (
        "response_item",
        "turn_context",
        "world_state",
        "token_usage_record",
        "session_meta",
    )


def _last_answer(agent: str, descriptor: int, end: int) -> float:
    """When the model answered last, seconds since the epoch; 0.0 where the end of the file has no answer."""
    size = _TAIL
    while True:
        for offset, line in last_lines(descriptor, end, size):
            for record in AGENTS[agent].translate(line, offset):
                if isinstance(record, Record) and is_answer(agent, record):
                    return seconds(record.time) or 0.0
        if size >= end:
            return 0.0
        size *= 8
