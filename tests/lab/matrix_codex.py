"""Codex's stories: threads in which the events of the matrix happen one after the other."""

from __future__ import annotations

import time
from typing import Any

from tests.lab.codex import Finished, wait_until
from tests.lab.matrix_stage import Stage, once
from tests.lab.openai_script import COMPACT, last_user
from tests.lab.openai_server import Request
from tests.lab.terminal import Terminal


def shown(requests: list[Request] | tuple[Request, ...]) -> list[Any]:
    """What the model was shown in a conversation: neither for a title nor for a summary."""
    return [one.items for one in requests if one.body.get("tools") and COMPACT not in last_user(one.items)]


def runs(stage: Stage) -> None:
    """Threads of `codex exec`."""

    def ran(event: str, label: str, *words: str, prompt: str, child: bool = False) -> Finished:
        with stage.cell("codex", event, label, child=child):
            done = stage.codex.exec(*words, prompt=prompt)
        assert done.rc == 0, done.stderr
        once(shown(done.requests))
        return done

    ran("exec", "SessionStart:startup", prompt="hello")
    thread = stage.codex.thread()
    ran("resume", "SessionStart:resume", "resume", thread, prompt="again")
    ran("fork", "SessionStart:fork", "fork", thread, prompt="another way")
    ran("exec --ephemeral", "SessionStart:startup", "--ephemeral", prompt="in passing")
    ran("automatic compaction", "SessionStart:compact", prompt="@@middle@@ read")
    asked = ran("subagent", "SubagentStart", prompt="@@spawn@@ go", child=True).requests
    assert any(last_user(one.items).startswith("@@child@@") for one in asked)


def on_screen(stage: Stage) -> None:
    """A thread on a terminal, from its start to /clear."""
    if stage.state == "cold":
        stage.rig.end()
    with stage.codex.tui() as screen:
        assert screen.wait_for("Ask Codex to do anything", 30), screen.screen()
        with stage.cell("codex", "interactive startup", "SessionStart:startup"):
            once(say(stage, screen, "hello"))
        with stage.cell("codex", "/compact", "SessionStart:compact"):
            screen.submit("/compact")
            assert screen.wait_for("ontext compacted", 30), screen.screen()
            once(say(stage, screen, "still there"))
        with stage.cell("codex", "/clear", "SessionStart:clear"):
            screen.submit("/clear")
            time.sleep(1.5)
            once(say(stage, screen, "cleared"))
        screen.submit("/quit")
        assert screen.wait_end()


def say(stage: Stage, screen: Terminal, words: str) -> list[Any]:
    """Say something and wait until the model was asked and has answered."""
    before = len(stage.openai.requests)
    screen.submit(words)

    def asked() -> list[Any]:
        return [one for one in shown(stage.openai.requests[before:]) if last_user(one) == words]

    assert wait_until(lambda: bool(asked()), 30), screen.screen()
    time.sleep(1.0)  # for its end: the screen looks the same before and after
    return asked()
