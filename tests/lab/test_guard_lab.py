"""The guard with the real Claude Code: its statusline says the window, and the nudge is for the person alone."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator

import pytest

from coffer.store.windows import read_report
from coffer.work.setup.status import open_sessions
from tests.daemon.rig import eventually
from tests.lab.anthropic_script import inline
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome, Tmux
from tests.lab.test_daemon import Installed, git, places
from tests.lab.test_delivery_lab import say

pytestmark = pytest.mark.lab

NUDGE = re.compile(r"Coffer: 6\d% of 1,000,000 tokens are used")
FULL = {"input_tokens": 600_000}
"""Of a window of a million: the tier “trim”."""


@pytest.fixture
def rig(claude_home: ClaudeHome) -> Iterator[Installed]:
    rig = Installed(claude_home.home)
    git(claude_home.cwd)
    rig.put_in("claude", places(claude_home))
    rig.begin()
    settings = json.loads((claude_home.config / "settings.json").read_bytes())
    line = f"{shlex.quote(sys.executable)} -m coffer.cli.main statusline"
    claude_home.set_settings({**settings, "statusLine": {"type": "command", "command": line}})
    yield rig
    rig.end()


def full(home: ClaudeHome, screen: Tmux, word: str) -> None:
    """A turn whose answer says that the window is full."""
    mark = f"answer to {word}"
    screen.send(f"{word} {inline({'text': mark, 'usage': FULL})}")
    screen.wait(f"● {mark}")
    home.wait_status("idle")


def test_the_window_is_known_and_the_nudge_is_shown_once(
    rig: Installed, claude_home: ClaudeHome, anthropic_server: AnthropicServer
) -> None:
    with claude_home.interactive() as screen:
        say(claude_home, screen, anthropic_server, "one")
        (path,) = claude_home.transcripts()

        def reported() -> bool:
            return bool(read_report(rig.home.root, path.stem).get("source") == "statusline")

        eventually(reported)
        assert read_report(rig.home.root, path.stem)["window"] == 1_000_000
        (found,) = open_sessions(rig.home, places(claude_home), rig.environment)
        assert found.listed.window == 1_000_000
        assert "Coffer:" not in screen.capture(60)
        since = len(anthropic_server.requests)
        full(claude_home, screen, "two")
        assert not NUDGE.search(screen.capture(60))
        full(claude_home, screen, "three")
        assert len(NUDGE.findall(screen.capture(60))) == 1
        full(claude_home, screen, "four")
        assert len(NUDGE.findall(screen.capture(60))) == 1
        sent = json.dumps([one.body for one in anthropic_server.messages_requests(since)])
        assert "tokens are used" not in sent
        assert "coffer prune" not in sent
        assert re.search(r"6\d\dk/1M · trim", screen.capture(60))
        screen.exit()
    assert anthropic_server.breaches == []
