"""The guard's own moves around a person's hands: what stands in the input line or over it when a tier fires.

A session of the real client under `coffer run`, with the daemon, grows over a tier while a draft, a search, a menu, a
prompt that came back, a dialog or vim's NORMAL mode is on the screen. The guard looks at it, writes nothing and types
nothing; nobody's words are sent, and all stands as it stood. When the person has left it, the prune and the reload
come.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coffer.core.input_line import ABSENT, DRAFT, SEARCH, SENTENCES, read_prompt
from coffer.core.typed_reload import REWOUND
from coffer.work.guarding.gate import judge_session
from coffer.work.guarding.guarded import Guarded
from coffer.work.guarding.senses import with_means
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome
from tests.lab.test_guard_moves import CTRL_U, Stage, bash
from tests.launch.pane import Pane

pytestmark = pytest.mark.lab
ESC, UP, CTRL_R, BACKSPACE = "\x1b", "\x1b[A", "\x12", "\x7f"
TIERS = ((400_000, 540_000), (600_000, 720_000), (600_000, 920_000))
"""Tokens that the answers count too many, before and over each tier of a window of a million."""
HELD = 3.0
"""Seconds: longer than an idle session is left before the guard acts, where no attempt of its can be seen."""


class Desk:
    """One client, its person's terminal, and the moments in which a tier fires."""

    def __init__(self, stage: Stage, pane: Pane) -> None:
        self.stage, self.pane = stage, pane
        self.fired = 0
        self.go_on = stage.claude.root / "go-on"

    def fires(self, enter: Callable[[], None]) -> None:
        """A turn that ends over the next tier; the person does something while it still works."""
        before, over = TIERS[self.fired]
        self.stage.grow(self.pane, before)
        self.go_on.unlink(missing_ok=True)
        waits = bash(f"until [ -e {self.go_on} ]; do sleep 0.05; done")
        word = self.stage.say(self.pane, over, waits)
        self.pane.wait(lambda look: "until [" in "".join(look.rows))
        enter()
        self.go_on.touch()
        self.stage.ended(self.pane, word)
        self.fired += 1

    def wrote(self, prompt: str) -> bool:
        """Whether a prompt stands in the file: one that is taken back in its first moment never does."""
        return any(
            said.get("type") == "user" and said["message"]["content"] == prompt
            for said in map(json.loads, self.stage.path.read_bytes().splitlines())
        )

    def shows(self, text: str) -> None:
        self.pane.wait(lambda look: read_prompt(look).text == text)

    def types(self, text: str) -> None:
        self.pane.type(text)
        self.shows(text)

    def clears(self) -> None:
        self.pane.type(CTRL_U)
        self.pane.wait(lambda look: read_prompt(look).is_empty)

    def held(self, why: str, *, attempt: bool = True) -> None:
        """The guard looks, and nothing comes of it. attempt: wait until one of its attempts was seen whole."""
        stage = self.stage
        stands, made = read_prompt(self.pane.settle(0.3)), len(stage.made())
        data = stage.path.read_bytes()
        asked = len(stage.server.messages_requests())
        if attempt:
            stage.tried(self.pane)
        until = time.monotonic() + (0 if attempt else HELD)
        while time.monotonic() < until:
            self.pane.read(0.05)
        found = Guarded(stage.path, stage.home, stage.places, stage.env)
        verdict = with_means(found, found.settings(), judge_session(stage.path, stage.places, stage.home))
        said = [each.evidence for each in verdict.type.blockers]
        assert any(why in each for each in said), said
        assert len(stage.made()) == made
        assert stage.path.read_bytes().startswith(data)  # what came is the client's own
        assert len(stage.server.messages_requests()) == asked
        assert read_prompt(self.pane.settle(0.3)) == stands

    def said_nothing_since(self) -> None:
        """The file holds what the screen shows no more, and a reload would bring it back: the next turn ends that."""
        self.held(REWOUND, attempt=False)
        self.stage.ended(self.pane, self.stage.say(self.pane, TIERS[self.fired - 1][1]))
        self.reloaded()

    def reloaded(self) -> None:
        """The state is left: the move comes, and what is sent next is the pruned conversation alone."""
        stage = self.stage
        stage.until(self.pane, lambda: stage.moved(self.fired), 90)
        assert [one.status for one in stage.moves()].count("done") == self.fired
        self.pane.wait(
            lambda look: read_prompt(look).is_empty
        )  # also where the client left cells of its spinner
        stage.ended(self.pane, stage.say(self.pane, 0))
        assert "removed; coffer restore" in stage.sent()

    def ends(self, *never: str) -> None:
        """Nothing reached the model that the person did not send."""
        sent = json.dumps([one.body for one in self.stage.server.messages_requests()])
        assert [each for each in ("/resume", *never) if each in sent] == []
        assert self.stage.server.breaches == []


@pytest.fixture
def stage(claude_home: ClaudeHome, anthropic_server: AnthropicServer) -> Iterator[Stage]:
    with Stage(claude_home, anthropic_server).running() as stage:
        yield stage


def test_what_a_person_begins_while_the_turn_works(stage: Stage) -> None:
    """A draft, and the search in the history."""
    with stage.pane() as pane:
        desk = Desk(stage, pane)
        pane.wait("❯")
        desk.fires(lambda: desk.types("a draft"))
        desk.held(SENTENCES[DRAFT])
        desk.clears()
        desk.reloaded()

        def search() -> None:
            pane.type(CTRL_R)
            pane.wait(lambda look: read_prompt(look).kind == SEARCH)

        desk.fires(search)
        desk.held(SENTENCES[SEARCH])
        pane.type(ESC)
        pane.wait(lambda look: read_prompt(look).kind != SEARCH)
        desk.clears()
        desk.reloaded()
        desk.ends("a draft")


def test_what_comes_back_into_the_line_or_lies_over_it(stage: Stage) -> None:
    """A queued prompt taken back and one put back by Esc; an earlier one and a dialog; a file's name and a rewind."""
    with stage.pane() as pane:
        desk = Desk(stage, pane)
        pane.wait("❯")

        def take_back() -> None:
            desk.types("a queued prompt")
            pane.type("\r")
            pane.wait(lambda look: read_prompt(look).text != "a queued prompt")
            pane.type(UP)
            desk.shows("a queued prompt")

        desk.fires(take_back)
        desk.held(SENTENCES[DRAFT])
        desk.clears()  # what is typed next comes within two seconds: behind a key nothing is typed for so long
        stage.scripts["be slow please"] = [{"text": "That was slow.", "delay_s": 60}]
        stage.server.play({"scripts": stage.scripts})
        pane.submit("be slow please")
        stage.until(pane, lambda: desk.wrote("be slow please"))
        pane.type(ESC)
        desk.shows("be slow please")
        stage.wait_idle(pane)
        desk.held(SENTENCES[DRAFT])
        desk.clears()
        desk.said_nothing_since()

        def earlier() -> None:
            pane.type(UP)
            pane.wait("─── History ")

        desk.fires(earlier)
        desk.held(SENTENCES[ABSENT])  # as long as the place in the history is shown
        pane.wait("─── History ")
        desk.clears()
        pane.submit("/config")
        stage.until(pane, lambda: stage.status() == "waiting")
        desk.held(SENTENCES[ABSENT], attempt=False)
        assert stage.status() == "waiting"
        pane.type(ESC)  # out of its search
        pane.wait("Esc to close")
        pane.type(ESC)
        desk.reloaded()
        desk.fires(lambda: desk.types("@"))
        desk.held(SENTENCES[DRAFT])
        desk.clears()
        rewound(desk, pane)
        desk.ends("a queued prompt")


def rewound(desk: Desk, pane: Pane) -> None:
    """The menu, the prompt that it puts back, and the line that is empty again: only the next turn clears that."""
    pane.type(ESC)
    pane.settle(0.2)
    pane.type(ESC)
    pane.wait("Rewind")
    desk.held(SENTENCES[ABSENT])
    pane.wait("Rewind")
    pane.type(UP)
    pane.settle(0.3)
    pane.type("\r")
    pane.wait("Confirm you want")
    pane.settle(0.5)
    pane.type("\r")
    pane.wait(lambda look: read_prompt(look).text.startswith("do the word"))
    desk.held(SENTENCES[DRAFT], attempt=False)
    desk.clears()
    desk.said_nothing_since()


def test_vim(stage: Stage) -> None:
    """A draft in NORMAL mode is held; over an empty line no character is typed: the agent is started again."""
    path: Path = stage.claude.config / "settings.json"
    stage.claude.set_settings({**json.loads(path.read_bytes()), "editorMode": "vim"})
    with stage.pane() as pane:
        desk = Desk(stage, pane)
        pane.wait("INSERT")

        def draft() -> None:
            pane.type("a draft")
            pane.wait("❯.a draft")
            pane.type(ESC)
            pane.wait(lambda look: not any("INSERT" in row for row in look.rows))

        desk.fires(draft)
        window = stage.window()
        desk.held(SENTENCES[DRAFT])
        pane.type("dd")
        stage.until(pane, lambda: stage.moved(1), 90)
        assert stage.moves()[0].data["reload"]["means"] == "restart"
        pane.wait("INSERT")
        stage.ended(pane, stage.say(pane, 0))
        assert "removed; coffer restore" in stage.sent()
        assert stage.window() == window == ("claude-opus-4-8", True)
        desk.ends("a draft")
