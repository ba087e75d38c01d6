"""Whether an agent stands above this process, by variables and by processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coffer.disk.ancestors import VARIABLES, agent_above, named, running_agents


@pytest.mark.parametrize("variable", VARIABLES)
def test_each_variable_counts_alone(variable: str) -> None:
    assert agent_above({variable: "1"}, 1) == VARIABLES[variable]
    assert agent_above({variable: ""}, 1) == ""


def test_variables_that_a_person_sets_for_a_client_are_no_sign() -> None:
    assert agent_above({"CODEX_HOME": "/x", "CLAUDE_CONFIG_DIR": "/y", "ANTHROPIC_API_KEY": "z"}, 1) == ""


YES = [
    (["claude", "/home/u/.local/share/claude/versions/2.1.197"], ["claude", "-p"], "Claude Code"),
    (["2.1.197", "/home/u/.local/share/claude/versions/2.1.197"], ["./x"], "Claude Code"),
    (["node"], ["node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js", "-p", "x"], "Claude Code"),
    (["bun"], ["/opt/bun", "--smol", "/x/claude-code/cli.js"], "Claude Code"),
    (["node"], ["node", "/usr/bin/claude"], "Claude Code"),
    (["codex"], ["/usr/bin/codex", "exec"], "Codex"),
    (["codex-x86_64-un"], ["codex-x86_64-unknown-linux-musl"], "Codex"),
    (["MainThread", "/usr/bin/node"], ["node", "/x/@openai/codex/bin/codex.js"], "Codex"),
]
NO = [
    (["bash"], ["bash", "-c", "claude -p hi"]),
    (["vim"], ["vim", "claude-code/notes.md"]),
    (["node"], ["node", "server.js", "--name", "claude-code"]),
    (["node"], ["node", "/home/u/codex-notes/server.js"]),
    (["claudette"], ["claudette"]),
    (["python3"], ["python3", "/home/u/claude.py"]),
    (["tmux: server"], ["tmux"]),
    ([], []),
]


@pytest.mark.parametrize(("names", "line", "agent"), YES)
def test_agents_are_known_by_program_or_script(names: list[str], line: list[str], agent: str) -> None:
    assert named(names, line) == agent


@pytest.mark.parametrize(("names", "line"), NO)
def test_words_about_an_agent_are_none(names: list[str], line: list[str]) -> None:
    assert named(names, line) == ""


def test_a_process_named_claude_is_seen_from_below(tmp_path: Path) -> None:
    fake = tmp_path / "claude"
    fake.symlink_to("/bin/sleep")
    before = time.time()
    with subprocess.Popen([str(fake), "60"]) as process:
        try:
            assert agent_above({}, process.pid) == agent_above({}, os.getpid()), "itself is not above itself"
            while not any(start >= before - 1 for _, start in running_agents()):
                assert time.time() < before + 10
        finally:
            process.kill()


def test_a_process_that_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert agent_above({}, process.pid) == ""
