"""A reload typed into a pane of tmux, with the real client: it is read back, and nothing of a person's is sent.

The last tests leave all of it to the daemon: a session that grows over a tier in a pane is pruned and reloaded there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from tests.lab.conformance import PROBE, differences
from tests.lab.delivery_page import figure
from tests.lab.test_guard_moves import CTRL_U, bash
from tests.lab.test_guard_moves import Stage as Moving
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
        until = time.monotonic() + 60
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
        until = time.monotonic() + 60
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


# --- the daemon, which knows of the pane by the session's hooks


class Attached(Moving):
    """Claude Code by itself in a pane of tmux, with a person attached to it; Coffer's daemon beside it."""

    @contextmanager
    def person(self) -> Iterator[Pane]:
        """The person's terminal. The tmux server is this test's own, and is ended with it."""
        program = shutil.which("tmux")
        assert program is not None
        folder = Path(tempfile.mkdtemp(prefix="lab-tty-"))  # a socket's path has 104 bytes at most
        (folder / "conf").write_text("set -g status off\nset -g default-terminal xterm-256color\n")
        base = [program, "-S", str(folder / "s"), "-f", str(folder / "conf")]
        client = [str(self.claude.binary), *self.claude.model_args]
        words = [*base, "new-session", "-s", "lab", "-c", str(self.claude.cwd), *client]
        try:
            with Pane(words, env=self.env, cwd=self.claude.cwd, rows=40, columns=130) as pane:
                yield pane
        finally:
            subprocess.run([*base, "kill-server"], env=self.env, capture_output=True, check=False)
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def attached(claude_home: ClaudeHome, anthropic_server: AnthropicServer) -> Iterator[Attached]:
    stage = Attached(claude_home, anthropic_server)
    stage.env["COZEMPIC_CONTEXT_WINDOW"] = "150000"
    stage.settings("[guard]\ntmux = true\n")
    with stage.running():
        yield stage


def line_of(pane: Pane) -> str:
    rows = [row for row in pane.settle(0.3).rows if row.startswith("❯")]
    return rows[-1][1:].replace("\xa0", " ").strip()


def test_the_daemon_prunes_and_types_it(attached: Attached) -> None:
    """Over a tier: pruned at idle, reloaded in the pane; the next request is the pruned view."""
    with attached.person() as pane:
        pane.wait("❯")
        attached.grow(pane, 0)
        attached.grow(pane, 0, calls=2)
        count = len(attached.server.messages_requests())
        attached.until(pane, lambda: attached.moved(1))
        reload = attached.moves()[0].data["reload"]
        assert reload["means"] == "tmux"
        figure("guard-tmux", f"{reload['since_idle']} s from idle, {reload['seconds']} s from Enter")
        assert len(attached.server.messages_requests()) == count, "nothing was sent that nobody typed"
        assert line_of(pane).strip("─") == "", "the client may leave a piece of its frame there"
        as_pruned = attached.claude.root / "as-pruned.jsonl"
        as_pruned.write_bytes(attached.path.read_bytes())
        attached.scripts[PROBE] = [{"text": "answered the probe"}]
        attached.server.play({"scripts": attached.scripts})
        pane.submit(PROBE)
        attached.ended(pane, "the probe")
        request = attached.server.messages_requests()[-1]
        assert differences(as_pruned, request.body or {}) == []
        assert "removed; coffer restore" in attached.sent()
        assert "/resume" not in attached.sent()
        assert len(attached.made()) == 1
    assert attached.server.breaches == []


def test_a_key_ends_what_the_daemon_types_and_it_is_done_later(attached: Attached) -> None:
    """A draft keeps the file from being written; a key behind the first character, the reload from being sent."""
    with attached.person() as pane:
        pane.wait("❯")
        attached.grow(pane, 0)
        word = attached.say(pane, 0, *(bash(f"seq {n} {n + 4_000}") for n in (900_000, 910_000)))
        pane.type("a draft")
        attached.ended(pane, word)
        data, count = attached.path.read_bytes(), len(attached.server.messages_requests())
        attached.tried(pane)
        assert attached.made() == []
        assert attached.path.read_bytes().startswith(data)
        assert line_of(pane) == "a draft"
        pane.type(CTRL_U)
        pane.wait(lambda look: any(row.startswith("❯\N{NO-BREAK SPACE}/") for row in look.rows))
        pane.type("x")
        attached.until(pane, lambda: attached.made() and "refused" in attached.made()[0].data["reload"])
        reload = attached.moves()[0].data["reload"]
        assert (reload["outcome"], reload["refused"]) == ("owed", 1)
        assert "a key was pressed meanwhile" in reload["why"]
        assert line_of(pane).endswith("x")
        assert len(attached.server.messages_requests()) == count
        pane.type(CTRL_U)
        attached.until(pane, lambda: attached.moved(1))
        assert len(attached.made()) == 1, "it is not pruned again"
        attached.ended(pane, attached.say(pane, 0))
        assert "removed; coffer restore" in attached.sent()
    assert not re.search(
        "/resume|a draft", json.dumps([one.body for one in attached.server.messages_requests()])
    )
    assert attached.server.breaches == []
