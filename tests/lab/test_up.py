"""`coffer up`, `down` and `doctor` on a machine with both real clients."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from coffer.daemon import life
from coffer.store.home import Home
from tests.cli.run import Done, Machine
from tests.lab import clients
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome
from tests.lab.codex import CodexHome
from tests.lab.openai_server import OpenAIServer

pytestmark = pytest.mark.lab

RULE = "Do not count the tides at night."


@dataclass(frozen=True, slots=True)
class Both:
    """A person's machine with both clients; the home is Claude Code's."""

    claude: ClaudeHome
    codex: CodexHome
    machine: Machine

    @property
    def home(self) -> Home:
        return Home(self.machine.home / ".coffer")

    def coffer(self, *words: str, code: int = 0) -> Done:
        said = self.machine.alone(*words)
        assert said.code == code, said.out[-2000:] + said.err
        return said

    def doctor(self, *words: str) -> dict[tuple[str, str], tuple[str, str]]:
        """(agent, check) → the worst level of its rows, and what they found."""
        found: dict[tuple[str, str], tuple[str, str]] = {}
        levels = ("ok", "warning", "fatal")
        for row in self.machine.alone("doctor", "--json", *words).json["rows"]:
            name = (row["agent"], row["check"])
            level, said = found.get(name, ("ok", ""))
            found[name] = (max(level, row["level"], key=levels.index), said + row["found"])
        return found

    def settings(self) -> dict[str, bytes | None]:
        """What either client was told by a person."""
        files = [self.claude.config / "settings.json", self.machine.home / ".claude.json"]
        files += [self.codex.codex_home / "config.toml", self.codex.codex_home / "hooks.json"]
        return {str(path): path.read_bytes() if path.exists() else None for path in files}

    def ours(self) -> list[psutil.Process]:
        """What runs of Coffer's."""
        found = []
        for process in psutil.process_iter():
            try:
                inside = process.environ()
                if (
                    inside.get("COFFER_HOME") == str(self.home.root)
                    or str(self.home.root) in process.cmdline()
                ):
                    found.append(process)
            except psutil.Error:
                continue  # it ended meanwhile, or is somebody else's
        return found


@pytest.fixture
def both(tmp_path: Path, claude_binary: Path, anthropic_server: AnthropicServer) -> Iterator[Both]:
    if clients.find("codex") is None:
        absent = "the real Codex is not installed (python -m tests.lab.install)"
        pytest.fail(absent) if os.environ.get("CI") == "true" else pytest.skip(absent)
    with (
        ClaudeHome(tmp_path / "claude", anthropic_server, binary=claude_binary) as claude,
        OpenAIServer({"default": {"text": "Noted."}}) as server,
        CodexHome(tmp_path / "codex", server) as codex,
    ):
        environment = {name: said for name, said in claude.env().items() if name not in ("HOME", "TMPDIR")}
        environment |= {"CODEX_HOME": str(codex.codex_home), "LAB_KEY": "none"}
        environment["PATH"] = f"{claude_binary.parent}:{codex.binary.parent}:/usr/bin:/bin"
        made = Both(claude, codex, Machine(claude.home, claude.cwd, environment))
        made.coffer("digest", "add", RULE, "--global", "--yes")
        try:
            yield made
        finally:
            life.stop(made.home)


def test_one_command_and_both_agents_begin_with_the_rule(both: Both) -> None:
    before = both.settings()
    assert "Only shown" in both.coffer("up").out
    assert both.settings() == before
    said = both.coffer("up", "--yes").out
    assert said.count("exit code 0") == 2
    assert f"│ {RULE}" in said
    assert both.settings() != before
    found = both.doctor()
    assert {name: said for name, said in found.items() if said[0] != "ok"} == {}
    assert found["codex", "trust"][1] == "Codex trusts all 6 entries"

    done = both.claude.run("-p", "hello")
    assert (done.rc, done.stderr) == (0, "")
    assert json.dumps(done.requests[0].messages).count(RULE) == 1
    ran = both.codex.exec(prompt="hello")
    assert ran.rc == 0, ran.stderr
    assert str(ran.requests[0].items).count(RULE) == 1
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = both.doctor()
        if not any("never" in found[agent, "deliveries"][1] for agent in ("claude", "codex")):
            break
    assert "confirmed 20" in found["claude", "deliveries"][1]
    assert "confirmed 20" in found["codex", "deliveries"][1]
    assert both.coffer("up", "--yes").out.rstrip().endswith("Everything stands. Nothing was changed.")

    both.coffer("down", "--yes")
    after = both.settings()
    state = str(both.machine.home / ".claude.json")
    assert "coffer" not in (after.pop(state) or b"").decode()
    before.pop(state)  # the client writes to it in every session
    assert after == before
    assert both.ours() == []
    assert both.codex.processes() == []
    assert RULE not in json.dumps(both.claude.run("-p", "hello").requests[0].messages)
    assert RULE not in str(both.codex.exec(prompt="hello").requests[0].items)


def test_down_at_once_leaves_every_byte(both: Both) -> None:
    before = both.settings()
    both.coffer("up", "--yes")
    both.coffer("down", "--yes")
    assert both.settings() == before
    assert [path.name for path in both.codex.codex_home.glob("*.bak")] == []
    assert both.ours() == []


def stale_entry(both: Both) -> None:
    path = both.claude.config / "settings.json"
    path.write_text(path.read_text().replace('"SessionStart"\n', '"--event=SessionStart"\n'))


def servers_gone(both: Both) -> None:
    for binary, scope in ((both.claude.binary, ("--scope", "user")), (both.codex.binary, ())):
        words = ["mcp", "remove", "coffer", *scope]
        run = both.machine.env() | {"COFFER_CHILD": "1"}
        subprocess.run([str(binary), *words], env=run, cwd="/", check=True, capture_output=True)


def test_the_doctor_finds_ten_faults_and_mends_nine(both: Both) -> None:
    both.coffer("up", "--yes")
    home = both.home.root
    stale_entry(both)
    servers_gone(both)
    hooks = both.codex.codex_home / "hooks.json"
    hooks.write_text(hooks.read_text().replace('"timeout": 5', '"timeout": 7', 1))
    life.stop(both.home)
    (home / "bin" / "daemon-command").unlink()
    (home / "bin" / "coffer-hook").write_text("#!/bin/sh\nexit 2\n")
    (home / "bin" / "pipe.py").write_text("")
    for path in (home / "bundles").glob("*/*"):
        path.unlink()
    home.chmod(0o755)
    (home / "config.toml").write_text("[digset]\n")
    found = both.doctor()
    faults: dict[tuple[str, str], Any] = {
        ("claude", "hooks"): "fatal",
        ("claude", "hook run"): "fatal",
        ("claude", "MCP server"): "warning",
        ("codex", "hooks"): "fatal",
        ("codex", "hook run"): "fatal",
        ("codex", "MCP server"): "warning",
        ("", "files"): "fatal",
        ("", "daemon"): "warning",
        ("", "bundle files"): "warning",
        ("", "modes"): "warning",
        ("", "settings"): "warning",
        ("codex", "trust"): "fatal",
    }
    assert {name: said[0] for name, said in found.items() if said[0] != "ok"} == faults
    (home / "config.toml").chmod(0o600)
    both.machine.alone("doctor", "--fix", "--yes", "--json")
    found = both.doctor()
    assert {name: said for name, said in found.items() if said[0] != "ok"} == {
        ("", "settings"): ("warning", found["", "settings"][1])
    }
    assert str(both.codex.exec(prompt="hello").requests[0].items).count(RULE) == 1


def test_a_hook_that_nobody_trusts_is_an_alarm(both: Both) -> None:
    """Lesson 3: Codex passes it over without a word, and `installed` would be all that anybody sees."""
    both.coffer("hooks", "install", "codex", "--yes")
    both.codex.exec(prompt="hello")
    assert both.doctor()["codex", "trust"][0] == "fatal"
    both.machine.alone("doctor", "--fix", "--yes", "--json")
    assert both.doctor()["codex", "trust"][0] == "ok"
    assert str(both.codex.exec(prompt="hello").requests[0].items).count(RULE) == 1
    both.coffer("down", "--yes")
    assert "hooks.state" not in (both.codex.codex_home / "config.toml").read_text()
