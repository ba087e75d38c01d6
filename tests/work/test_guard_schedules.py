"""Turns, rewinds, compactions, work in flight, two clients, moves of the guard and deaths at any step, in any order.

The client is played as the real one behaves: it goes on from its own memory, appends, and reads the file only when it
is reloaded; then it writes a pointer to where it ended. What must hold, whatever comes:

- every line that was ever appended is in the file or in a backup, and undoing every move brings the file back;
- while something is in flight nothing is written, and nothing is typed;
- a client that is reloaded has the same prompts as before, in the same order; and no prune is reloaded twice.

`COFFER_SCHEDULES=1000` plays so many; without it a few.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import coffer.errors
from coffer.core.last_words import is_shown
from coffer.core.safepoint import Answer
from coffer.core.settings import Guard
from coffer.core.tiers import TierName
from coffer.disk.live import start_mark
from coffer.errors import ChangedSince
from coffer.store.db import DONE as FINISHED
from coffer.store.db import PREPARED, database, receipts
from coffer.store.guard_moves import moves_path
from coffer.store.guard_state import keep_state
from coffer.work.guarding.guard import Hands, Move, Wish, act
from coffer.work.guarding.means import DONE, REFUSED, MeansName, Reloaded
from coffer.work.guarding.move_story import moves_made
from coffer.work.guarding.reread import reread
from coffer.work.guarding.undo_open import undo_open
from coffer.work.pruning.undo import undo
from coffer.work.sessions.read import opened
from tests.transcripts import call, name_of, text
from tests.work.open_session import Client

_SCHEDULES = int(os.environ.get("COFFER_SCHEDULES", "30"))
_MEMORY = Path("/dev/shm")  # noqa: S108  (a file system in memory, where there is one)
_KILLED = 9
_DAY = 86_400.0
_STEPS = st.one_of(st.integers(1, 650), st.integers(380, 620))
"""A move that prunes and reloads has about 630 steps; from the 380th on it writes."""
_MOMENTS = ("before typing", "behind typing")
_FLIGHTS = (
    "turn",
    "tool",
    "dialog",
    "shell",
    "subagent",
    "teammate",
    "cron",
    "torn",
    "unflushed",
    "warm",
    "queue",
)


class Agent(Client):
    """A client with a memory of its own. memory: uuids of its branch. other: those of a second client, if there is one.

    log: what was typed into it, a line each, on disk: whoever types may be killed.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.history = b""
        self.memory: list[str] = []
        self.other: list[str] | None = None
        self.log = root / "typed.jsonl"
        self.heard = 0
        self.shows = ""

    # --- its file

    def append(self, data: bytes) -> None:
        """Open, append, close."""
        self.history += data
        with self.transcript.open("ab") as file:
            file.write(data)
        self.age(3_600)

    def write(self) -> None:
        """Append what is new."""
        lines = self.made.lines[self._written :]
        self._written = len(self.made.lines)
        self.append(b"".join(line + b"\n" for line in lines))
        self.memory += [json.loads(line)["uuid"] for line in lines if b'"uuid"' in line]

    def skip(self) -> None:
        """What is new is appended by hand."""
        self._written = len(self.made.lines)

    def minute(self) -> None:
        """Each turn has a minute of its own: over a gap of more than 5 s no missing parent is bridged."""
        self.back = _DAY - 60.0 * self.turns

    def taken(self, used: int, size: int, *, late: bool, polls: int) -> None:
        """A whole turn. late: its prompt is written behind all that answers it (2.1.197, first turns).

        polls: calls that ask the same again, which a prune drops.
        """
        self.minute()
        first = len(self.made.lines)
        write = self.write
        self.write = lambda: None  # type: ignore[method-assign]
        try:
            self.turn(used, size, polls=polls)
        finally:
            self.write = write  # type: ignore[method-assign]
        lines = self.made.lines[first:]
        uuids = [json.loads(line)["uuid"] for line in lines]
        if late:
            self.made.lines[first:] = [*lines[1:], lines[0]]
        self.append(b"".join(line + b"\n" for line in self.made.lines[first:]))
        self._written = len(self.made.lines)
        self.memory += uuids
        self.shows = f"answered t{self.turns}"
        self.stopped(self.shows)

    def stopped(self, answer: str, **lists: Any) -> None:
        said = {"background_tasks": [], "session_crons": [], **lists}
        self.hook("Stop", last_assistant_message=answer, **said)
        self.says("idle")

    def prompts(self, uuids: list[str]) -> list[str]:
        return [uuid for uuid in uuids if name_of(uuid).startswith("ut")]

    def shown(self) -> list[str]:
        """The uuids that a reload would bring, and the last text among them."""
        with opened(self.transcript) as session:
            branch = session.agent.view(session.transcript, "").branch
            return [record.uuid for record in branch.records]

    # --- what is typed into it

    def typed(self, receipt: str) -> None:
        """`/resume` and Enter, from whatever process: the client reads its file, and tells so."""
        found = self.shown()
        with self.log.open("a") as file:
            file.write(json.dumps({"receipt": receipt, "shown": found}) + "\n")
        self.hook("SessionStart", source="resume")
        self.says("idle")

    def hear(self) -> list[dict[str, Any]]:
        """What was typed since it was last asked: its memory is then the file's, and it writes where it ended."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        news = [json.loads(line) for line in lines[self.heard :]]
        self.heard = len(lines)
        for each in news:
            self.loaded(each["shown"])
        return news

    def loaded(self, shown: list[str]) -> None:
        """It goes on from the last record of the branch; the pointer that it writes names the last message."""
        self.memory = list(shown)
        self.made.leaf = shown[-1] if shown else None
        self.shows = self.words()
        with opened(self.transcript) as session:
            leaf = session.agent.view(session.transcript, "").branch.leaf
        self.made.note("last-prompt", lastPrompt="go on", leafUuid=leaf.uuid if leaf is not None else None)
        self.write()

    def words(self) -> str:
        return reread(self.transcript).words


class Keys:
    """The way to reload it. fault: draft, refuses, deaf, or a moment in which the process dies."""

    def __init__(self, agent: Agent, fault: str) -> None:
        self._agent, self._fault = agent, fault

    @property
    def name(self) -> MeansName:
        return "typed"

    def obstacles(self) -> list[str]:
        if self._fault == "draft":
            return ["there is text in the input line"]
        shown = is_shown(self._agent.words(), [self._agent.shows])
        return [] if shown else ["the end of the conversation is not on the screen"]

    def reload(self, wait: float) -> Reloaded:  # noqa: ARG002  (nothing is waited for)
        if self._fault == "before typing":
            os._exit(_KILLED)
        if self._fault == "refuses":
            return Reloaded(REFUSED, "a key was pressed")
        traced = sys.gettrace()
        sys.settrace(None)  # nothing begins between its last look and Enter
        try:
            return self._typed()
        finally:
            sys.settrace(traced)

    def _typed(self) -> Reloaded:
        agent = self._agent
        if json.loads(agent.registry.read_text())["status"] != "idle":
            return Reloaded(REFUSED, "Claude Code is busy")
        if self._fault != "deaf":
            (receipt, *_) = moves_made(agent.home, agent.transcript)
            agent.typed(receipt.id)
        if self._fault == "behind typing":
            os._exit(_KILLED)
        return Reloaded(DONE, seconds=0.1)


class Step:
    """Does something at the n-th new line of the modules that move a session: dies, as by kill -9, or writes."""

    _WATCHED = (
        "work/guarding/guard.py",
        "work/guarding/move_story.py",
        "work/pruning/prune.py",
        "work/pruning/repair.py",
        "work/pruning/exchange.py",
        "store/",
        "disk/",
    )

    def __init__(self, at: int, do: Callable[[], object]) -> None:
        self._seen: set[tuple[CodeType, int]] = set()
        self._at, self._do = at, do
        root = Path(coffer.errors.__file__).parent
        self._watched = tuple(f"{root}/{name}" for name in self._WATCHED)

    def called(self, frame: FrameType, _event: str, _argument: object) -> Any:
        return self.line if frame.f_code.co_filename.startswith(self._watched) else None

    def line(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line" and (frame.f_code, frame.f_lineno) not in self._seen:
            self._seen.add((frame.f_code, frame.f_lineno))
            if len(self._seen) == self._at:
                self._do()
        return self.line


class Schedules(RuleBasedStateMachine):
    """One session through its life."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="coffer-test-", dir=_MEMORY if _MEMORY.is_dir() else None))
        self.agent = Agent(self.folder)
        self.used = 20_000
        self.land: Callable[[], None] | None = None
        self.asked: list[str] = []

    def teardown(self) -> None:
        try:
            self._all_comes_back()
        finally:
            shutil.rmtree(self.folder)

    @initialize(late=st.booleans())
    def begin(self, late: bool) -> None:  # noqa: FBT001
        self._turn(20_000, late=late)
        for _ in range(6):
            self._turn(20_000, polls=3)

    def _turn(self, size: int, *, late: bool = False, polls: int = 0) -> None:
        self.used += size // 4
        self.agent.taken(self.used, size, late=late, polls=polls)

    @property
    def _rests(self) -> bool:
        return self.land is None

    # --- what the client does

    @precondition(lambda self: self._rests)
    @rule(size=st.sampled_from([20_000, 4_000, 40_000]), turns=st.integers(1, 3), late=st.booleans())
    def turns(self, size: int, turns: int, late: bool) -> None:  # noqa: FBT001
        for _ in range(turns):
            self._turn(size, late=late, polls=3)

    @precondition(lambda self: self._rests)
    @rule(
        back=st.integers(0, 4),
        gone=st.sampled_from([True, True, False]),
        go_on=st.sampled_from([True, True, False]),
    )
    def rewind(self, back: int, gone: bool, go_on: bool) -> None:  # noqa: FBT001
        """To an older prompt of its memory, or to a record of it that a prune has taken out of the file."""
        agent = self.agent
        prompts = agent.prompts(agent.memory)
        if not prompts:
            return
        at = agent.memory.index(prompts[-1 - back % len(prompts)])
        data = agent.transcript.read_bytes()
        missing = [
            place for place, uuid in enumerate(agent.memory, 1) if f'"uuid":"{uuid}"'.encode() not in data
        ]
        if gone and missing:
            at = missing[-1 - back % len(missing)]
        agent.memory = agent.memory[:at]
        agent.made.leaf = agent.memory[-1] if at else None
        agent.shows = f"rewound to {at}"
        if go_on:
            self._turn(4_000)

    @precondition(lambda self: self._rests)
    @rule()
    def compact(self) -> None:
        agent = self.agent
        if not agent.memory:
            return
        agent.minute()
        agent.now()
        agent.turns += 1
        agent.made.compact(f"SUMMARY {agent.turns}", name=f"b{agent.turns}")
        agent.write()
        agent.memory = agent.memory[-2:]
        agent.shows = "compacted"
        agent.hook("SessionStart", source="compact")
        agent.says("idle")
        self.used = 10_000

    @precondition(lambda self: self._rests)
    @rule()
    def the_person_reloads(self) -> None:
        agent = self.agent
        agent.hook("SessionStart", source="resume")
        agent.loaded(agent.shown())
        agent.says("idle")

    @precondition(lambda self: self._rests)
    @rule()
    def is_killed(self) -> None:
        """By -9: its registry file is left behind; then it is resumed, in a new process."""
        self.agent.says("idle", procStart="1")

        def resumed() -> None:
            self.agent.hook("SessionStart", source="resume")
            self.agent.loaded(self.agent.shown())
            self.agent.says("idle", startedAt=int(time.time() * 1000))

        self.land = resumed

    @precondition(lambda self: self._rests and self.agent.other is None)
    @rule()
    def a_second_client_opens_it(self) -> None:
        agent = self.agent
        agent.other = agent.shown()
        said = json.loads(agent.registry.read_text())
        parent = os.getppid()
        said |= {"pid": parent, "procStart": start_mark(parent)}
        agent.registry.with_name(f"{parent}.json").write_text(json.dumps(said))
        agent.hook("SessionStart", source="resume")
        agent.says("idle")

    @precondition(lambda self: self._rests and self.agent.other)
    @rule(leaves=st.booleans())
    def the_second_client_works(self, leaves: bool) -> None:  # noqa: FBT001
        agent = self.agent
        mine, shows, leaf = agent.memory, agent.shows, agent.made.leaf
        assert agent.other is not None
        agent.memory, agent.made.leaf = agent.other, agent.other[-1]
        self._turn(4_000)
        agent.other, agent.memory, agent.shows, agent.made.leaf = agent.memory, mine, shows, leaf
        if leaves:
            agent.registry.with_name(f"{os.getppid()}.json").unlink()
            agent.other = None

    # --- work in flight

    @precondition(lambda self: self._rests)
    @rule(kind=st.sampled_from(_FLIGHTS), ends=st.booleans())
    def something_begins(self, kind: str, ends: bool) -> None:  # noqa: FBT001
        """It begins, the guard would like to move, and it may end at once."""
        self._begin(kind)
        self.moves("last call", "aggressive", "", later=True)
        if ends:
            self.it_ends()

    def _begin(self, kind: str) -> None:
        agent, last = self.agent, f"answered t{self.agent.turns}"
        match kind:
            case "dialog":
                agent.says("waiting", waitingFor="permission prompt")
            case "shell" | "subagent" | "teammate":
                agent.stopped(last, background_tasks=[{"id": "b1", "type": kind}])
                if kind != "teammate":
                    agent.says("shell" if kind == "shell" else "busy")
            case "cron":
                agent.stopped(last, session_crons=[{"id": "c1"}])
            case "unflushed":
                agent.stopped("not in the file yet")
            case "warm":
                os.utime(agent.transcript)
                os.utime(agent.transcript, (time.time() + 60, time.time() + 60))
            case "queue":
                agent.made.note("queue-operation", operation="enqueue", timestamp=_iso(time.time() + 5))
                agent.write()
            case "torn":
                return self._torn()
            case _:
                return self._open(kind)
        self.land = self._ends(kind)
        return None

    def _ends(self, kind: str) -> Callable[[], None]:
        def end() -> None:
            if kind == "queue":
                self.agent.made.note("queue-operation", operation="popAll", timestamp=_iso(time.time() + 6))
                self.agent.write()
            self.agent.age(3_600)
            self._turn(0)

        return end

    def _torn(self) -> None:
        """The first half of a line is there."""
        agent = self.agent
        agent.made.note("ai-title", aiTitle="a title")
        line = agent.made.lines[-1] + b"\n"
        agent.skip()
        agent.append(line[:20])
        self.land = lambda: agent.append(line[20:])

    def _open(self, kind: str) -> None:
        agent = self.agent
        agent.turns += 1
        mark = f"t{agent.turns}"
        agent.says("busy")
        agent.hook("UserPromptSubmit")
        agent.minute()
        agent.now()
        agent.made.user(f"go on {mark}", f"u{mark}")
        if kind == "tool":
            agent.now()
            agent.made.answer(call(f"call_{mark}"), name=f"c{mark}")
        agent.write()

        def end() -> None:
            if kind == "tool":
                agent.now()
                agent.made.result(f"call_{mark}", "done", f"r{mark}")
            agent.now()
            agent.shows = f"answered {mark}"
            agent.made.answer(text(agent.shows), name=f"a{mark}")
            agent.write()
            agent.stopped(agent.shows)

        self.land = end

    @precondition(lambda self: self.land is not None)
    @rule()
    def it_ends(self) -> None:
        assert self.land is not None
        self.land()
        self.land = None

    # --- what the guard does

    @rule(
        tier=st.sampled_from(["trim", "last call"]),
        prescription=st.sampled_from(["standard", "aggressive"]),
        fault=st.sampled_from(["", "", "", "", "refuses", "refuses", "draft", "deaf", "no means"]),
        later=st.booleans(),
    )
    def moves(self, tier: TierName, prescription: str, fault: str, later: bool) -> None:  # noqa: FBT001
        if later:
            self._hours_pass()
        self._moved(lambda: self._act(Wish(prescription, tier), fault))

    @rule(
        at=st.one_of(_STEPS, st.sampled_from(_MOMENTS)),
        prescription=st.sampled_from(["standard", "aggressive"]),
    )
    def dies_in_a_move(self, at: int | str, prescription: str) -> None:
        self._hours_pass()

        def die() -> None:
            child = os.fork()
            if child == 0:
                try:
                    if isinstance(at, int):
                        sys.settrace(Step(at, lambda: os._exit(_KILLED)).called)
                    self._act(Wish(prescription, "last call"), str(at))
                finally:
                    os._exit(0)
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) in (0, _KILLED)

        self._moved(die)

    @precondition(lambda self: self._rests)
    @rule(at=_STEPS)
    def a_turn_begins_in_a_move(self, at: int) -> None:
        """At any step: from the gate's next look on nothing may be written, nor typed."""
        self._hours_pass()
        agent, gate = self.agent, self.agent.hands(None).judge
        seen: list[bytes] = []

        def judge() -> Answer:
            if self.land is not None:
                seen.append(agent.transcript.read_bytes())
            return gate()

        hands = Hands(judge, Keys(agent, ""), wait=0, seen=0)
        sys.settrace(Step(at, lambda: self._open("tool")).called)
        try:
            act(agent.guarded, Wish("standard", "last call"), Guard(), hands)
        finally:
            sys.settrace(None)
        if seen:
            assert agent.transcript.read_bytes() == seen[0], "it was written to in the middle of a turn"
        self._count(agent.hear())

    @rule(fault=st.sampled_from(["", "refuses"]))
    def the_newest_move_is_taken_back(self, fault: str) -> None:
        """While the session is open; then the guard is switched on again."""
        agent = self.agent
        made = [one for one in moves_made(agent.home, agent.transcript) if one.kind == "prune"]
        if not made:
            return

        def back() -> None:
            gate = agent.hands(None).judge
            hands = Hands(gate, Keys(agent, fault), wait=0, seen=0)
            with suppress(ChangedSince):  # a repair came behind it: that is undone first
                undo_open(made[0], agent.guarded, Guard(), hands)

        self._moved(back)
        keep_state(agent.home, agent.session, mode="on")

    def _act(self, wish: Wish, fault: str) -> Move:
        means = None if fault == "no means" else Keys(self.agent, fault)
        rule_ = Guard(write="idle") if fault == "no means" else Guard()
        gate = self.agent.hands(None).judge
        return act(self.agent.guarded, wish, rule_, Hands(gate, means, wait=0, seen=0))

    def _moved(self, move: Callable[[], object]) -> None:
        agent, before = self.agent, self.agent.transcript.read_bytes()
        memory = agent.prompts(agent.memory)
        flying = self.land is not None
        move()
        after = agent.transcript.read_bytes()
        news = agent.hear()
        if flying:
            assert after == before, "it was written to while something was in flight"
            assert news == []
        for each in news:
            assert agent.prompts(each["shown"]) == memory, "a reload changed the conversation"
        self._count(news)

    def _count(self, news: list[dict[str, Any]]) -> None:
        self.asked += [each["receipt"] for each in news]
        assert len(set(self.asked)) == len(self.asked), "one prune was reloaded twice"

    def _hours_pass(self) -> None:
        """All that is counted is an hour older."""
        path = moves_path(self.agent.home, self.agent.session)
        if path is not None and path.exists():
            counted = json.loads(path.read_text())
            for name in ("reloads", "failures"):
                counted[name] = [each - 3_600 for each in counted[name]]
            path.write_text(json.dumps(counted))

    # --- what holds always

    @invariant()
    def every_line_is_in_the_file_or_in_a_backup(self) -> None:
        agent = self.agent
        if not agent.transcript.exists():
            return
        files = [agent.transcript, *(agent.home.root / "backups").glob("*/*.jsonl")]
        known = {line for file in files for line in file.read_bytes().split(b"\n")}
        whole = agent.history.split(b"\n")
        assert [line for line in whole[:-1] if line not in known] == []

    def _all_comes_back(self) -> None:
        agent = self.agent
        if not agent.transcript.exists():
            return
        for path in agent.registry.parent.iterdir():
            path.unlink()
        real = os.path.realpath(agent.transcript)
        with database(agent.home) as connection:
            made = receipts(connection, real)
        for receipt in made:
            if receipt.kind in ("prune", "repair") and receipt.status in (FINISHED, PREPARED):
                undo(receipt, agent.home, agent.places)
        assert _without_rules(agent.transcript.read_bytes(), agent.history) == agent.history


def _without_rules(data: bytes, history: bytes) -> bytes:
    """Without the rules that Coffer put at the end: an undo keeps them where a later record hangs on them."""
    known = set(history.split(b"\n"))
    lines = data.split(b"\n")
    return b"\n".join(
        line for line in lines if line in known or b"__cozempic_behavioral_digest__" not in line
    )


def _iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(seconds))


TestSchedules = Schedules.TestCase
TestSchedules.settings = settings(
    max_examples=_SCHEDULES,
    stateful_step_count=12,
    deadline=None,
    derandomize="COFFER_SCHEDULES" not in os.environ,
    database=None,
    suppress_health_check=list(HealthCheck),
)
