"""What a compaction loses, with the real Claude Code: the team and the open tasks are in the next request, once."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coffer.core.state_text import HEADINGS, TASKS
from coffer.store.db import Receipt
from coffer.work.guarding.keep import KIND
from coffer.work.receipts import all_receipts
from tests.bundle.desk import HARD, times, write_rules
from tests.daemon.rig import eventually
from tests.lab.anthropic_script import inline
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome, Tmux
from tests.lab.claude_stage import COMPACT_RULE, bash
from tests.lab.harness import ALLOWED, TEAMS
from tests.lab.matrix_claude import FULL, shown
from tests.lab.test_daemon import Installed, git, places

pytestmark = pytest.mark.lab

MATE = "- docs (general-purpose, id docs@session-"
GIVEN = "hook_additional_context"
OPEN, DONE, LATER = "Write the parser", "Read the spec", "Test the parser"
BUILD = "Build (sleep 321)"
REPORT = {"to": "team-lead", "summary": "docs are fine", "message": "I read the docs: they are fine."}
MATE_SCRIPT = [{"tools": [{"name": "SendMessage", "input": REPORT}]}, {"text": "I am done."}]


@pytest.fixture
def rig(claude_home: ClaudeHome) -> Iterator[Installed]:
    rig = Installed(claude_home.home)
    git(claude_home.cwd)
    rig.put_in("claude", places(claude_home))
    settings = json.loads((claude_home.config / "settings.json").read_bytes())
    claude_home.set_settings({**settings, "permissions": {"allow": list(ALLOWED)}})
    write_rules(claude_home.home, rig.home, HARD)
    rig.begin()
    yield rig
    rig.end()


def test_team_and_open_tasks_come_back_once_for_each_compaction(
    rig: Installed, claude_home: ClaudeHome, anthropic_server: AnthropicServer
) -> None:
    full = {"match": {"last_user": "out-42"}, "times": 1, "reply": {"status": 400, "error": FULL}}
    after = {"match": {"last_user": "out-42"}, "reply": {"text": "It is printed."}}
    anthropic_server.play(
        {"rules": [COMPACT_RULE, full, after], "scripts": {"you check the docs for me": MATE_SCRIPT}}
    )
    with claude_home.interactive(extra=TEAMS) as screen:
        talk = Talk(claude_home, anthropic_server, screen)
        talk.compact("Not enough messages")  # its PreCompact is followed by no compaction
        talk.work()
        (path,) = claude_home.transcripts()
        talk.compact()
        holds(talk.say("first?"), f"in progress: {OPEN}", f"#2 completed: {DONE}")
        talk.say("close", {"tools": [changed("1", status="completed")]}, {"tools": [made(LATER)]})
        talk.compact()
        holds(talk.say("second?"), f"pending: {LATER}", f"#1 completed: {OPEN}")
        holds(talk.say("still?"), f"pending: {LATER}")
        screen.send(f"print {inline({'tools': [bash('echo out-$((40+2))')]})}")
        screen.wait("It is printed", 30)
        holds(talk.last(), f"pending: {LATER}")
        eventually(lambda: [one.data["returned"] for one in kept(rig)] == ["confirmed"] * 3)
        screen.exit()
    held = int(hangs_on_what_it_got(path))
    resumed = claude_home.run("-p", "and now?", "--resume", path.stem)
    assert [times(request, TASKS) for request in shown(resumed.requests)] == [held]
    assert rig.states(path.stem)["SessionStart:compact"] == ["confirmed"] * 3
    assert anthropic_server.breaches == []


def hangs_on_what_it_got(path: Path) -> bool:
    """Whether the end of the file hangs on what the last compaction's hook gave.

    Where the answer or the turn's end is written before the hook's text, the client hangs it on the record before the
    compaction, and a resume sends that branch (docs/formats).
    """
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    given = [each["uuid"] for each in records if each.get("attachment", {}).get("type") == GIVEN][-1]
    parents = {each["uuid"]: each.get("parentUuid") for each in records if "uuid" in each}
    at = next(each["uuid"] for each in reversed(records) if "uuid" in each)
    while at is not None and at != given:
        at = parents.get(at)
    return bool(at == given)


def made(subject: str) -> dict[str, Any]:
    return {"name": "TaskCreate", "input": {"subject": subject, "description": "In Python"}}


def changed(name: str, **to: str) -> dict[str, Any]:
    return {"name": "TaskUpdate", "input": {"taskId": name, **to}}


def kept(rig: Installed) -> list[Receipt]:
    return [one for one in all_receipts(rig.home) if one.kind == KIND]


def holds(request: Any, *tasks: str) -> None:
    """The request holds the rules once, and the state once, with the teammate idle."""
    assert {text: times(request, text) for text in (HARD, *HEADINGS, MATE, BUILD, *tasks)} == dict.fromkeys(
        (HARD, *HEADINGS, MATE, BUILD, *tasks), 1
    )
    assert times(request, "idle, last wrote at") == 1


class Talk:
    """Prompts on a screen."""

    def __init__(self, home: ClaudeHome, server: AnthropicServer, screen: Tmux) -> None:
        self.home, self.server, self.screen = home, server, screen
        self._count = 0

    def say(self, words: str, *turns: Any) -> Any:
        """Say something and wait for its answer; what the model was shown last."""
        self._count += 1
        mark = f"answer number {self._count}"
        self.screen.send(f"{words} {inline(*turns, {'text': mark})}")
        self.screen.wait(f"● {mark}", 30)
        time.sleep(0.3)  # the client takes its next turn by itself, or is idle
        return self.last()

    def last(self) -> Any:
        """What the model was shown last in the conversation itself."""
        return shown([one for one in self.server.messages_requests() if not one.agent_id])[-1]

    def work(self) -> None:
        """A teammate that has reported and is idle, an open task and a completed one, a command in the background."""
        mate = {"description": "Look", "prompt": "you check the docs for me", "name": "docs"}
        agent = {"name": "Agent", "input": {**mate, "subagent_type": "general-purpose"}}
        self.say("plan", {"tools": [made(OPEN), made(DONE)]})
        both = [changed("1", status="in_progress"), changed("2", status="completed")]
        self.say("begin", {"tools": both})
        self.say("spawn", {"tools": [agent]})
        eventually(lambda: "idle_notification" in self.home.transcripts()[-1].read_text())
        self.say("build", {"tools": [bash("sleep 321", "Build", run_in_background=True)]})
        self.home.wait_status("shell")

    def compact(self, said: str = "Compacted") -> None:
        """Compact by hand."""
        self.screen.send("/compact")
        self.screen.wait(said)
        time.sleep(0.5)
        self.screen.key("C-l")
