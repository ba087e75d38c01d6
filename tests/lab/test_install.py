"""install and uninstall seen by the real clients: what they run, and whose hooks they trust."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coffer.disk.places import Places
from coffer.store.home import Home
from coffer.work.agent_settings import codex_trust, mcp_entries
from coffer.work.agent_settings.agent_client import claude_version
from coffer.work.agent_settings.hook_status import status
from coffer.work.agent_settings.install import hook_path, plan
from tests.cli.run import Done, Machine
from tests.lab import clients
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome
from tests.lab.codex import CodexHome
from tests.lab.openai_server import OpenAIServer

pytestmark = pytest.mark.lab

STUB = """#!/bin/sh
printf '%s ' "$@" >> "${0%/*}/fired"
said='"hookEventName":"SessionStart","additionalContext":"RULE-42"'
[ "$2" = SessionStart ] && printf '{"hookSpecificOutput":{%s}}' "$said"
exit 0
"""
"""Stands in for the stub that install wrote: it notes the event, and gives the model a rule."""


def spy(coffer: Path) -> Path:
    """Put the spy in the stub's place; where it notes what was fired."""
    stub = coffer / "bin" / "coffer-hook"
    stub.write_text(STUB)
    stub.chmod(0o755)
    return coffer / "bin" / "fired"


def events(fired: Path) -> list[str]:
    """The events that were noted since, in order."""
    if not fired.exists():
        return []
    words = fired.read_text().split()
    fired.unlink()
    return words[1::2]


def coffer(root: Path, home: Path, *words: str, path: Path, **environment: str) -> Done:
    folder = root / "at"
    folder.mkdir(exist_ok=True)
    machine = Machine(home, folder, environment)
    return machine.alone(*words, PATH=f"{path.parent}:{os.environ['PATH']}")


@pytest.mark.parametrize("odd", [False, True])
def test_claude_fires_what_was_installed_and_nothing_after_uninstall(
    tmp_path: Path, claude_binary: Path, anthropic_server: AnthropicServer, *, odd: bool
) -> None:
    with ClaudeHome(tmp_path, anthropic_server, binary=claude_binary) as home:
        coffers = tmp_path / ('a b\'s "c"' if odd else "coffer")
        before = (home.config / "settings.json").read_bytes()
        said = coffer(
            tmp_path,
            home.home,
            "hooks",
            "install",
            "claude",
            "--yes",
            path=claude_binary,
            COFFER_HOME=str(coffers),
        )
        assert said.code == 0, said.err
        fired = spy(coffers)
        entry = json.loads((home.config / "settings.json").read_bytes())["hooks"]["SessionStart"][0]["hooks"][
            0
        ]
        assert entry["args"] == ["claude", "SessionStart"], "the exec form, since this version takes it"
        done = home.run("-p", "hello")
        assert done.rc == 0, done.stderr
        assert done.stderr == ""
        assert events(fired) == ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]
        assert "RULE-42" in json.dumps(done.requests[0].messages)
        said = coffer(
            tmp_path,
            home.home,
            "hooks",
            "uninstall",
            "claude",
            "--yes",
            path=claude_binary,
            COFFER_HOME=str(coffers),
        )
        assert said.code == 0, said.err
        assert (home.config / "settings.json").read_bytes() == before
        done = home.run("-p", "hello")
        assert events(fired) == []
        assert "RULE-42" not in json.dumps(done.requests[0].messages)


def test_claude_takes_the_shell_form_too(
    tmp_path: Path, claude_binary: Path, anthropic_server: AnthropicServer
) -> None:
    """What is written where the client can't be asked, with a path that a shell would take apart."""
    with ClaudeHome(tmp_path, anthropic_server, binary=claude_binary) as home:
        coffers = Home(tmp_path / 'a b\'s "c" $HOME')
        places = Places(home.config, tmp_path / "none")
        proposal = plan("claude", places, coffers, None)
        assert proposal.after is not None
        (home.config / "settings.json").write_text(proposal.after)
        hook_path(coffers).parent.mkdir(parents=True)
        fired = spy(coffers.root)
        done = home.run("-p", "hello")
        assert events(fired) == ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]
        assert "RULE-42" in json.dumps(done.requests[0].messages)
        assert status("claude", places, coffers, (2, 1, 197)).stale == 0


def test_the_version_of_claude_is_asked(claude_binary: Path, tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": str(claude_binary.parent)}
    assert claude_version(environment) == tuple(int(n) for n in clients.CLIENTS["claude"].version.split("."))
    assert claude_version({"HOME": str(tmp_path), "PATH": str(tmp_path)}) is None


def test_claude_mcp_entries(tmp_path: Path, claude_binary: Path, anthropic_server: AnthropicServer) -> None:
    with ClaudeHome(tmp_path, anthropic_server, binary=claude_binary) as home:
        environment = home.env() | {"PATH": f"{claude_binary.parent}:/usr/bin:/bin"}
        coffers = Home(tmp_path / "a b")
        server = mcp_entries.server_path(coffers)
        server.parent.mkdir(parents=True)
        server.write_text("#!/bin/sh\nexit 0\n")
        server.chmod(0o755)
        assert not mcp_entries.look_up("claude", environment).present
        assert mcp_entries.add("claude", coffers, environment)
        assert not mcp_entries.add("claude", coffers, environment)
        said = json.loads((home.home / ".claude.json").read_bytes())["mcpServers"]["coffer"]
        assert (said["command"], said["args"]) == (str(server), ["claude"])
        assert mcp_entries.remove("claude", environment)
        assert not mcp_entries.remove("claude", environment)
        assert "coffer" not in json.loads((home.home / ".claude.json").read_bytes()).get("mcpServers", {})


@pytest.fixture
def codex(tmp_path: Path) -> Iterator[CodexHome]:
    if clients.find("codex") is None:
        absent = "the real Codex is not installed (python -m tests.lab.install)"
        pytest.fail(absent) if os.environ.get("CI") == "true" else pytest.skip(absent)
    with OpenAIServer({"default": {"text": "Noted."}}) as server, CodexHome(tmp_path, server) as home:
        yield home


def ask(codex: CodexHome, root: Path, *words: str) -> Done:
    environment = {
        "CODEX_HOME": str(codex.codex_home),
        "COFFER_HOME": str(root / "coffer"),
        "LAB_KEY": "none",
    }
    return coffer(root, codex.home, "hooks", *words, path=codex.binary, **environment)


def state(codex: CodexHome, root: Path) -> Any:
    return ask(codex, root, "status", "codex", "--json").json["agents"][0]


def test_codex_runs_them_once_they_are_trusted(codex: CodexHome, tmp_path: Path) -> None:
    said = ask(codex, tmp_path, "install", "codex", "--yes")
    assert said.code == 0, said.err
    assert "Hooks need review" in said.out
    fired = spy(tmp_path / "coffer")
    found = state(codex, tmp_path)
    assert (found["installed"], found["current"], found["trusted"]) == (True, True, False)
    assert "not trusted: run /hooks" in ask(codex, tmp_path, "status", "codex").out
    done = codex.exec(prompt="One.")
    assert events(fired) == []
    assert "RULE-42" not in str(done.requests[0].items)

    config = (codex.codex_home / "config.toml").read_text()
    said = ask(codex, tmp_path, "install", "codex", "--yes", "--trust")
    assert said.code == 0, said.err
    assert "Codex trusts the entries." in said.out
    assert (
        (codex.codex_home / "config.toml").read_text().startswith(config.rstrip("\n").split("[projects")[0])
    )
    spy(tmp_path / "coffer")  # install has repaired the stub
    found = state(codex, tmp_path)
    assert (found["trusted"], set(found["trust"]["states"].values())) == (True, {"trusted"})
    done = codex.exec(prompt="Two.")
    assert events(fired) == ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]
    assert "RULE-42" in str(done.requests[0].items)
    assert "timeout" not in done.stderr

    assert ask(codex, tmp_path, "uninstall", "codex", "--yes").code == 0
    assert not (codex.codex_home / "hooks.json").exists()
    codex.exec(prompt="Three.")
    assert events(fired) == []


THEIRS = {"hooks": [{"type": "command", "command": "echo THEIRS-7"}]}


def test_a_foreign_hook_stays_trusted_through_install_and_uninstall(codex: CodexHome, tmp_path: Path) -> None:
    file = codex.codex_home / "hooks.json"
    file.write_text(json.dumps({"hooks": {"SessionStart": [THEIRS]}}, indent=1))
    codex.trust_hooks()

    def theirs() -> str:
        done = codex.exec(prompt="Go.")
        return "yes" if "THEIRS-7" in str(done.requests[0].items) else "no"

    assert theirs() == "yes"
    before = file.read_bytes()
    assert ask(codex, tmp_path, "install", "codex", "--yes", "--trust").code == 0
    fired = spy(tmp_path / "coffer")
    assert theirs() == "yes"
    assert "SessionStart" in events(fired)

    value = json.loads(file.read_bytes())
    value["hooks"]["SessionStart"].append({"hooks": [{"type": "command", "command": "echo BEHIND-9"}]})
    file.write_text(json.dumps(value, indent=2))
    codex.trust_hooks()
    assert ask(codex, tmp_path, "uninstall", "codex", "--yes").code == 0
    done = codex.exec(prompt="Go.")
    assert "THEIRS-7" in str(done.requests[0].items)
    assert "BEHIND-9" in str(done.requests[0].items), "the hook behind ours keeps its place"
    assert events(fired) == []
    assert json.loads(file.read_bytes())["hooks"]["SessionStart"][:2] == [THEIRS, {"hooks": []}]

    file.write_bytes(before)
    assert ask(codex, tmp_path, "install", "codex", "--yes").code == 0
    assert ask(codex, tmp_path, "uninstall", "codex", "--yes").code == 0
    assert file.read_bytes() == before
    assert theirs() == "yes"


def test_a_person_is_asked_for_trust_at_once(codex: CodexHome, tmp_path: Path) -> None:
    environment = {
        "CODEX_HOME": str(codex.codex_home),
        "COFFER_HOME": str(tmp_path / "coffer"),
        "LAB_KEY": "none",
    }
    machine = Machine(codex.home, tmp_path, environment)
    path = f"{codex.binary.parent}:{os.environ['PATH']}"
    said = machine.alone("hooks", "install", "codex", keys="y\rn\r", PATH=path).out
    assert "Trust these now?" in said
    assert "Hooks need review" in said
    assert not state(codex, tmp_path)["trusted"]
    assert ask(codex, tmp_path, "uninstall", "codex", "--yes").code == 0
    assert (
        "Codex trusts the entries."
        in machine.alone("hooks", "install", "codex", keys="y\ry\r", PATH=path).out
    )
    assert state(codex, tmp_path)["trusted"]


def test_an_upgrade_leaves_the_trust_of_what_stands_behind(codex: CodexHome, tmp_path: Path) -> None:
    old = {"hooks": [{"type": "command", "command": "/former/bin/coffer-hook codex SessionStart"}]}
    file = codex.codex_home / "hooks.json"
    file.write_text(json.dumps({"hooks": {"SessionStart": [old, THEIRS]}}))
    codex.trust_hooks()
    found = state(codex, tmp_path)
    assert (found["copies"], found["stale"], found["current"]) == (1, 1, False)
    assert ask(codex, tmp_path, "install", "codex", "--yes").code == 0
    fired = spy(tmp_path / "coffer")
    done = codex.exec(prompt="Go.")
    assert "THEIRS-7" in str(done.requests[0].items)
    assert events(fired) == [], "ours is another command now, and waits for trust"


def test_what_codex_drops_is_said(codex: CodexHome, tmp_path: Path) -> None:
    file = codex.codex_home / "hooks.json"
    file.write_text('{"model": "x", "hooks": {}}')
    said = ask(codex, tmp_path, "install", "codex", "--yes")
    assert said.code == 40
    assert "drops the whole file" in said.err
    assert file.read_text() == '{"model": "x", "hooks": {}}'


def test_codex_says_itself_that_hooks_are_off(codex: CodexHome, tmp_path: Path) -> None:
    assert ask(codex, tmp_path, "install", "codex", "--yes").code == 0
    assert codex.run("features", "disable", "hooks").returncode == 0
    found = state(codex, tmp_path)
    assert any("features.hooks" in said for said in found["problems"]), found


def test_the_app_server_leaves_nothing_behind(codex: CodexHome) -> None:
    environment = codex.env | {"PATH": f"{codex.binary.parent}:/usr/bin:/bin"}
    assert codex_trust.ask(environment, Places(Path("/nowhere"), codex.codex_home)).states == {}
    assert codex.processes() == []


def test_codex_mcp_entries(codex: CodexHome, tmp_path: Path) -> None:
    environment = codex.env | {"PATH": f"{codex.binary.parent}:/usr/bin:/bin"}
    coffers = Home(tmp_path / "a b")
    server = mcp_entries.server_path(coffers)
    server.parent.mkdir(parents=True)
    server.write_text("#!/bin/sh\nexit 0\n")
    server.chmod(0o755)
    before = (codex.codex_home / "config.toml").read_text()
    assert mcp_entries.add("codex", coffers, environment)
    assert not mcp_entries.add("codex", coffers, environment)
    assert str(server) in (codex.codex_home / "config.toml").read_text()
    assert mcp_entries.add("codex", Home(coffers.root / ".." / "a b"), environment), "another path: made anew"
    assert mcp_entries.remove("codex", environment)
    assert not mcp_entries.remove("codex", environment)
    assert (codex.codex_home / "config.toml").read_text().strip() == before.strip()
