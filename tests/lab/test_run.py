"""`coffer run claude` with the real client: the session reloads in place, and a person loses nothing."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from coffer.core.input_line import read_prompt
from coffer.core.repair import fixes
from coffer.store.home import Home
from coffer.work.guarding import runs
from coffer.work.guarding.reread import reread
from coffer.work.sessions.read import opened
from tests.lab import clients
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome
from tests.lab.claude_stage import GREETINGS
from tests.launch.pane import Pane

pytestmark = pytest.mark.lab
SOURCE = Path(__file__).parents[2] / "src"
CAPTURED = Path(__file__).parents[1] / "fixtures" / "left_out"
SETTLE = 0.4
CTRL_U, ESC, UP = "\x15", "\x1b", "\x1b[A"
SCRIPTS: dict[str, Any] = {
    **GREETINGS,
    "be slow please": [{"text": "That was slow.", "delay_s": 6}],
    "fetch it please": [
        {"tools": [{"name": "WebFetch", "input": {"url": "http://x.invalid/", "prompt": "a"}}]}
    ],
}


class Stage:
    """An interactive client under `coffer run`, and its launcher's runs."""

    def __init__(self, home: ClaudeHome, server: AnthropicServer) -> None:
        self.home, self.server = home, server
        self.coffer = Home(home.root / "coffer")
        programs = home.root / "bin"
        programs.mkdir(exist_ok=True)
        (programs / "claude").symlink_to(home.binary)
        self.env = home.env(
            {
                "COFFER_HOME": str(self.coffer.root),
                "PYTHONPATH": str(SOURCE),
                "PATH": f"{programs}:/usr/bin:/bin",
            }
        )

    def pane(self, *arguments: str) -> Pane:
        words = [sys.executable, "-m", "coffer.cli.main", "run", "claude", *arguments]
        return Pane(words, env=self.env, cwd=self.home.cwd, rows=40, columns=120)

    def say(self, pane: Pane, prompt: str, answer: str) -> None:
        pane.submit(prompt)
        pane.wait(answer)
        self.home.wait_status("idle")
        pane.settle(0.5)

    def ask(
        self, pane: Pane, request: dict[str, Any], meanwhile: Callable[[], None] | None = None
    ) -> dict[str, Any]:
        """Ask the launcher while the terminal is read on."""
        said: list[dict[str, Any] | None] = []
        (name,) = runs.runs(self.coffer)
        thread = threading.Thread(target=lambda: said.append(runs.ask(self.coffer, name, request, 40)))
        thread.start()
        if meanwhile is not None:
            meanwhile()
        while thread.is_alive():
            pane.read(0.02)
        thread.join()
        assert said[0] is not None
        return said[0]

    def session(self, pane: Pane) -> str:
        return str(self.ask(pane, {"do": "state"})["session"])

    def reload(
        self,
        pane: Pane,
        wait: float = 0.0,
        meanwhile: Callable[[], None] | None = None,
        words: str | None = None,
    ) -> dict[str, Any]:
        session = self.session(pane)
        words = reread(self.home.transcript(session)).words if words is None else words
        request = {"do": "reload", "session": session, "settle": SETTLE, "wait": wait, "words": words}
        return self.ask(pane, request, meanwhile)

    def edit(self, session: str, before: str, after: str) -> str:
        """Change a transcript under the client's feet, as a prune does, once all of the turn stands in it.

        The words that end the conversation on the screen: those from before it.

        The client writes an answer up to a second after it shows it: written over in that moment it would be lost.
        """
        path = self.home.transcript(session)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            data = path.read_bytes()
            time.sleep(0.5)
            if before.encode() in data and path.read_bytes() == data:
                break
        assert before.encode() in data, "the client never wrote its answer"
        words = reread(path).words
        path.write_bytes(data.replace(before.encode(), after.encode()))
        mend(path)
        return words

    def prompts(self) -> list[str]:
        """What the person's messages of the last request say."""
        return [json.dumps(m["content"]) for m in self.server.messages_requests()[-1].messages]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with AnthropicServer({"scripts": SCRIPTS}) as server, ClaudeHome(tmp_path, server) as home:
        yield Stage(home, server)


@pytest.fixture(autouse=True)
def _installed(claude_binary: Path) -> None:
    """Skipped without the client."""


def mend(path: Path) -> None:
    """What `coffer check --fix` appends: 2.1.197 may write a session's first answer before its prompt."""
    with opened(path) as found:
        lines = [fix.new for fix in fixes(found.transcript, found.source.read, {})]
    with path.open("ab") as file:
        file.writelines(lines)


def line(pane: Pane) -> str:
    """What stands in the input line."""
    rows = [row for row in pane.settle(0.4).rows if row.startswith("❯")]
    return rows[-1][1:].strip().replace("\xa0", " ")


def window(stage: Stage) -> tuple[str, bool]:
    last = stage.server.messages_requests()[-1]
    return str((last.body or {}).get("model")), "context-1m" in last.headers.get("anthropic-beta", "")


def test_an_edited_transcript_is_read_again_in_place(stage: Stage) -> None:
    with stage.pane(*stage.home.model_args) as pane:
        pane.wait("❯")
        stage.say(pane, "greet the apple", "Greeted apple")
        before = window(stage)
        session = stage.session(pane)
        words = stage.edit(session, "Greeted apple.", "[pruned by Coffer]")
        begin = time.monotonic()
        said = stage.reload(pane, wait=5, words=words)
        print(
            f"from the request to reloaded: {time.monotonic() - begin:.2f} s, from Enter {said['seconds']:.2f} s"
        )
        assert said["kind"] == "typed", said
        assert said["why"] == ""
        assert len(stage.server.messages_requests()) == 1, "nothing went to the model"
        stage.say(pane, "greet the pear", "Greeted pear")
        sent = " ".join(stage.prompts())
        assert "[pruned by Coffer]" in sent
        assert "Greeted apple." not in sent
        assert "/resume" not in sent
        assert window(stage) == before == ("claude-opus-4-8", True)
        assert stage.session(pane) == session
        pane.submit("/exit")
        assert pane.ended() == 0
    assert runs.runs(stage.coffer) == []


def test_a_draft_typed_meanwhile_is_still_there(stage: Stage) -> None:
    """At ten moments from before the first character to after Enter."""
    with stage.pane(*stage.home.model_args) as pane:
        pane.wait("❯")
        stage.say(pane, "greet the apple", "Greeted apple")
        kinds = []
        for moment in (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6, 0.8):
            time.sleep(SETTLE)
            draft = f"draft {moment}"

            def type_it(moment: float = moment, draft: str = draft) -> None:
                until = time.monotonic() + moment
                while time.monotonic() < until:
                    pane.read(0.01)
                for key in draft:
                    pane.type(key)
                    pane.read(0.005)

            kinds.append(stage.reload(pane, meanwhile=type_it)["kind"])
            assert line(pane) == draft, (moment, kinds)
            pane.type(CTRL_U)
            pane.settle(0.3)
        assert len(stage.server.messages_requests()) == 1
        print("reloads with a draft typed meanwhile:", kinds)
        assert {"typed"} < set(kinds)
        stage.say(pane, "greet the pear", "Greeted pear")
        assert not re.search("draft|/resume", " ".join(stage.prompts()))


def test_nothing_is_sent_where_the_line_is_not_free(stage: Stage) -> None:
    with stage.pane(*stage.home.model_args) as pane:
        pane.wait("❯")
        stage.say(pane, "greet the apple", "Greeted apple")
        count = len(stage.server.messages_requests())

        def refused(holds: str | None = None) -> None:
            pane.settle(0.6)
            said = stage.reload(pane)
            assert said["kind"] == "refused", (said, pane.look().rows)
            if holds is not None:
                assert line(pane) == holds
            assert len(stage.server.messages_requests()) == count

        for keys, holds, back in (
            ("a draft", "a draft", CTRL_U),
            (UP, "greet the apple", CTRL_U),
            ("\x12", None, ESC),  # Ctrl-R
            ("\x12app", None, ESC + CTRL_U),
            ("@", "@", CTRL_U),
            ("/", "/", CTRL_U),
            ("!", None, "\x7f"),
            ("\x0f", None, "\x0f"),  # Ctrl-O
        ):
            pane.type(keys)
            refused(holds)
            for key in (back,) if len(back) == 1 else back:
                pane.type(key)
                pane.settle(0.3)
        pane.settle(1)
        pane.type(ESC)
        pane.settle(0.2)
        pane.type(ESC)
        pane.wait("Rewind")
        refused()
        pane.type(UP)
        pane.settle(0.3)
        pane.type("\r")
        pane.wait("Restore|restore")
        refused()
        pane.type("\r")
        pane.wait(lambda look: any(row.replace("\xa0", " ") == "❯ greet the apple" for row in look.rows))
        refused("greet the apple")
        pane.type(CTRL_U)  # nothing on disk tells that the turn was taken off; the screen does
        pane.settle(SETTLE)
        said = stage.reload(pane)
        assert (said["kind"], "rewind" in said["why"]) == ("refused", True), said
        stage.say(pane, "greet the fig", "Greeted fig")
        assert "apple" not in " ".join(stage.prompts())


def test_nothing_is_sent_around_a_turn(stage: Stage) -> None:
    with stage.pane(*stage.home.model_args) as pane:
        pane.wait("❯")
        pane.submit("be slow please")
        stage.home.wait_status("busy")
        time.sleep(SETTLE)
        assert "busy" in stage.reload(pane)["why"]
        pane.type(ESC)  # early: the prompt comes back into the line
        stage.home.wait_status("idle")
        pane.settle(0.6)
        assert stage.reload(pane)["kind"] == "refused"
        assert line(pane) == "be slow please"
        pane.type(CTRL_U)
        pane.settle(0.3)
        pane.submit("be slow please")
        stage.home.wait_status("busy")
        pane.type("greet the fig")
        pane.wait(lambda look: read_prompt(look).text == "greet the fig")
        pane.type("\r")  # it waits in the queue, and comes back into the line
        pane.wait(
            lambda look: read_prompt(look).text != "greet the fig" and "greet the fig" in "".join(look.rows)
        )
        pane.type(UP)
        pane.wait(lambda look: read_prompt(look).text == "greet the fig")
        assert stage.reload(pane)["kind"] == "refused"
        pane.wait("That was slow")
        stage.home.wait_status("idle")
        pane.settle(0.6)
        assert stage.reload(pane)["kind"] == "refused"
        assert line(pane) == "greet the fig"
        pane.type(CTRL_U)
        pane.settle(0.3)
        pane.submit("fetch it please")
        pane.wait("Do you want")
        time.sleep(SETTLE)
        said = stage.reload(pane)
        assert "permission prompt" in said["why"]
        pane.type(ESC)
        stage.home.wait_status("idle")
        sent = [
            text
            for request in stage.server.messages_requests()
            for text in json.dumps(request.messages).split()
        ]
        assert not any("/resume" in word for word in sent)


def test_vim(stage: Stage) -> None:
    """By the settings at once; and where they don't say so, the first character finds NORMAL mode out."""
    stage.home.set_settings({"editorMode": "vim"})
    with stage.pane(*stage.home.model_args) as pane:
        pane.wait("INSERT")
        stage.say(pane, "greet the apple", "Greeted apple")
        for keys in ("", ESC):
            pane.type(keys)
            pane.settle(0.8)
            said = stage.reload(pane)
            assert said["kind"] == "refused"
            assert "vim" in said["why"]
        stage.home.set_settings({})
        state = stage.home.home / ".claude.json"
        state.write_text(state.read_text().replace('"editorMode": "vim"', '"editorMode": "normal"'))
        pane.settle(0.6)
        said = stage.reload(pane, wait=1)
        assert said["kind"] in ("gave_up", "typed"), said  # typed: it has taken the new setting up
        assert len(stage.server.messages_requests()) == 1
        assert line(pane) == ""


def test_the_screen_reader_is_left_alone(stage: Stage) -> None:
    stage.env["CLAUDE_AX_SCREEN_READER"] = "1"
    with stage.pane(*stage.home.model_args) as pane:
        pane.wait("screen reader mode")
        stage.say(pane, "greet the apple", "Greeted apple")
        time.sleep(SETTLE)
        said = stage.reload(pane)
        assert said["kind"] == "refused"
        assert "no input line" in said["why"]


def test_full_screen_mode_reloads_too(stage: Stage) -> None:
    stage.env["CLAUDE_CODE_NO_FLICKER"] = "1"
    with stage.pane(*stage.home.model_args) as pane:
        pane.wait("❯")
        stage.say(pane, "greet the apple", "Greeted apple")
        words = stage.edit(stage.session(pane), "Greeted apple.", "[pruned by Coffer]")
        said = stage.reload(pane, wait=5, words=words)
        assert (said["kind"], said["why"]) == ("typed", "")
        stage.say(pane, "greet the pear", "Greeted pear")
        assert "[pruned by Coffer]" in " ".join(stage.prompts())


def test_a_restart_keeps_flags_model_and_window(stage: Stage) -> None:
    with stage.pane("--verbose", *stage.home.model_args) as pane:
        pane.wait("❯")
        stage.say(pane, "greet the apple", "Greeted apple")
        session = stage.session(pane)
        before = window(stage)
        stage.edit(session, "Greeted apple.", "[pruned by Coffer]")
        time.sleep(SETTLE)
        said = stage.ask(pane, {"do": "restart", "session": session, "settle": SETTLE, "wait": 5})
        assert said["kind"] == "typed", said
        stage.say(pane, "greet the pear", "Greeted pear")
        assert "[pruned by Coffer]" in " ".join(stage.prompts())
        assert window(stage) == before == ("claude-opus-4-8", True)
        assert stage.session(pane) == session


def test_a_file_read_wrongly_is_mended(stage: Stage) -> None:
    """What the client itself leaves out at `/resume`, it shows again once a pointer names it."""
    answers = {"first-turn": "Greeted apple", "behind-the-pointer": "Greeted plum"}
    sessions = {}
    for name, answer in answers.items():
        data = (
            (CAPTURED / f"{name}.jsonl").read_bytes().replace(b"/home/dev/work", str(stage.home.cwd).encode())
        )
        session = json.loads(data.splitlines()[-1])["sessionId"]
        stage.home.place(data, session)
        sessions[session] = answer
    with stage.pane(*stage.home.model_args) as pane:
        pane.wait("❯")
        for session, answer in sessions.items():
            path = stage.home.transcript(session)
            before = path.read_bytes()
            pane.submit(f"/resume {session}")
            pane.wait("greet the")
            assert answer not in "\n".join(pane.settle(1.5).rows)
            pane.submit("/clear")
            pane.settle(1.5)
            path.write_bytes(before)
            mend(path)
            assert path.read_bytes() != before
            pane.submit(f"/resume {session}")
            pane.wait(answer)
            pane.submit("/clear")
            pane.settle(1.5)


def test_codex_has_its_terminal(tmp_path: Path) -> None:
    binary = clients.find("codex")
    if binary is None:
        pytest.skip("Codex is not installed for the lab")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "codex").symlink_to(binary)
    env = {
        "HOME": str(tmp_path),
        "PATH": f"{programs}:/usr/bin:/bin",
        "PYTHONPATH": str(SOURCE),
        "TERM": "xterm",
    }
    words = [sys.executable, "-m", "coffer.cli.main", "run", "codex", "--version"]
    with Pane(words, env=env, cwd=tmp_path) as pane:
        pane.wait(re.escape(clients.CLIENTS["codex"].version))
        assert pane.ended() == 0


def test_resized_suspended_and_continued(stage: Stage) -> None:
    """The real client's Ctrl-Z under a real shell; the screen is still read rightly after it."""
    words = [sys.executable, "-m", "coffer.cli.main", "run", "claude", *stage.home.model_args]
    shell = ["/bin/bash", "--norc", "--noprofile", "-i"]
    with Pane(shell, env=stage.env | {"PS1": "$ "}, cwd=stage.home.cwd, rows=40, columns=120) as pane:
        pane.submit(" ".join(f"'{word}'" for word in words))
        pane.wait("❯")
        stage.say(pane, "greet the apple", "Greeted apple")
        for columns, rows in ((90, 30), (60, 20), (119, 40)):
            pane.screen.resize(columns, rows)
            pane.child.resize((rows, columns, 0, 0))
            pane.settle(0.8)
            assert stage.ask(pane, {"do": "state"})["prompt"] == "empty"
        pane.type("draft")
        pane.settle()
        pane.type("\x1a")
        pane.wait("Stopped")
        pane.submit("echo in the sh''ell; fg")
        pane.wait("in the shell")
        pane.wait(lambda look: any(row.replace("\xa0", " ") == "❯ draft" for row in look.rows))
        pane.settle(1)
        assert stage.ask(pane, {"do": "state"})["prompt"] == "draft"
        pane.type(CTRL_U)
        pane.settle(SETTLE)
        assert stage.reload(pane, wait=3)["kind"] == "typed"
