"""`coffer hooks` as a person, a program and an agent call it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coffer.work.agent_settings.agent_client import find_client
from tests.cli.run import Machine, snapshot

SETTINGS = '{\n  "model": "opus",\n  "env": {"ANTHROPIC_API_KEY": "sk-ant-api03-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA"}\n}\n'
COUNT = 6  # of Claude Code of an unknown version
CLIENT = r"""#!/bin/sh
echo "$0 $*" >> "$HOME/calls"
case "$1 $2" in
"mcp add")
  printf '{"mcpServers": {"%s": {"command": "%s", "args": ["%s"]}}}' "$3" "$7" "$8" > "$HOME/.claude.json" ;;
"mcp remove") rm "$HOME/.claude.json" ;;
"--version ") echo "2.1.197 (Claude Code)" ;;
esac
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path / "home", tmp_path / "work", {"PATH": "/usr/bin:/bin"})
    for folder in (made.home, made.folder, made.home / ".claude"):
        folder.mkdir()
    (made.home / ".claude" / "settings.json").write_text(SETTINGS)
    return made


def settings(machine: Machine) -> str:
    return (machine.home / ".claude" / "settings.json").read_text()


def ours(machine: Machine) -> int:
    return settings(machine).count("coffer-hook")


def client(machine: Machine) -> None:
    """A client that notes what it is called with."""
    folder = machine.home.parent / "clients"
    folder.mkdir()
    for name in ("claude", "codex"):
        (folder / name).write_text(CLIENT)
        (folder / name).chmod(0o755)
    machine.environment["PATH"] = f"{folder}:/usr/bin:/bin"


def test_a_dry_run_writes_nothing(machine: Machine) -> None:
    before = snapshot(machine.home)
    for words in (("install", "--dry-run"), ("install", "--json"), ("uninstall", "--dry-run"), ("status",)):
        assert machine.alone("hooks", *words).code == 0
        assert snapshot(machine.home) == before
    said = machine.alone("hooks", "install", "--dry-run", "--yes").out
    assert "+" in said
    assert "coffer-hook claude SessionStart" in said
    assert "only a look" in said
    assert snapshot(machine.home) == before


def test_the_diff_shows_no_secret(machine: Machine) -> None:
    for words in (("--dry-run",), ("--json",)):
        said = machine.alone("hooks", "install", "claude", *words)
        assert "Zm9vYmFy" not in said.out
        assert "redacted" in said.out


def test_a_person_is_asked(machine: Machine) -> None:
    said = machine.alone("hooks", "install", keys="n\r")
    assert "Write this?" in said.out
    assert "Nothing was changed." in said.out
    assert settings(machine) == SETTINGS
    said = machine.alone("hooks", "install", keys="y\r")
    assert "\x1b[32m+" in said.out, "in colour"
    assert "Receipt" in said.out
    assert ours(machine) == COUNT
    assert "Nothing to write" in machine.alone("hooks", "install", keys="").out
    machine.alone("hooks", "uninstall", keys="y\r")
    assert settings(machine) == SETTINGS


def test_without_a_person_yes_is_needed(machine: Machine) -> None:
    for verb in ("install", "uninstall"):
        said = machine.alone("hooks", verb)
        assert said.code == (34 if verb == "install" else 0), "nothing to take out needs nobody"
        assert settings(machine) == SETTINGS
    assert machine.alone("hooks", "install", "--yes").code == 0
    assert machine.alone("hooks", "uninstall").code == 34
    assert ours(machine) == COUNT


@pytest.mark.parametrize("sign", ["CLAUDECODE", "CODEX_THREAD_ID"])
def test_an_agent_can_only_propose(machine: Machine, sign: str) -> None:
    machine.environment[sign] = "1"
    said = machine.alone("hooks", "install", "--yes")
    assert said.code == 34
    assert "+++" in said.out, "what it would be is shown"
    assert settings(machine) == SETTINGS
    assert machine.alone("hooks", "install", "--yes", keys="y\r").code == 34
    del machine.environment[sign]
    machine.alone("hooks", "install", "--yes")
    machine.environment[sign] = "1"
    assert machine.alone("hooks", "uninstall", "--yes").code == 34
    assert ours(machine) == COUNT


def test_one_broken_file_does_not_keep_the_other_agent_from_its_entries(machine: Machine) -> None:
    (machine.home / ".claude" / "settings.json").write_text("{\n  // mine\n}\n")
    (machine.home / ".codex").mkdir()
    said = machine.alone("hooks", "install", "--yes")
    assert said.code == 40
    assert "line 2: there is a comment" in said.err
    assert '"hooks": {' in said.out, "what to paste"
    assert settings(machine) == "{\n  // mine\n}\n"
    assert "coffer-hook codex Stop" in (machine.home / ".codex" / "hooks.json").read_text()
    assert machine.alone("hooks", "uninstall", "--yes").code == 40
    assert not (machine.home / ".codex" / "hooks.json").exists(), "half installed, wholly taken out"


def test_all_means_those_that_are_here(machine: Machine) -> None:
    said = machine.alone("hooks", "install", "--yes", "--json").json
    assert [one["agent"] for one in said["plans"]] == ["claude"]
    assert said["written"] is True
    assert said["plans"][0]["receipt"]
    assert not (machine.home / ".codex").exists()
    assert machine.alone("hooks", "install", "codex", "--yes").code == 0
    found = machine.alone("hooks", "status", "--json").json["agents"]
    assert [(one["agent"], one["installed"], one["current"]) for one in found] == [
        ("claude", True, True),
        ("codex", True, True),
    ]
    assert found[1]["trusted"] is None
    assert any("no `codex` on the PATH" in problem for problem in found[1]["problems"])


def test_none_here(tmp_path: Path) -> None:
    made = Machine(tmp_path / "home", tmp_path, {"PATH": "/usr/bin:/bin"})
    made.home.mkdir()
    said = made.alone("hooks", "install", "--yes")
    assert (said.code, list(made.home.iterdir())) == (0, [])
    assert "Neither Claude Code nor Codex" in said.out


def test_trust_needs_codex(machine: Machine) -> None:
    said = machine.alone("hooks", "install", "codex", "--yes", "--trust")
    assert said.code == 41
    assert (machine.home / ".codex" / "hooks.json").exists()


def test_configured_folders(machine: Machine) -> None:
    other = machine.home.parent / "other place"
    said = machine.alone("hooks", "install", "claude", "--yes", CLAUDE_CONFIG_DIR=str(other))
    assert said.code == 0
    assert (other / "settings.json").exists()
    assert settings(machine) == SETTINGS


def test_the_version_decides_the_form(machine: Machine) -> None:
    client(machine)
    machine.alone("hooks", "install", "claude", "--yes")
    entry = json.loads(settings(machine))["hooks"]["StopFailure"][0]["hooks"][0]
    assert entry["args"] == ["claude", "StopFailure"]


def test_mcp_without_a_server_says_so(machine: Machine) -> None:
    client(machine)
    said = machine.alone("hooks", "install", "claude", "--yes", "--mcp")
    assert said.code == 43
    assert ours(machine) == COUNT + 1, "the hooks are there nevertheless"
    assert "mcp__coffer" not in settings(machine)


def test_mcp_entries_go_through_the_clients(machine: Machine) -> None:
    client(machine)
    server = machine.home / ".coffer" / "bin" / "coffer-mcp"
    server.parent.mkdir(parents=True)
    server.write_text("#!/bin/sh\n")
    server.chmod(0o755)
    said = machine.alone("hooks", "install", "claude", "--yes", "--mcp")
    assert said.code == 0, said.err
    assert json.loads(settings(machine))["permissions"] == {"allow": ["mcp__coffer"]}
    calls = (machine.home / "calls").read_text()
    assert f"mcp add coffer --scope user -- {server} claude" in calls
    said = machine.alone("hooks", "uninstall", "claude", "--yes", "--mcp")
    assert said.code == 0, said.err
    assert settings(machine) == SETTINGS
    assert "mcp remove coffer --scope user" in (machine.home / "calls").read_text()


def test_a_permission_of_the_persons_own_stays(machine: Machine) -> None:
    client(machine)
    server = machine.home / ".coffer" / "bin" / "coffer-mcp"
    server.parent.mkdir(parents=True)
    server.write_text("#!/bin/sh\n")
    server.chmod(0o755)
    own = '{"permissions": {"allow": ["mcp__coffer", "Bash"]}}'
    (machine.home / ".claude" / "settings.json").write_text(own)
    machine.alone("hooks", "install", "claude", "--yes", "--mcp")
    machine.alone("hooks", "uninstall", "claude", "--yes", "--mcp")
    assert settings(machine) == own


def test_a_repositorys_own_command_is_not_the_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("bin", "repository/bin"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "claude").write_text("#!/bin/sh\n")
        (tmp_path / folder / "claude").chmod(0o755)
    monkeypatch.chdir(tmp_path / "repository")
    assert find_client("claude", {"PATH": f"bin:.:./bin::{tmp_path}/bin"}) == tmp_path / "bin" / "claude"
    assert find_client("claude", {"PATH": "bin"}) is None
    assert find_client("claude", {}) is None
