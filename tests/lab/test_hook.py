"""The installed hook in the real clients, with no daemon and with bad ones: the model gets the file's rules.

The home has a space and a quote in its name. The command of the daemon is a program that sleeps longer than the
run may take: a session that waited for it would not end in time.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from coffer.store.home import Home
from coffer.work.agent_settings.hook_files import write_hook
from coffer.work.delivery.bundle_files import publish, take_spool
from tests.hook.rig import Behaviour, Rig, answer, never, says
from tests.lab import clients
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome
from tests.lab.codex import CodexHome, wait_until
from tests.lab.openai_server import OpenAIServer

pytestmark = pytest.mark.lab

RULE = "The user's standing rule, from the file: never say heron. It's \"quoted\" – 家."
FROM_DAEMON = "The user's standing rule, from the daemon: never say otter."
EVENTS = ("SessionStart", "SubagentStart", "UserPromptSubmit", "Stop", "SessionEnd")
SLEEPS = 120
MAY_TAKE = 60
"""Seconds after which a run is given up: half of what the fake daemon sleeps."""


def envelope(event: str, text: str) -> bytes:
    said = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    return json.dumps(said, ensure_ascii=False).encode()


class Installed(Rig):
    """A hook with the limits that it is shipped with, whose daemon sleeps."""

    @classmethod
    def below(cls, folder: Path, project: Path) -> Installed:
        rig = cls(Home(folder / "it's Coffer's home"), project)
        write_hook(rig.home, Path(sys.executable))
        sleeps = f"echo $$ > {shlex.quote(str(rig.pid_file))}; exec sleep {SLEEPS}"
        command = b"\0".join(word.encode() for word in ("/bin/sh", "-c", sleeps))
        (rig.home.root / "bin" / "daemon-command").write_bytes(command)
        files = {
            (agent, event): envelope(event, RULE)
            for agent in ("claude", "codex")
            for event in ("SessionStart", "SubagentStart")
        }
        publish(rig.home, {os.path.realpath(project): files})
        return rig

    @property
    def pid_file(self) -> Path:
        return self.home.root / "pid"

    def sleeper(self) -> psutil.Process:
        """The fake daemon, which must have outlived the run that started it."""
        assert wait_until(lambda: self.pid_file.exists() and self.pid_file.read_text().endswith("\n"))
        return psutil.Process(int(self.pid_file.read_text()))

    def entries(self, agent: str) -> dict[str, Any]:
        def entry(event: str) -> dict[str, Any]:
            return {
                "hooks": [{"type": "command", "command": f"{shlex.quote(str(self.stub))} {agent} {event}"}]
            }

        return {event: [entry(event)] for event in EVENTS}


@pytest.fixture
def claude(tmp_path: Path, claude_home: ClaudeHome) -> Iterator[Installed]:
    rig = Installed.below(tmp_path, claude_home.cwd)
    settings = json.loads((claude_home.config / "settings.json").read_bytes())
    claude_home.set_settings({**settings, "hooks": rig.entries("claude")})
    yield rig
    if rig.pid_file.exists():
        rig.sleeper().kill()


def seen(messages: object, text: str) -> int:
    """How often a text occurs in a request."""
    return json.dumps(messages, ensure_ascii=False).count(json.dumps(text, ensure_ascii=False)[1:-1])


def test_claude_without_a_daemon_gets_the_file_and_is_not_held(
    claude: Installed, claude_home: ClaudeHome, anthropic_server: AnthropicServer
) -> None:
    first = claude_home.run("-p", "hello", timeout=MAY_TAKE)
    assert first.rc == 0, first.stderr
    assert seen(first.requests[0].messages, RULE) == 1
    assert claude.sleeper().is_running()
    again = claude_home.run("-p", "and again", "--resume", first.session_id, timeout=MAY_TAKE)
    assert seen(again.requests[0].messages, RULE) == 1
    assert {(entry.event, entry.cwd) for entry in take_spool(claude.home)} == {
        ("SessionStart", str(claude_home.cwd))
    }
    assert anthropic_server.breaches == []


BAD: dict[str, Behaviour] = {
    "never answers": never,
    "500": says(answer(b"oops", "500 Internal Server Error")),
    "cut": says(answer(envelope("SessionStart", FROM_DAEMON), length=9999)),
}


@pytest.mark.parametrize("manner", BAD)
def test_claude_with_a_bad_daemon_gets_the_file(
    claude: Installed, claude_home: ClaudeHome, manner: str
) -> None:
    with claude.daemon(BAD[manner]) as heard:
        done = claude_home.run("-p", "hello", timeout=MAY_TAKE)
    assert done.rc == 0, done.stderr
    assert seen(done.requests[0].messages, RULE) == 1
    assert seen(done.requests[0].messages, FROM_DAEMON) == 0
    assert heard[0].path.endswith("/claude/events/SessionStart")


def test_claude_with_a_daemon_gets_its_answer(claude: Installed, claude_home: ClaudeHome) -> None:
    with claude.daemon(by_event(FROM_DAEMON)) as heard:
        done = claude_home.run("-p", "hello", timeout=MAY_TAKE)
    assert done.rc == 0, done.stderr
    assert seen(done.requests[0].messages, FROM_DAEMON) == 1
    assert seen(done.requests[0].messages, RULE) == 0
    assert [request.path.rpartition("/")[2] for request in heard] == [
        "SessionStart",
        "UserPromptSubmit",
        "Stop",
        "SessionEnd",
    ]
    told = json.loads(heard[0].body)
    assert heard[0].told("cwd").decode() == told["cwd"] == str(claude_home.cwd)
    assert heard[0].told("env-claude_code_entrypoint") == b"sdk-cli"
    assert claude.spooled() == []


def by_event(text: str) -> Callable[[Any], None]:
    """A daemon that answers the first request with rules and the others with nothing."""
    bodies = [envelope("SessionStart", text)]
    return lambda link: link.sendall(answer(bodies.pop() if bodies else b""))


@pytest.fixture
def openai_server() -> Iterator[OpenAIServer]:
    with OpenAIServer({"scripts": {}, "default": {"text": "Noted."}}) as server:
        yield server


@pytest.fixture
def codex(tmp_path: Path, openai_server: OpenAIServer) -> Iterator[tuple[Installed, CodexHome]]:
    if clients.find("codex") is None:
        absent = "the real Codex is not installed (python -m tests.lab.install)"
        pytest.fail(absent) if os.environ.get("CI") == "true" else pytest.skip(absent)
    rig = Installed.below(tmp_path, tmp_path / "project")
    with CodexHome(tmp_path, openai_server, hooks=rig.entries("codex")) as home:
        yield rig, home
    if rig.pid_file.exists():
        assert not psutil.pid_exists(int(rig.pid_file.read_text()))  # the lab has ended it by its CODEX_HOME


def test_codex_without_a_daemon_gets_the_file_once_and_is_not_held(
    codex: tuple[Installed, CodexHome],
) -> None:
    rig, home = codex
    first = home.exec(prompt="One.", timeout=MAY_TAKE)
    assert first.rc == 0, first.stderr
    assert seen(first.requests[0].items, RULE) == 1
    assert rig.sleeper().is_running()
    for more in (home.resume, home.fork):
        done = more(home.thread(0), prompt="Two.", timeout=MAY_TAKE)
        assert seen(done.requests[0].items, RULE) == 1
    assert [entry.event for entry in take_spool(rig.home)] == ["SessionStart"]


@pytest.mark.parametrize("manner", BAD)
def test_codex_with_a_bad_daemon_gets_the_file(codex: tuple[Installed, CodexHome], manner: str) -> None:
    rig, home = codex
    with rig.daemon(BAD[manner]):
        done = home.exec(prompt="One.", timeout=MAY_TAKE)
    assert done.rc == 0, done.stderr
    assert seen(done.requests[0].items, RULE) == 1


def test_codex_runs_the_command_that_it_was_shown_and_trusts(codex: tuple[Installed, CodexHome]) -> None:
    rig, home = codex
    assert {hook["trustStatus"] for hook in home.trust_hooks()} == {"trusted"}
    write_hook(rig.home, Path(sys.executable).with_name("python3"))  # an upgrade leaves the trust alone
    with rig.daemon(by_event(FROM_DAEMON)):
        done = home.exec(prompt="One.", timeout=MAY_TAKE)
    assert seen(done.requests[0].items, FROM_DAEMON) == 1


def test_a_deleted_interpreter_fails_no_session(
    claude: Installed, claude_home: ClaudeHome, codex: tuple[Installed, CodexHome]
) -> None:
    rig, home = codex
    for one in (claude, rig):
        write_hook(one.home, one.home.root / "no" / "python")
    done = claude_home.run("-p", "hello", timeout=MAY_TAKE)
    assert (done.rc, seen(done.requests[0].messages, RULE)) == (0, 0)
    asked = home.exec(prompt="One.", timeout=MAY_TAKE)
    assert (asked.rc, seen(asked.requests[0].items, RULE)) == (0, 0)
    assert "Failed" not in asked.stderr
