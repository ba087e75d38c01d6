"""The rules at the end of a pruned transcript: the real client shows them once, at each resume, in both forms."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping

import pytest

from coffer.core.digest_text import MARKER
from coffer.disk.places import Places
from coffer.store.home import Home
from coffer.work.delivery.bundles import TOOLS
from tests.bundle.desk import HARD, LATER, SOFT, Record, hooks, times, write_rules
from tests.lab.anthropic_script import inline
from tests.lab.anthropic_server import AnthropicServer, Request
from tests.lab.claude import ClaudeHome, Tmux
from tests.lab.prune_lab import RESTED, prune

pytestmark = pytest.mark.lab

COUNT = {"tools": [{"name": "Bash", "input": {"command": "seq 1 6000", "description": "count"}}]}


def say(
    home: ClaudeHome, screen: Tmux, server: AnthropicServer, word: str, *turns: Mapping[str, object]
) -> list[Request]:
    before = len(server.requests)
    screen.send(f"{word} {inline(*turns, {'text': f'done {word}'})}")
    screen.wait(f"● done {word}")
    home.wait_status("idle")
    return [request for request in server.messages_requests(before) if (request.body or {}).get("tools")]


def once(requests: list[Request]) -> bool:
    """Whether each request holds the old and the new rule once, after what was said before the prune."""
    assert requests
    assert "done third" in json.dumps(requests[-1].messages)
    return all(times(request.messages, rule) == 1 for request in requests for rule in (HARD, LATER))


@pytest.mark.parametrize(
    ("form", "pause"),  # after a pause /exit itself stands at the end
    [("attachment", 0.0), ("attachment", 2.0), ("user", 2.0)],
)
def test_one_copy_at_each_resume(
    claude_home: ClaudeHome, anthropic_server: AnthropicServer, form: str, pause: float
) -> None:
    home = Home(claude_home.home / ".coffer")
    home.make(home.root)
    (home.root / "config.toml").write_text(f'[prune]\ntail = "{form}"\n')
    write_rules(claude_home.home, home, HARD, SOFT)
    ours = hooks(home, "claude", claude_home.root / "hook.sh", tools=TOOLS)
    claude_home.set_settings({"permissions": {"allow": ["Bash"]}, "hooks": ours})
    record = Record(home, Places(claude_home.config, claude_home.home / ".codex"))
    with claude_home.interactive() as screen:
        say(claude_home, screen, anthropic_server, "first", COUNT)
        write_rules(claude_home.home, home, HARD, LATER)
        for word in ("second", "third"):
            say(claude_home, screen, anthropic_server, word, COUNT)
        time.sleep(pause)
        screen.exit()
    [path] = claude_home.transcripts()
    then = time.time() - RESTED
    os.utime(path, (then, then))
    assert prune(claude_home, path)["rules_at_the_end"] == form
    assert sum(MARKER in line and '"stdout"' not in line for line in path.read_text().splitlines()) == 1

    with claude_home.interactive() as screen:
        screen.send(f"/resume {path.stem}")
        screen.wait("done third")
        assert once(say(claude_home, screen, anthropic_server, "slash"))
        screen.exit()
    for word in ("dash", "again"):
        done = claude_home.run("-p", word, "--resume", path.stem)
        assert once(list(done.requests))
    states = [state for event, state in record.states("claude", path) if event == "SessionStart:resume"]
    assert states == ["held"] * 3
    assert anthropic_server.breaches == []


@pytest.mark.parametrize("answered", [False, True])
def test_a_turn_that_was_cut_is_given_them_once_too(
    claude_home: ClaudeHome,
    anthropic_server: AnthropicServer,
    answered: bool,  # noqa: FBT001  (a parameter of the test)
) -> None:
    """A client that was killed while its tool ran, or behind its result: both are resumed with the rules in place."""
    home = Home(claude_home.home / ".coffer")
    home.make(home.root)
    write_rules(claude_home.home, home, HARD, SOFT)
    ours = hooks(home, "claude", claude_home.root / "hook.sh", tools=TOOLS)
    claude_home.set_settings({"permissions": {"allow": ["Bash"]}, "hooks": ours})
    record = Record(home, Places(claude_home.config, claude_home.home / ".codex"))
    with claude_home.interactive() as screen:
        for word in ("first", "second", "third"):
            say(claude_home, screen, anthropic_server, word, COUNT)
        screen.exit()
    write_rules(claude_home.home, home, HARD, LATER)
    [path] = claude_home.transcripts()
    lines = path.read_bytes().splitlines(keepends=True)
    calls = [at for at, line in enumerate(lines) if b'"type":"tool_use"' in line]
    results = [at for at, line in enumerate(lines) if b'"type":"tool_result"' in line]
    end = results[-1] if answered else calls[-1]
    path.write_bytes(b"".join(lines[: end + 1]))
    then = time.time() - RESTED
    os.utime(path, (then, then))
    assert prune(claude_home, path)["rules_at_the_end"] == "attachment"
    for word in ("dash", "again"):
        done = claude_home.run("-p", word, "--resume", path.stem)
        for request in done.requests:
            assert "done second" in json.dumps(request.messages)
            assert [times(request.messages, rule) for rule in (HARD, LATER)] == [1, 1]
    states = [state for event, state in record.states("claude", path) if event == "SessionStart:resume"]
    assert states == ["held"] * 2
    assert anthropic_server.breaches == []
