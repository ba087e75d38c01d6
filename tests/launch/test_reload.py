"""The typed reload against an invented client: a key at any moment, and nothing is sent that nobody typed.

COFFER_EFFORT=all plays many more.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from coffer.disk.live import start_mark
from coffer.disk.places import Places
from coffer.launch.attend import Attendant, Run
from coffer.launch.child import Child
from coffer.launch.door import Door
from coffer.launch.screen import Screen
from coffer.store.home import Home
from coffer.work.guarding.runs import CWD
from tests.effort import examples

SESSION = "5f0c5a62-0000-4000-8000-00000000cafe"
LINE = f"/resume {SESSION}"
COLUMNS, ROWS = 80, 12
COFFER, PERSON = "coffer", "person"
PROMPT, DIALOG, SEARCHING, TURN, RELOADING = "prompt", "dialog", "search", "turn", "reloading"


@dataclass
class Fake:
    """A client with one input line. It draws when it is told to, so a key may come before what it drew."""

    vim: bool = False
    state: str = PROMPT
    line: list[tuple[str, str]] = field(default_factory=list)
    sent: list[list[tuple[str, str]]] = field(default_factory=list)
    enters: list[tuple[str, str]] = field(default_factory=list)
    got: list[str] = field(default_factory=list)
    menu: str = ""
    """What the menu was worked out for, which lags behind the line."""
    stuck: bool = False
    """Keys are taken and don't show (a footer has the focus)."""

    def take(self, keys: bytes, who: str) -> None:
        for key in keys.decode():
            if who == PERSON:
                self.got.append(key)
            if self.state == RELOADING:
                assert who != PERSON, "a key of the person's came into the reload"
            elif self.state == DIALOG:
                self.enters += [(who, DIALOG)] if key == "\r" else []
            elif self.state == SEARCHING:
                self.state = PROMPT if key == "\x1b" else SEARCHING
            elif self.vim and key == "/":
                self.state = SEARCHING
            elif not self.stuck and not self.vim:
                self._edit(key, who)

    def _edit(self, key: str, who: str) -> None:
        if key == "\x7f":
            assert not self.line or self.line[-1][1] == who or who == PERSON, "coffer deleted a person's key"
            self.line = self.line[:-1]
        elif key == "\r" and self.menu and who == COFFER:
            self.sent.append([("/add-dir", who)])
        elif key == "\r":
            if self.line:
                self.sent.append([*self.line, (key, who)])
                self.state = RELOADING if "".join(c for c, _ in self.line) == LINE else TURN
                self.line = []
        elif key != "\x1b":
            self.line.append((key, who))

    def think(self) -> bool:
        """Work the menu out; whether it changed."""
        text = "".join(character for character, _ in self.line)
        menu = text if text.startswith("/") and " " not in text and self.state == PROMPT else ""
        changed, self.menu = menu != self.menu, menu
        return changed

    def draw(self) -> bytes:
        text = "".join(character for character, _ in self.line)
        rule_ = "─" * COLUMNS
        if self.state in (DIALOG, RELOADING):
            body, cursor = f"{rule_}\r\n Do you want this?\r\n ❯ 1. Yes", "\x1b[9;2H"
        else:
            below = "/add-dir     Add a directory" if self.menu else "  ? for shortcuts"
            below = "  search prompts: " if self.state == SEARCHING else below
            body = f"{rule_}\r\n❯ {text}\r\n{rule_}\r\n{below}"
            cursor = "\x1b[9;19H" if self.state == SEARCHING else f"\x1b[7;{3 + len(text)}H"
        return f"\x1b[?2004h\x1b[?2026h\x1b[2J\x1b[6;1H{body}{cursor}\x1b[?2026l".encode()


class Desk:
    """A person, a fake client, and the attendant between them, with a clock of its own.

    The attendant's door is a socket, and the client's registry a file, which names this process.
    """

    def __init__(self, fake: Fake, lag: int = 3) -> None:
        self.fake = fake
        self.lag = lag
        self.ticks = 0
        self.now = 1000.0
        self.pressed: list[str] = []
        self.turn_begins = False
        """The registry knows of a turn that the screen does not show yet."""
        self._root = Path(tempfile.mkdtemp(prefix="coffer-test-"))
        self._said = ""
        self._links: list[socket.socket] = []
        self._answers: list[dict[str, Any]] = []
        door = Door.open(Home(self._root), "r")
        assert door is not None
        self._door = door
        places = Places(self._root / "claude", self._root / "codex")
        self._registry = places.claude / "sessions" / f"{os.getpid()}.json"
        self._registry.parent.mkdir(parents=True)
        run = Run("r", "claude", "/claude", (), self._root, places)
        self.attendant = Attendant(run, door, Screen(COLUMNS, ROWS), child_of_ours())
        self.drawn()

    def close(self) -> None:
        self._door.close()
        for link in self._links:
            link.close()
        shutil.rmtree(self._root)

    def registered(self) -> None:
        """The client writes its registry when its state has changed."""
        status = {DIALOG: "waiting", TURN: "busy", RELOADING: "busy"}.get(self.fake.state, "idle")
        status = "busy" if self.turn_begins else status
        if status != self._said:
            self._said = status
            said = {"pid": os.getpid(), "procStart": start_mark(os.getpid()), "sessionId": SESSION}
            self._registry.write_text(json.dumps(said | {"status": status}))

    @property
    def answers(self) -> list[dict[str, Any]]:
        """What the door has said to callers, in order."""
        for link in list(self._links):
            with contextlib.suppress(BlockingIOError):
                if heard := link.recv(65_536):
                    self._answers.append(json.loads(heard))
                else:
                    self._links.remove(link)
                    link.close()
        return self._answers

    def drawn(self) -> None:
        self.attendant.output(self.fake.draw(), self.now)

    def ask(self, **more: Any) -> None:
        self.request({"do": "reload", "session": SESSION, **more})

    def request(self, said: dict[str, Any]) -> None:
        """Knock at the door, and say something there."""
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._links.append(link)
        with CWD, contextlib.chdir(self._door.path.parent):
            link.connect(self._door.path.name)
        link.sendall(json.dumps(said).encode() + b"\n")
        link.setblocking(False)
        self.registered()
        for _ in ("accepted", "heard"):
            self.attendant.serve(set(self._door.readers()), self.now)

    def press(self, keys: str) -> None:
        self.pressed += keys
        self.fake.take(self.attendant.keys(keys.encode(), self.now), PERSON)

    def tick(self, seconds: float = 0.02, *, draw: bool = True) -> None:
        self.now += seconds
        waiting = self.attendant.held
        self.registered()
        written = self.attendant.step(self.now, busy=False)
        who = PERSON if self.attendant.held < waiting else COFFER
        before = (self.fake.state, list(self.fake.line))
        self.fake.take(written, who)
        self.ticks += 1
        if self.ticks % self.lag == 0 and self.fake.think() and draw:
            self.drawn()
        if draw and (written or before != (self.fake.state, self.fake.line)):
            self.drawn()

    def rest(self, seconds: float) -> None:
        for _ in range(int(seconds / 0.02)):
            self.tick()

    def check(self) -> None:
        for sent in self.fake.sent:
            assert len({who for _, who in sent}) == 1, f"merged: {sent}"
            if sent[0][1] == COFFER:
                assert "".join(character for character, _ in sent) == LINE + "\r"
        assert (COFFER, DIALOG) not in self.fake.enters
        assert self.fake.got == self.pressed[: len(self.fake.got)]


def child_of_ours() -> Child:
    """As which the attendant knows the client: this process, of which there is nothing to hear."""
    child = Child(-1, -1, -1)
    child.pid = os.getpid()
    return child


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk(Fake())
    yield made
    made.close()


def test_an_idle_empty_prompt_is_reloaded(desk: Desk) -> None:
    desk.rest(0.2)
    desk.ask()
    desk.rest(1)
    assert desk.fake.state == RELOADING
    desk.press("typed meanwhile\r")
    desk.rest(1)
    assert desk.fake.got == []
    desk.fake.state = PROMPT
    desk.drawn()
    desk.rest(2)
    desk.check()
    assert [answer["kind"] for answer in desk.answers] == ["typed"]
    assert desk.fake.got == desk.pressed


@pytest.mark.parametrize("moment", range(30))
def test_a_key_at_any_moment(desk: Desk, moment: int) -> None:
    desk.rest(0.2)
    desk.ask()
    for _ in range(moment):
        desk.tick(0.01)
    desk.press("h")
    desk.tick(0.01)
    desk.press("ello")
    desk.rest(1)
    if desk.fake.state == RELOADING:
        desk.fake.state = PROMPT
        desk.drawn()
    desk.rest(3)
    desk.check()
    assert "".join(character for character, _ in desk.fake.line) == "hello"
    assert {who for _, who in desk.fake.line} == {PERSON}


def test_a_key_just_now_and_a_draft_are_waited_for_or_refused(desk: Desk) -> None:
    desk.press("draft")
    desk.drawn()
    desk.ask()
    desk.rest(0.5)
    assert desk.answers[0]["kind"] == "refused"
    assert "text in the input line" in desk.answers[0]["why"]
    assert "key was pressed" in desk.answers[0]["why"]
    desk.ask(wait=30)
    desk.rest(3)
    assert len(desk.answers) == 1
    desk.press("\x7f" * 5)
    desk.drawn()
    desk.rest(4)
    assert desk.fake.state == RELOADING


def test_a_turn_that_starts_behind_the_line(desk: Desk) -> None:
    """A wake-up starts a turn: the registry says so before the screen does."""
    desk.rest(0.2)
    desk.ask()
    while len(desk.fake.line) < 5:
        desk.tick(0.01)
    desk.turn_begins = True
    desk.rest(4)
    desk.check()
    assert (desk.fake.line, desk.fake.sent) == ([], [])
    assert desk.answers[0]["why"] == "Claude Code is busy"


def test_vim_normal_mode_is_found_out_and_left(desk: Desk) -> None:
    desk.fake.vim = True
    desk.rest(0.2)
    desk.ask()
    desk.rest(4)
    assert (desk.fake.state, desk.fake.line, desk.fake.sent) == (PROMPT, [], [])
    assert desk.answers[0]["kind"] == "gave_up"
    assert desk.answers[0]["left"] == ""


def test_an_input_line_without_the_focus(desk: Desk) -> None:
    desk.fake.stuck = True
    desk.rest(0.2)
    desk.ask()
    desk.rest(7)
    assert desk.answers[0]["kind"] == "gave_up"
    assert desk.fake.sent == []


def test_a_dialog_over_our_text_and_what_it_leaves(desk: Desk) -> None:
    desk.rest(0.2)
    desk.ask()
    while len(desk.fake.line) < 5:
        desk.tick(0.01)
    desk.fake.state = DIALOG
    desk.drawn()
    desk.rest(7)
    assert desk.answers[0]["kind"] == "gave_up"
    assert desk.answers[0]["left"]
    desk.ask()
    assert "earlier reload" in desk.answers[1]["why"]
    desk.press("\r")  # the person answers the dialog
    assert desk.fake.enters == [(PERSON, DIALOG)]
    desk.fake.state = PROMPT
    desk.drawn()
    desk.tick()
    desk.press("mine\r")
    desk.rest(3)
    desk.check()
    assert ["".join(c for c, _ in sent) for sent in desk.fake.sent] == ["mine\r"]


def test_cells_that_the_client_left_in_the_row_hold_no_key_back(desk: Desk) -> None:
    """Seen with 2.1.197 behind a background command: `❯  hurning…` with the cursor in front of it."""
    desk.rest(0.2)
    desk.ask()
    desk.rest(1)
    desk.press("mine")
    desk.fake.state = PROMPT
    desk.attendant.output(desk.fake.draw() + b"\x1b[7;4Hhurning\x1b[7;3H", desk.now)
    desk.rest(1)
    assert desk.answers == []
    desk.rest(2)
    assert [answer["kind"] for answer in desk.answers] == ["typed"]
    assert desk.attendant.redraw, "the next move would wait for whoever wrote that"
    assert desk.fake.got == desk.pressed


def test_a_client_that_never_comes_back_gets_the_keys_all_the_same(desk: Desk) -> None:
    desk.rest(0.2)
    desk.ask()
    desk.rest(1)
    desk.fake.state = TURN
    desk.press("keys")
    desk.rest(30)
    assert desk.fake.got == desk.pressed
    assert desk.answers[0]["why"]


@pytest.mark.parametrize(("successor", "kind"), [("none", "unsure"), ("mute", "unsure"), ("whole", "typed")])
def test_a_restart_of_which_nothing_shows_was_not_refused(desk: Desk, successor: str, kind: str) -> None:
    """The agent was told to end: whoever hears of a refusal tells it again. The old screen proves nothing."""
    desk.rest(0.2)
    desk.ask(do="restart", model="claude-opus-4-8")
    desk.tick(0.2)
    assert desk.attendant.again is not None
    desk.attendant.restarting(desk.now)
    desk.attendant.again = None
    if successor != "none":
        desk.attendant.attach(child_of_ours(), Screen(COLUMNS, ROWS))
    if successor == "whole":
        desk.drawn()
        while desk.attendant.follow():
            pass
    desk.rest(21)
    assert [answer["kind"] for answer in desk.answers] == [kind]


def test_another_session_and_a_second_request_are_refused(desk: Desk) -> None:
    desk.rest(0.2)
    desk.ask(session="other")
    desk.rest(0.2)
    assert "another session" in desk.answers[0]["why"]
    desk.ask(wait=5)
    desk.tick(0.01)
    desk.ask()
    assert "under way" in desk.answers[1]["why"]


@given(
    st.dictionaries(
        st.sampled_from(["do", "session", "wait", "settle", "model"]),
        st.one_of(
            st.none(),
            st.booleans(),
            st.floats(),
            st.text(),
            st.sampled_from(["reload", "restart", "state", SESSION]),
        ),
    )
)
@settings(max_examples=examples(80, 200), deadline=None)
def test_no_request_breaks_or_types_anything_odd(request: dict[str, Any]) -> None:
    desk = Desk(Fake())
    try:
        desk.rest(0.2)
        desk.request(request)
        desk.rest(0.5)
        desk.check()
    finally:
        desk.close()


class Anything(RuleBasedStateMachine):
    """Keys, reloads, dialogs, turns, frames that come late, in any order."""

    @initialize(vim=st.booleans(), lag=st.integers(1, 30))
    def begin(self, vim: bool, lag: int) -> None:  # noqa: FBT001
        self.desk = Desk(Fake(vim=vim), lag)
        self.desk.rest(3)

    @rule(settle=st.sampled_from([0.0, 2.0]), wait=st.sampled_from([0.0, 30.0]))
    def reload(self, settle: float, wait: float) -> None:
        self.desk.ask(settle=settle, wait=wait)

    @rule(keys=st.text("ab/\x7f\r", min_size=1, max_size=4))
    def press(self, keys: str) -> None:
        self.desk.press(keys)
        if not self.desk.attendant.held:
            self.desk.drawn()
        self.desk.tick(0.005)

    @rule(count=st.integers(1, 40))
    def pass_time(self, count: int) -> None:
        for _ in range(count):
            self.desk.tick(0.01)

    @rule(seconds=st.sampled_from([1.0, 3.0]))
    def rest(self, seconds: float) -> None:
        self.desk.rest(seconds)

    @rule()
    def late_frame(self) -> None:
        self.desk.tick(draw=False)
        self.desk.tick(0.01, draw=False)
        self.desk.drawn()
        self.desk.tick(0.005)

    @precondition(lambda self: self.desk.fake.state == PROMPT)
    @rule()
    def dialog(self) -> None:
        self.desk.fake.state = DIALOG
        self.desk.drawn()
        self.desk.tick(0.005)

    @precondition(lambda self: self.desk.fake.state != PROMPT)
    @rule()
    def back(self) -> None:
        self.desk.fake.state = PROMPT
        self.desk.drawn()
        self.desk.tick(0.005)

    @invariant()
    def nothing_was_merged_or_lost(self) -> None:
        if hasattr(self, "desk"):
            self.desk.check()

    def teardown(self) -> None:
        if not hasattr(self, "desk"):
            return
        self.desk.fake.state = PROMPT
        self.desk.drawn()
        self.desk.rest(30)
        self.desk.check()
        if self.desk.fake.state != RELOADING:
            assert self.desk.fake.got == self.desk.pressed
        self.desk.close()


TestAnything = Anything.TestCase
TestAnything.settings = settings(max_examples=examples(20, 400), stateful_step_count=30, deadline=None)
