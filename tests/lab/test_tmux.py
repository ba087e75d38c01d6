"""A reload typed into a pane of tmux, with the real client: it is read back, and nothing of a person's is sent."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coffer.core.settings import Guard
from coffer.disk.places import Places
from coffer.disk.tmux import Pane as TmuxPane
from coffer.store.home import Home
from coffer.work.guarding.means import DONE, REFUSED, Reloaded, Sought, means_for
from coffer.work.guarding.reread import reread
from coffer.work.guarding.tmux import find_client
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome, Tmux
from tests.lab.claude_stage import GREETINGS
from tests.lab.test_run import mend
from tests.launch.pane import Pane

pytestmark = pytest.mark.lab


class Stage:
    """A client in a pane, and what the daemon would know of it."""

    def __init__(self, home: ClaudeHome, server: AnthropicServer, screen: Tmux) -> None:
        self.home, self.server, self.screen = home, server, screen
        self.socket, self.id = screen.tmux(
            "display-message", "-p", "-t", "lab", "#{socket_path} #{pane_id}"
        ).split()
        self.env = home.env({"TMUX": f"{self.socket},1,0", "TMUX_PANE": self.id})

    @property
    def path(self) -> Path:
        return self.home.transcripts()[-1]

    def say(self, word: str) -> None:
        self.screen.send(f"greet the {word}")
        self.screen.wait(f"Greeted {word}")
        self.home.wait_status("idle")
        until = time.monotonic() + 20
        while f"Greeted {word}.".encode() not in self.path.read_bytes() and time.monotonic() < until:
            time.sleep(0.1)
        time.sleep(0.6)
        mend(self.path)

    def sought(self, *, tmux: bool = True) -> Sought:
        words = reread(self.path).words
        return Sought(self.path.stem, Home(self.home.root / "coffer"), self.env, Guard(tmux=tmux), words)

    def why(self) -> str:
        means = means_for(self.sought())
        assert means is not None
        return "; ".join(means.obstacles())

    def settled(self) -> str:
        """What is in the way, once the last key is old enough."""
        until = time.monotonic() + 8
        while "key was pressed" in (why := self.why()) or "being drawn" in why:
            assert time.monotonic() < until
            time.sleep(0.2)
        return why

    def reload(self, meanwhile: Callable[[], None] = lambda: None) -> Reloaded:
        means = means_for(self.sought())
        assert means is not None
        said: list[Reloaded] = []
        thread = threading.Thread(target=lambda: said.append(means.reload(6)))
        thread.start()
        meanwhile()
        thread.join()
        return said[0]

    def sent(self) -> str:
        return json.dumps(self.server.messages_requests()[-1].messages)


@pytest.fixture
def stage(tmp_path: Path, claude_binary: Path) -> Iterator[Stage]:
    with (
        AnthropicServer({"scripts": GREETINGS}) as server,
        ClaudeHome(tmp_path, server, binary=claude_binary) as home,
        home.interactive(width=120, height=40) as screen,
    ):
        yield Stage(home, server, screen)


def test_a_pane_is_reloaded_in_place(stage: Stage) -> None:
    stage.say("apple")
    assert means_for(stage.sought(tmux=False)) is None, "it is off unless a person switches it on"
    means = means_for(stage.sought())
    assert means is not None
    assert means.name == "tmux"
    data = stage.path.read_bytes()
    stage.path.write_bytes(data.replace(b"Greeted apple.", b"[pruned by Coffer]"))
    done = means.reload(6)
    print(f"from Enter to the empty line: {done.seconds:.2f} s")
    assert (done.kind, done.why) == (DONE, "")
    assert len(stage.server.messages_requests()) == 1, "nothing went to the model"
    stage.say("pear")
    assert "[pruned by Coffer]" in stage.sent()
    assert "/resume" not in stage.sent()


def test_nothing_is_typed_where_keys_would_go_astray(stage: Stage) -> None:
    stage.say("apple")
    tmux, screen = stage.screen.tmux, stage.screen
    assert stage.settled() == ""
    screen.type("a draft")
    screen.wait("a draft")
    assert "text in the input line" in stage.settled()
    assert stage.reload().kind == REFUSED
    assert "a draft" in screen.capture()
    screen.key("C-u")
    time.sleep(0.5)
    tmux("copy-mode", "-t", stage.id)
    assert "copy mode" in stage.settled()
    tmux("send-keys", "-t", stage.id, "-X", "cancel")
    tmux("split-window", "-h", "-d", "-l", "30", "-t", stage.id, "cat")
    tmux("set-option", "-w", "-t", stage.id, "synchronize-panes", "on")
    assert "several panes" in stage.settled()
    tmux("set-option", "-w", "-t", stage.id, "synchronize-panes", "off")
    tmux("select-pane", "-t", f"{stage.id}", "-R")
    tmux("resize-pane", "-Z", "-t", "lab")
    time.sleep(0.5)
    assert stage.settled() == "", "another pane on top is no matter"
    assert stage.reload().kind == DONE
    assert TmuxPane.of({**stage.env, "TMUX_PANE": "%1; kill-server"}) is None
    other = TmuxPane.of({**stage.env, "TMUX_PANE": "%1"})
    assert other is not None
    assert find_client(stage.path.stem, Places.of(stage.env), other) is None, "its client is in another pane"
    assert len(stage.server.messages_requests()) == 1


def test_a_key_of_a_person_ends_it(stage: Stage) -> None:
    """Someone is attached, and presses a key when the first character is there."""
    stage.say("apple")
    command = ["/usr/bin/env", "tmux", "-S", stage.socket, "attach"]
    environment = {"TERM": "xterm-256color", "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    with Pane(command, env=environment, columns=120, rows=41) as person:
        person.wait("❯")
        assert "key was pressed" in stage.why()

        def press() -> None:
            person.wait(lambda look: any(row.startswith("❯\N{NO-BREAK SPACE}/") for row in look.rows))
            person.type("x")
            person.settle(4)

        done = stage.reload(press)
        assert done.kind == REFUSED
        assert "a key was pressed meanwhile" in done.why
        assert "/x" in "\n".join(person.look().rows)
    assert len(stage.server.messages_requests()) == 1
    assert f"/resume {stage.path.stem}" not in stage.screen.capture()
