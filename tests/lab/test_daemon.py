"""The daemon with the real clients and the hooks as they are installed: nobody runs a command, and the rules arrive."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from coffer.agents.claude_hooks import version_of
from coffer.disk.places import Places
from coffer.work.agent_settings.install import install, plan
from coffer.work.setup.status import Clients, agents_status, open_sessions
from tests.bundle.desk import HARD, LATER, times, write_rules
from tests.daemon.rig import RULE, SAID, Rig, eventually
from tests.lab import clients
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome
from tests.lab.codex import CodexHome
from tests.lab.openai_server import OpenAIServer
from tests.lab.test_delivery_lab import say

pytestmark = pytest.mark.lab


class Installed(Rig):
    """A machine on which `coffer up` was said yes to, with hooks that wait for a busy machine."""

    def put_in(self, agent: Literal["claude", "codex"], places: Places) -> None:
        said = clients.CLIENTS[agent].version
        assert install(plan(agent, places, self.home, version_of(said)), self.home) is not None
        script = self.home.root / "bin" / "hook.py"
        text = script.read_text()
        for name in ("DAEMON", "WHOLE", "FILES_FIRST"):
            text = re.sub(rf"(?m)^{name} = .*$", f"{name} = 4.0", text)
        script.write_text(text)

    def states(self, session: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for one in self.deliveries():
            if session in one.transcript:
                found.setdefault(one.event, []).append(one.state)
        return found


@pytest.fixture
def rig(claude_home: ClaudeHome) -> Iterator[Installed]:
    rig = Installed(claude_home.home)
    git(claude_home.cwd)
    rig.put_in("claude", places(claude_home))
    yield rig
    rig.end()


def places(home: ClaudeHome) -> Places:
    return Places(home.config, home.home / ".codex")


def git(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")


def test_a_session_of_claude_gets_the_rules_and_what_changes(
    rig: Installed, claude_home: ClaudeHome, anthropic_server: AnthropicServer
) -> None:
    write_rules(claude_home.home, rig.home, HARD)
    with claude_home.interactive() as screen:  # cold: its first hook starts the daemon
        say(claude_home, screen, anthropic_server, "one")
        eventually(rig.process)
        asked = say(claude_home, screen, anthropic_server, "two")
        assert [times(one.messages, HARD) for one in asked] == [1]
        write_rules(claude_home.home, rig.home, HARD, LATER)
        asked = say(claude_home, screen, anthropic_server, "three")
        assert [(times(one.messages, HARD), times(one.messages, LATER)) for one in asked] == [(1, 1)]
        asked = say(claude_home, screen, anthropic_server, "four")
        assert [times(one.messages, LATER) for one in asked] == [1]
        (path,) = claude_home.transcripts()
        eventually(lambda: "confirmed" in rig.states(path.stem).get("UserPromptSubmit", []))
        (found,) = open_sessions(rig.home, places(claude_home), rig.environment)
        assert found.deliveries["confirmed"] >= 1
        assert found.listed.found.id == path.stem
        screen.exit()
    again = claude_home.run("-p", "hello")
    assert [times(one.messages, HARD) for one in again.requests] == [1]
    eventually(lambda: rig.states(again.session_id) == {"SessionStart:startup": ["confirmed"]})
    status = agents_status(rig.home, places(claude_home), Clients({}, None))[0]
    assert status.hooks.installed
    assert time.time() - status.fired < 60
    assert status.confirmed > 0
    assert status.silent == ""
    assert anthropic_server.breaches == []


@pytest.fixture
def codex(tmp_path: Path, rig: Installed) -> Iterator[CodexHome]:
    if clients.find("codex") is None:
        absent = "the real Codex is not installed (python -m tests.lab.install)"
        pytest.fail(absent) if os.environ.get("CI") == "true" else pytest.skip(absent)
    with (
        OpenAIServer({"scripts": {}, "default": {"text": "Noted."}}) as server,
        CodexHome(tmp_path, server, hooks={}) as home,
    ):
        git(home.project)
        (home.codex_home / "hooks.json").unlink()
        rig.put_in("codex", Places(tmp_path / "none", home.codex_home))
        yield home


def test_the_third_correction_reaches_the_other_agent_with_nobody_running_a_command(
    rig: Installed, claude_home: ClaudeHome, codex: CodexHome, anthropic_server: AnthropicServer
) -> None:
    words = ("fix the parser", *SAID)
    did = "I committed it with a co-author line."
    anthropic_server.play(
        {"scripts": {said: [{"text": f"{number}: {did}"}] for number, said in enumerate(words)}}
    )
    first = codex.exec(prompt="One.")
    assert first.rc == 0, first.stderr
    with claude_home.interactive() as screen:
        for number, said in enumerate(words):
            screen.send(said)
            screen.wait(f"● {number}: I committed")
            claude_home.wait_status("idle")
        eventually(lambda: any(one.startswith("active") for one in rig.rules(claude_home.cwd)))
        screen.exit()
    (rule,) = (one.removeprefix("active: ") for one in rig.rules(claude_home.cwd))
    assert RULE in rule.lower()
    again = codex.resume(codex.thread(0), prompt="Two.")
    assert [times(one.items, rule) for one in again.requests] == [1]
    fresh = codex.exec(prompt="Three.")
    assert [times(one.items, rule) for one in fresh.requests] == [1]
    thread = codex.thread()
    eventually(lambda: rig.states(thread) == {"SessionStart:startup": ["confirmed"]})
    assert len(rig.daemons()) == 1
