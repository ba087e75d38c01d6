"""The MCP server in the real clients: its tools are there in the first turn, a proposal ends in the inbox.

In both the script of the model calls `propose_rule` with a ticket. "Cold": no daemon runs, the pipe starts it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.lab import clients
from tests.lab.anthropic_script import inline
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ALLOWED, ClaudeHome
from tests.lab.codex import CodexHome
from tests.lab.openai_server import OpenAIServer
from tests.mcp.rig import TOOLS as COFFERS
from tests.mcp.rig import Rig, wait_until
from tests.mcp.test_tools import RULE, ticket_for

pytestmark = pytest.mark.lab

TOOLS = {f"mcp__coffer__{name}" for name in COFFERS}
STATES = pytest.mark.parametrize("cold", [False, True], ids=["warm", "cold"])


def begin(rig: Rig, project: Path, *, cold: bool) -> str:
    """Make the folder a project and bring the daemon into its state; a ticket for a turn in it."""
    (project / ".git").mkdir()
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    if cold:
        rig.startable()
    else:
        rig.serve()
        with rig.pipe(project) as first:  # of another session: the daemon has imported what it needs
            first.open()
            first.call("restore", id="abcdef")
    return ticket_for(rig, project)


def proposed(rig: Rig, project: Path) -> list[tuple[str, str]]:
    return [(rule.state, rule.text) for rule in rig.desktop.rules(project)]


@pytest.fixture
def claude(claude_home: ClaudeHome) -> Iterator[Rig]:
    rig = Rig.at(claude_home.home)
    state = json.loads((claude_home.home / ".claude.json").read_bytes())
    stub = {
        "type": "stdio",
        "command": str(rig.home.root / "bin" / "coffer-mcp"),
        "args": ["claude"],
        "env": {},
    }
    (claude_home.home / ".claude.json").write_text(json.dumps({**state, "mcpServers": {"coffer": stub}}))
    claude_home.set_settings({"permissions": {"allow": [*ALLOWED, "mcp__coffer"]}})
    yield rig
    rig.close()


def call(ticket: str) -> str:
    """A prompt whose script proposes a rule."""
    made = {"name": "mcp__coffer__propose_rule", "input": {"ticket": ticket, **RULE}}
    return f"go {inline({'tools': [made]}, {'text': 'done'})}"


@STATES
def test_claude_has_the_tools_in_its_first_turn_and_proposes(
    claude: Rig, claude_home: ClaudeHome, anthropic_server: AnthropicServer, *, cold: bool
) -> None:
    ticket = begin(claude, claude_home.cwd, cold=cold)
    done = claude_home.run("-p", call(ticket))
    assert done.rc == 0, done.stderr
    first = done.requests[0].body or {}
    assert {tool["name"] for tool in first["tools"]} >= TOOLS
    assert "Coffer keeps rules, notes and handoffs" in json.dumps(first)
    assert proposed(claude, claude_home.cwd) == [("pending", RULE["prohibition"])]
    (item,) = claude.desktop.inbox(claude_home.cwd).items()
    assert item.kind == "pending"
    assert "once the person has accepted it" in json.dumps(done.requests[-1].body)
    assert anthropic_server.breaches == []


def test_claude_on_a_terminal_has_the_tools_in_its_first_turn(
    claude: Rig, claude_home: ClaudeHome, anthropic_server: AnthropicServer
) -> None:
    ticket = begin(claude, claude_home.cwd, cold=True)
    with claude_home.interactive() as screen:
        screen.wait("❯")
        screen.send(call(ticket))
        wait_until(lambda: proposed(claude, claude_home.cwd) == [("pending", RULE["prohibition"])])
    first = next(
        request.body
        for request in anthropic_server.requests
        if request.body and len(request.body.get("tools", ())) > 5
    )
    assert {tool["name"] for tool in first["tools"]} >= TOOLS


def test_claude_without_the_permission_refuses_the_call(claude: Rig, claude_home: ClaudeHome) -> None:
    ticket = begin(claude, claude_home.cwd, cold=False)
    claude_home.set_settings({"permissions": {"allow": [*ALLOWED]}})
    done = claude_home.run("-p", call(ticket))
    assert "haven't granted it yet" in json.dumps(done.requests[-1].body)
    assert proposed(claude, claude_home.cwd) == []


@pytest.fixture
def openai_server() -> Iterator[OpenAIServer]:
    with OpenAIServer({"scripts": {}, "default": {"text": "Noted."}}) as server:
        yield server


@pytest.fixture
def codex(tmp_path: Path, openai_server: OpenAIServer) -> Iterator[tuple[Rig, CodexHome]]:
    (tmp_path / "home").mkdir()
    rig = Rig.at(tmp_path / "home")
    with codex_home(tmp_path, openai_server, rig) as home:
        yield rig, home
    rig.close()


@contextmanager
def codex_home(folder: Path, server: OpenAIServer, rig: Rig) -> Iterator[CodexHome]:
    """Codex with the server of this machine."""
    if clients.find("codex") is None:
        absent = "the real Codex is not installed (python -m tests.lab.install)"
        pytest.fail(absent) if os.environ.get("CI") == "true" else pytest.skip(absent)
    stub = json.dumps(str(rig.home.root / "bin" / "coffer-mcp"))
    entry = f'[mcp_servers.coffer]\ncommand = {stub}\nargs = ["codex"]\n'
    with CodexHome(folder, server, config_extra=entry) as home:
        yield home


def tools_of(body: dict[str, Any]) -> set[str]:
    """Names of tools; those of a server stand in its namespace."""
    spaces = [tool for tool in body["tools"] if tool.get("type") == "namespace"]
    return {f"{space['name']}__{tool['name']}" for space in spaces for tool in space["tools"]}


@STATES
def test_codex_has_the_tools_in_its_first_turn_and_proposes(
    codex: tuple[Rig, CodexHome], openai_server: OpenAIServer, *, cold: bool
) -> None:
    rig, home = codex
    ticket = begin(rig, home.project, cold=cold)
    made = {"call": "propose_rule", "namespace": "mcp__coffer", "args": {"ticket": ticket, **RULE}}
    done = home.exec(prompt=f"go @@{json.dumps([{'items': [made]}, {'text': 'done'}])}@@")
    assert done.rc == 0, done.stderr
    assert tools_of(done.requests[0].body) >= TOOLS
    assert proposed(rig, home.project) == [("pending", RULE["prohibition"])]
    assert "once the person has accepted it" in json.dumps(done.requests[-1].items, ensure_ascii=False)
    assert openai_server.breaches == []


NOTE = "The harbour's gateway drops more than ten calls a second, so we retry with backoff."


def test_what_one_agent_remembers_the_other_recalls(
    claude: Rig, claude_home: ClaudeHome, tmp_path: Path, openai_server: OpenAIServer
) -> None:
    begin(claude, claude_home.cwd, cold=False)
    kept = {"name": "mcp__coffer__remember", "input": {"text": NOTE, "scope": "global"}}
    done = claude_home.run("-p", f"go {inline({'tools': [kept]}, {'text': 'done'})}")
    assert "in the global memory" in json.dumps(done.requests[-1].body)
    (file,) = (claude.home.root / "memory" / "global" / "knowledge").iterdir()
    assert re.search(
        r"^source: agent\nagent: claude\nsession: [0-9a-f-]{36}$", file.read_text(), re.MULTILINE
    )
    folder = tmp_path / "codex"
    (folder / "home").mkdir(parents=True)
    with codex_home(folder, openai_server, claude) as home:
        asked = {"call": "recall", "namespace": "mcp__coffer", "args": {"query": "how do we retry calls?"}}
        recalled = home.exec(prompt=f"go @@{json.dumps([{'items': [asked]}, {'text': 'done'}])}@@")
    said = json.dumps(recalled.requests[-1].items, ensure_ascii=False)
    assert NOTE in said
    assert "noted by claude (an agent's words)" in said
    assert openai_server.breaches == []
