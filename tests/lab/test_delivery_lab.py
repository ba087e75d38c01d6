"""Delivery to the real clients by a hook written by hand: the model sees each rule once, and the records say so."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from coffer.disk.places import Places
from coffer.store.home import Home
from tests.bundle.desk import HARD, LATER, SOFT, Record, hooks, times, write_rules
from tests.lab import clients
from tests.lab.anthropic_script import inline
from tests.lab.anthropic_server import AnthropicServer, Request
from tests.lab.claude import ClaudeHome, Tmux
from tests.lab.codex import CodexHome
from tests.lab.codex import Finished as CodexFinished
from tests.lab.openai_server import OpenAIServer
from tests.lab.test_claude_smoke import COMPACT

pytestmark = pytest.mark.lab

STARTUP, RESUME, FORK, COMPACTED, CLEARED = (
    f"SessionStart:{source}" for source in ("startup", "resume", "fork", "compact", "clear")
)
CODEX_SCRIPTS = {
    "full": [{"text": "That was much.", "usage": {"input": 60000, "output": 20}}],
    "middle": [
        {
            "items": [{"call": "exec_command", "args": {"cmd": "echo x"}}],
            "usage": {"input": 60000, "output": 20},
        },
        {"text": "Read."},
    ],
    "spawn": [
        {
            "items": [
                {"call": "spawn_agent", "namespace": "multi_agent_v1", "args": {"message": "@@child@@ Go."}}
            ]
        },
        {"delay": 1.5, "items": [{"call": "exec_command", "args": {"cmd": "echo waiting"}}]},
        {"text": "The child counted."},
    ],
    "child": [{"text": "One."}],
}


@pytest.fixture
def claude_record(claude_home: ClaudeHome) -> Record:
    home = Home(claude_home.home / ".coffer")
    home.make(home.root)
    write_rules(claude_home.home, home, HARD, SOFT)
    ours = hooks(home, "claude", claude_home.root / "our hook.sh")
    claude_home.set_settings({"permissions": {"allow": ["Bash", "Agent"]}, "hooks": ours})
    return Record(home, Places(claude_home.config, claude_home.home / ".codex"))


def test_claude_runs(
    claude_home: ClaudeHome, claude_record: Record, anthropic_server: AnthropicServer
) -> None:
    first = claude_home.run("-p", "hello")
    path = claude_home.transcript(first.session_id)
    assert [times(r.messages, HARD) for r in first.requests] == [1]
    assert claude_record.states("claude", path) == [(STARTUP, "confirmed")]

    again = claude_home.run("-p", "again", "--resume", first.session_id)
    assert [times(r.messages, HARD) for r in again.requests] == [1]
    assert claude_record.states("claude", path)[1:] == [(RESUME, "held")]

    write_rules(claude_home.home, claude_record.home, HARD, LATER)
    third = claude_home.run("-p", "third", "--resume", first.session_id)
    assert [(times(r.messages, HARD), times(r.messages, LATER)) for r in third.requests] == [(1, 1)]
    assert times(third.requests[0].messages, f"no longer applies: {SOFT}") == 1
    assert claude_record.states("claude", path)[2:] == [(RESUME, "confirmed")]

    fork = claude_home.run("-p", "fork", "--resume", first.session_id, "--fork-session")
    assert fork.session_id != first.session_id
    assert [(times(r.messages, HARD), times(r.messages, LATER)) for r in fork.requests] == [(1, 1)]
    assert claude_record.states("claude", claude_home.transcript(fork.session_id)) == [(RESUME, "held")]

    write_rules(claude_home.home, claude_record.home, HARD, LATER, SOFT)
    fork = claude_home.run("-p", "fork", "--resume", first.session_id, "--fork-session")
    assert [(times(r.messages, HARD), times(r.messages, LATER)) for r in fork.requests] == [(1, 1)]
    assert claude_record.states("claude", claude_home.transcript(fork.session_id)) == [(RESUME, "confirmed")]
    assert len(claude_record.states("claude", path)) == 3
    assert anthropic_server.breaches == []


def test_claude_on_the_screen(
    claude_home: ClaudeHome, claude_record: Record, anthropic_server: AnthropicServer
) -> None:
    call = {"description": "count", "prompt": "@@sub@@ count", "subagent_type": "general-purpose"}
    anthropic_server.play({"rules": [COMPACT], "scripts": {"sub": [{"text": "sub done"}]}})
    with claude_home.interactive() as screen:
        asked = say(
            claude_home, screen, anthropic_server, "go", {"tools": [{"name": "Agent", "input": call}]}
        )
        assert [times(r.messages, HARD) for r in asked] == [1, 1, 1]
        screen.send("/compact")
        screen.wait("Compacted")
        claude_home.wait_status("idle")
        asked = say(claude_home, screen, anthropic_server, "still there?")
        assert [times(r.messages, HARD) for r in asked] == [1]
        write_rules(claude_home.home, claude_record.home, HARD, SOFT, LATER)
        asked = say(claude_home, screen, anthropic_server, "changed?")
        assert [(times(r.messages, HARD), times(r.messages, LATER)) for r in asked] == [(1, 1)]
        screen.send("/clear")
        asks = claude_record.asked
        until = time.monotonic() + 60
        while asks()[-1]["source"] != "clear" and time.monotonic() < until:
            time.sleep(0.1)
        asked = say(claude_home, screen, anthropic_server, "cleared?")
        assert [(times(r.messages, HARD), times(r.messages, LATER)) for r in asked] == [(1, 1)]
        screen.exit()
    first, cleared = (Path(path) for path in dict.fromkeys(one["transcript_path"] for one in asks()))
    assert claude_record.states("claude", first) == [
        (STARTUP, "confirmed"),
        (COMPACTED, "confirmed"),
        ("UserPromptSubmit", "confirmed"),
    ]
    assert claude_record.states("claude", cleared) == [(CLEARED, "confirmed")]
    [child] = {one["agent_id"] for one in asks()} - {None}
    assert claude_record.states("claude", first, child) == [("SubagentStart", "confirmed")]
    assert anthropic_server.breaches == []


def say(
    home: ClaudeHome, screen: Tmux, server: AnthropicServer, word: str, *turns: dict[str, object]
) -> list[Request]:
    """Say something and wait for its end; the requests that came of it."""
    before = len(server.requests)
    mark = f"answer to {word.strip('?')}"
    screen.send(f"{word} {inline(*turns, {'text': mark})}")
    screen.wait(f"● {mark}")
    home.wait_status("idle")
    return server.messages_requests(before)


@pytest.fixture
def codex_server() -> Iterator[OpenAIServer]:
    with OpenAIServer({"scripts": CODEX_SCRIPTS, "default": {"text": "Noted."}}) as server:
        yield server
        assert server.breaches == []


@pytest.fixture
def codex_home(tmp_path: Path, codex_server: OpenAIServer) -> Iterator[CodexHome]:
    if clients.find("codex") is None:
        absent = "the real Codex is not installed (python -m tests.lab.install)"
        pytest.fail(absent) if os.environ.get("CI") == "true" else pytest.skip(absent)
    ours = hooks(Home(tmp_path / "coffer"), "codex", tmp_path / "our hook.sh")
    limit = "model_auto_compact_token_limit = 50000"
    with CodexHome(tmp_path, codex_server, hooks=ours, config_extra=limit) as home:
        yield home


@pytest.fixture
def codex_record(tmp_path: Path, codex_home: CodexHome) -> Record:
    home = Home(tmp_path / "coffer")
    home.make(home.root)
    write_rules(codex_home.home, home, HARD, SOFT)
    return Record(home, Places(codex_home.home / ".claude", codex_home.codex_home))


def once(done: CodexFinished, *texts: str) -> bool:
    """Whether each request held each text once."""
    assert done.rc == 0, done.stderr
    return all(times(request.items, text) == 1 for request in done.requests for text in texts)


def test_codex_runs(codex_home: CodexHome, codex_record: Record) -> None:
    assert once(codex_home.exec(prompt="hello"), HARD, SOFT)
    [first] = codex_home.rollouts()
    thread = codex_home.thread()
    assert codex_record.states("codex", first) == [(STARTUP, "confirmed")]
    assert once(codex_home.resume(thread, prompt="again"), HARD, SOFT)
    assert codex_record.states("codex", first)[1:] == [(RESUME, "held")]

    write_rules(codex_home.home, codex_record.home, HARD, LATER)
    assert once(codex_home.resume(thread, prompt="third"), HARD, LATER, f"no longer applies: {SOFT}")
    assert codex_record.states("codex", first)[2:] == [(RESUME, "confirmed")]

    assert once(codex_home.fork(thread, prompt="fork"), HARD, LATER)
    assert [codex_record.states("codex", path) for path in codex_home.rollouts() if path != first] == [
        [(FORK, "held")]
    ]
    assert once(codex_home.exec("--ephemeral", prompt="hello"), HARD, LATER)
    assert [(one.event, one.state) for one in codex_record.sent(None)] == [(STARTUP, "unverifiable")]


def test_codex_compacts_and_spawns(codex_home: CodexHome, codex_record: Record) -> None:
    assert once(codex_home.exec(prompt="@@full@@ read"), HARD)
    [path] = codex_home.rollouts()
    assert once(codex_home.resume(codex_home.thread(), prompt="on"), HARD)
    assert codex_record.states("codex", path) == [
        (STARTUP, "confirmed"),
        (RESUME, "held"),
        (COMPACTED, "confirmed"),
    ]
    assert once(codex_home.exec(prompt="@@middle@@ read"), HARD)
    assert codex_record.states("codex", codex_home.rollouts()[-1]) == [
        (STARTUP, "confirmed"),
        (COMPACTED, "confirmed"),
    ]
    assert once(codex_home.exec(prompt="@@spawn@@ go"), HARD)
    [asked] = [one for one in codex_record.asked() if one["event"] == "SubagentStart"]
    child = codex_record.states("codex", Path(asked["transcript_path"]), asked["agent_id"])
    assert child == [("SubagentStart", "confirmed")]
