"""Two real clients on one session: neither is pruned under the other, and the prune comes when one has ended."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from coffer.core.look import Look
from coffer.work.guarding.gate import judge_session
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome
from tests.lab.test_guard_moves import Stage
from tests.launch.pane import Pane

pytestmark = pytest.mark.lab
WINDOW = "150000"
HELD = 12.0
"""Seconds in which a session that is held by one client is pruned and reloaded (docs/guard.md), and more."""


@pytest.fixture
def stage(claude_home: ClaudeHome, anthropic_server: AnthropicServer) -> Iterator[Stage]:
    stage = Stage(claude_home, anthropic_server)
    stage.env["COZEMPIC_CONTEXT_WINDOW"] = WINDOW
    with stage.running():
        yield stage


def plain(stage: Stage, session: str) -> Pane:
    words = [str(stage.claude.binary), *stage.claude.model_args, "--resume", session]
    return Pane(words, env=stage.env, cwd=stage.claude.cwd, rows=40, columns=130)


def above_footer(look: Look) -> tuple[str, ...]:
    """The conversation and the input line; the client changes what stands below them by itself."""
    return look.rows[: max(y for y, row in enumerate(look.rows) if row.startswith("─"))]


@pytest.mark.parametrize("launched", [True, False], ids=["both by coffer run", "one by itself"])
def test_two_clients(stage: Stage, *, launched: bool) -> None:
    """Both idle, one over a tier: nothing is written and nothing typed; each goes on with what it has."""
    with stage.pane() as pane:
        pane.wait("❯")
        stage.grow(pane, 0)
        session = stage.path.stem
        with stage.pane("--resume", session) if launched else plain(stage, session) as other:
            other.wait("answered word1")
            other.settle(1)
            stage.grow(pane, 0, calls=2)
            data, until = stage.path.read_bytes(), time.monotonic() + HELD
            shown = above_footer(other.settle(0.3))
            while time.monotonic() < until:
                pane.read(0.03)
                other.read(0.03)
            assert stage.made() == []
            assert stage.path.read_bytes().startswith(data)  # what came is the client's own
            assert above_footer(other.look()) == shown
            stage.ended(pane, stage.say(pane, 0))
            assert any("2 clients have this session open" in row for row in pane.look().rows)
            assert "clients have this session" not in stage.sent()
            other.submit("/exit")
            other.ended()
        verdict = judge_session(stage.path, stage.places, stage.home)
        assert "client" in [each.kind for each in verdict.write.blockers], "its /exit stands where it stood"
        stage.ended(pane, stage.say(pane, 0))
        stage.until(pane, lambda: stage.moved(1))
        stage.ended(pane, stage.say(pane, 0))
        assert "removed; coffer restore" in stage.sent()
        assert all(f"answered word{number}" in stage.sent() for number in (1, 2, 3, 4))
    assert all("/resume" not in str(one.body) for one in stage.server.messages_requests())
    assert stage.server.breaches == []
