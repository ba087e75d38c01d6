"""However a session of the real clients ends, it is in the journal once; a reload of itself ends nothing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from coffer.daemon.times import RESCAN_SECONDS
from coffer.store.hook_events import kept_hooks
from coffer.work.memory.journal_list import Page, all_lanes, pages
from tests.daemon.rig import eventually
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome
from tests.lab.codex import CodexHome
from tests.lab.test_daemon import Installed, codex, git, places
from tests.lab.test_delivery_lab import say

__all__ = ["codex"]
pytestmark = pytest.mark.lab


@pytest.fixture
def rig(claude_home: ClaudeHome) -> Iterator[Installed]:
    rig = Installed(claude_home.home)
    git(claude_home.cwd)
    rig.put_in("claude", places(claude_home))
    rig.begin()
    yield rig
    rig.end()


def written(rig: Installed) -> list[Page]:
    return pages(all_lanes(rig.home))


def asked(rig: Installed) -> list[str]:
    """The first word of each entry's goal, sorted."""
    return sorted(page.entry.text.removeprefix("# ").split()[0] for page in written(rig))


def distil(rig: Installed, environment: dict[str, str]) -> dict[str, str]:
    """`coffer journal distil --all`: what became of each session."""
    run = [sys.executable, "-m", "coffer.cli.main", "journal", "distil", "--all", "--json"]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True, cwd=rig.house)
    return {one["session"]: one["outcome"] for one in json.loads(done.stdout)["sessions"]}


def test_however_it_ends_it_is_told_once(
    rig: Installed, claude_home: ClaudeHome, codex: CodexHome, anthropic_server: AnthropicServer
) -> None:
    environment = rig.environment | {"COFFER_HOME": str(rig.home.root), "CODEX_HOME": str(codex.codex_home)}
    with claude_home.interactive() as screen:
        say(claude_home, screen, anthropic_server, "reloaded")
        (path,) = claude_home.transcripts()
        screen.send(f"/resume {path.stem}")
        eventually(lambda: _reloaded(rig, path.stem))
        claude_home.wait_status("idle")
        say(claude_home, screen, anthropic_server, "again")
        assert distil(rig, environment) == {}, "the session is open"
        assert asked(rig) == []
        screen.send("/clear")
        eventually(lambda: asked(rig) == ["reloaded"])
        say(claude_home, screen, anthropic_server, "exited")
        screen.exit()
    eventually(lambda: asked(rig) == ["exited", "reloaded"])
    rig.kill()  # from here on nobody hears anything
    with claude_home.interactive() as screen:
        say(claude_home, screen, anthropic_server, "interrupted")
        screen.key("C-c")
        screen.key("C-c")
        assert screen.wait_end()
    with claude_home.interactive() as screen:
        say(claude_home, screen, anthropic_server, "killed")
        screen.kill()
        assert screen.wait_end()
    claude_home.run("-p", "printed, please")
    assert codex.exec(prompt="executed, please").rc == 0
    for daemon in rig.daemons():  # a hook may have started one
        daemon.kill()
    rig.begin()
    every = ["exited", "interrupted", "killed", "printed,", "reloaded"]
    eventually(lambda: asked(rig) == every, 2 * RESCAN_SECONDS)  # at the start, else at the next sweep
    assert distil(rig, environment) == {
        codex.thread(): "distilled"
    }  # the daemon has not heard of that home yet
    assert distil(rig, environment) == {}
    assert asked(rig) == sorted([*every, "executed,"])
    assert {page.project for page in written(rig)} == {page.project for page in written(rig)} - {"global"}
    assert anthropic_server.breaches == []


def _reloaded(rig: Installed, session: str) -> bool:
    """Whether the hooks of a reload have been here: its end and its beginning."""
    said = kept_hooks(rig.home, session).read_text()
    return all(re.search(rf'"{key}":\s*"resume"', said) for key in ("reason", "source"))
