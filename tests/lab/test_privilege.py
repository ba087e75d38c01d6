"""What a model of the real clients may not do: its `coffer trust --yes` only becomes a proposal."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coffer.store import trust
from coffer.store.db import database
from coffer.store.home import Home
from coffer.store.proposals import open_proposals
from tests.lab import clients
from tests.lab.anthropic_script import inline
from tests.lab.codex import CodexHome
from tests.lab.openai_server import OpenAIServer

if TYPE_CHECKING:
    from tests.lab.claude import ClaudeHome

pytestmark = pytest.mark.lab

RULE = "Do not push to main."
DIGEST = f"""\
# Behavioral Digest
<!-- cozempic: behavioral-digest v1 -->

## Active Rules — Hard (always injected)

### [R001] No pushes
**Priority**: HARD
**Importance**: 3
**Rule**: {RULE}
"""
COFFER = shlex.join([sys.executable, "-m", "coffer.cli.main", "trust", "--yes"])
WAYS = {
    "as it is": COFFER,
    "its variables unset": f'env -i HOME="$HOME" PATH="$PATH" {COFFER}',
    "on a terminal of its own": (
        f"script -q /dev/null {COFFER}"
        if sys.platform == "darwin"
        else f"script -qec {shlex.quote(COFFER)} /dev/null"
    ),
}


def project(folder: Path) -> Path:
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    path = folder / ".cozempic" / "behavioral-digest.md"
    path.parent.mkdir()
    path.write_text(DIGEST)
    return path


def only_proposed(home: Path, path: Path, agent: str) -> None:
    with database(Home(home / ".coffer"), write=False) as connection:
        [one] = open_proposals(connection)
        assert trust.rows(connection, str(path)) == {}
    assert (one.verb, one.by, one.digest, one.arguments["texts"]) == ("trust", agent, str(path), [RULE])


@pytest.mark.parametrize("way", WAYS)
def test_claude_code_only_proposes(claude_home: ClaudeHome, way: str) -> None:
    path = project(claude_home.cwd)
    call = {"name": "Bash", "input": {"command": WAYS[way], "description": "trust the rules"}}
    done = claude_home.run("-p", f"go {inline({'tools': [call]}, {'text': 'done'})}")
    assert done.stdout == "done\n"
    assert "for the person to decide" in json.dumps(done.requests[-1].messages)
    only_proposed(claude_home.home, path, "Claude Code")


@pytest.mark.parametrize("way", WAYS)
def test_codex_only_proposes(tmp_path: Path, way: str) -> None:
    if clients.find("codex") is None:
        absent = "the real Codex is not installed (python -m tests.lab.install)"
        pytest.fail(absent) if os.environ.get("CI") == "true" else pytest.skip(absent)
    turns = [
        {"items": [{"call": "exec_command", "args": {"cmd": WAYS[way], "yield_time_ms": 20_000}}]},
        {"text": "done"},
    ]
    with (
        OpenAIServer({"scripts": {"trust": turns}, "default": {"text": "?"}}) as server,
        CodexHome(tmp_path.resolve(), server) as home,
    ):
        path = project(home.project)
        done = home.exec(prompt="@@trust@@ go")
        assert done.stdout.strip() == "done", done.stderr
        assert "for the person to decide" in json.dumps(done.requests[-1].items)
        only_proposed(home.home, path, "Codex")
