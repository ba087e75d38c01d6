"""Stop in one agent and go on in the other: the real clients hand work over through Coffer, both ways."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab import clients
from tests.lab.anthropic_script import inline
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ALLOWED, ClaudeHome
from tests.lab.codex import CodexHome
from tests.lab.openai_server import OpenAIServer
from tests.mcp.rig import Rig
from tests.memory.repositories import commit, git

pytestmark = pytest.mark.lab

FIRST: dict[str, Any] = {
    "goal": "Draw the axis of the tide chart",
    "state": "The scale is drawn. Labels overlap at night.",
    "next_steps": ["Move the labels", "Add a test"],
    "files": ["src/chart.py"],
    "open_questions": ["Should the legend stay?"],
}
SECOND: dict[str, Any] = {
    "goal": "Label the axis",
    "state": "The labels moved.",
    "next_steps": ["Write the test"],
}


@pytest.fixture
def rig(claude_home: ClaudeHome) -> Iterator[Rig]:
    """One Coffer for both clients, which work in the same repository."""
    made = Rig.at(claude_home.home)
    stub = str(made.home.root / "bin" / "coffer-mcp")
    state = json.loads((claude_home.home / ".claude.json").read_bytes())
    entry = {"type": "stdio", "command": stub, "args": ["claude"], "env": {}}
    (claude_home.home / ".claude.json").write_text(json.dumps({**state, "mcpServers": {"coffer": entry}}))
    claude_home.set_settings({"permissions": {"allow": [*ALLOWED, "mcp__coffer"]}})
    git(claude_home.cwd, "init", "-q", "-b", "main")
    commit(claude_home.cwd, "src/chart.py", "scale", "Draw the scale")
    made.serve()
    yield made
    made.close()


@pytest.fixture
def codex(rig: Rig, claude_home: ClaudeHome, tmp_path: Path) -> Iterator[CodexHome]:
    if clients.find("codex") is None:
        absent = "the real Codex is not installed (python -m tests.lab.install)"
        pytest.fail(absent) if os.environ.get("CI") == "true" else pytest.skip(absent)
    stub = json.dumps(str(rig.home.root / "bin" / "coffer-mcp"))
    entry = f'[mcp_servers.coffer]\ncommand = {stub}\nargs = ["codex"]\n'
    entry += f'[projects."{claude_home.cwd}"]\ntrust_level = "trusted"\n'
    script = {"scripts": {}, "default": {"text": "Noted."}}
    with OpenAIServer(script) as server, CodexHome(tmp_path / "codex", server, config_extra=entry) as home:
        home.project = claude_home.cwd
        yield home


def claude_calls(home: ClaudeHome, tool: str, arguments: dict[str, Any]) -> str:
    """Let the script of the model call a tool; what the model then saw."""
    made = {"name": f"mcp__coffer__{tool}", "input": arguments}
    done = home.run("-p", f"go {inline({'tools': [made]}, {'text': 'done'})}")
    assert done.rc == 0, done.stderr
    return json.dumps(done.requests[-1].body, ensure_ascii=False)


def codex_calls(home: CodexHome, tool: str, arguments: dict[str, Any]) -> str:
    made = {"call": tool, "namespace": "mcp__coffer", "args": arguments}
    done = home.exec(prompt=f"go @@{json.dumps([{'items': [made]}, {'text': 'done'}])}@@")
    assert done.rc == 0, done.stderr
    return json.dumps(done.requests[-1].items, ensure_ascii=False)


def test_work_goes_from_claude_to_codex_and_back(
    rig: Rig, claude_home: ClaudeHome, codex: CodexHome, anthropic_server: AnthropicServer
) -> None:
    assert "found: false" in codex_calls(codex, "resume", {})
    assert "the handoff of branch main" in claude_calls(claude_home, "set_handoff", FIRST)
    commit(claude_home.cwd, "src/chart.py", "scale, labels", "Move the labels to the left")
    commit(claude_home.cwd, "tests/test_chart.py", "x", "Test the labels")
    seen = codex_calls(codex, "resume", {})
    for words in (
        "written by Claude Code just now",
        FIRST["goal"],
        "Labels overlap at night.",
        "- Add a test",
        "Should the legend stay?",
        "- 2 commits:",
        "Move the labels to the left",
        "Test the labels",
        "- Changed: src/chart.py.",
    ):
        assert words in seen
    assert "which `coffer handoff history` keeps" in codex_calls(codex, "set_handoff", SECOND)
    commit(claude_home.cwd, "CHANGES.md", "x", "Note the labels")
    seen = claude_calls(claude_home, "resume", {})
    for words in ("written by Codex just now", SECOND["goal"], "- 1 commit:", "Note the labels"):
        assert words in seen
    assert FIRST["goal"] not in seen
    assert anthropic_server.breaches == []
    assert "claude set_handoff: done" in rig.log
    assert FIRST["goal"] not in rig.log
