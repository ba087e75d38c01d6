"""Claude Code's stories: sessions in which the events of the matrix happen one after the other."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from tests.lab.anthropic_script import inline
from tests.lab.anthropic_server import Request
from tests.lab.claude import Finished, Tmux
from tests.lab.claude_stage import COMPACT_RULE
from tests.lab.matrix_stage import ADDED, HARD, SOFT, Stage, once

TEAMS = {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"}
FULL = {"type": "invalid_request_error", "message": "prompt is too long: 215000 tokens > 200000 maximum"}
TOO_LONG = {
    "match": {"last_user_text": "read it all"},
    "times": 1,
    "reply": {"status": 400, "error": FULL},
}
HELPERS = {
    "look for me": [{"text": "One file."}],
    "look slowly": [{"text": "One file, slowly.", "delay_s": 0.5}],
}


def shown(requests: list[Request] | tuple[Request, ...]) -> list[Any]:
    """What the model was shown; requests without tools are the client's own (a title, a summary)."""
    return [one.messages for one in requests if (one.body or {}).get("tools")]


def runs(stage: Stage) -> None:
    """Sessions of `claude -p`."""
    stage.anthropic.play({"rules": [TOO_LONG, COMPACT_RULE]})

    def ran(event: str, *words: str, label: str = "SessionStart:resume", last: bool = False) -> Finished:
        with stage.cell("claude", event, label):
            done = stage.claude.run("-p", *words)
        assert done.rc == 0, done.stdout + done.stderr
        asked = shown(done.requests)
        once(asked[-1:] if last else asked)
        return done

    session = ran("startup by -p", "hello", label="SessionStart:startup").session_id
    ran("resume", "again", "--resume", session)
    ran("continue", "and again", "--continue")
    fork = ran("fork", "another way", "--resume", session, "--fork-session")
    assert fork.session_id != session
    ran("automatic compaction", "read it all", "--resume", session, label="SessionStart:compact", last=True)


def on_screen(stage: Stage) -> None:
    """A session on a terminal, from its start to /clear."""
    stage.anthropic.play({"rules": [COMPACT_RULE], "scripts": HELPERS})
    talk = Talk(stage)
    with stage.claude.interactive(extra=TEAMS) as screen:
        stage_start(talk, screen)
        helpers(stage, talk, screen)
        with stage.cell("claude", "/compact", "SessionStart:compact"):
            screen.send("/compact")
            screen.wait("Compacted", 30)
            stage.claude.wait_status("idle")
            once(talk.say(screen, "still there"))
        with stage.cell("claude", "/clear", "SessionStart:clear"):
            since = len(stage.claude.transcripts())
            screen.send("/clear")
            time.sleep(1.5)  # the screen tells nothing that /clear alone would
            once(talk.say(screen, "cleared"))
            assert len(stage.claude.transcripts()) > since
        with stage.cell("claude", "digest changed", "UserPromptSubmit") as cell:
            stage.rules(*HARD, *SOFT, ADDED)
            delta(stage, talk, screen, cell, ADDED)
        if stage.state == "up":
            rewind(screen, 1)
            asked = talk.say(screen, "taken back")
            once(asked)
            assert not any(ADDED in json.dumps(one) for one in asked), "then it is not impossible"
        once(talk.say(screen, "and on"), ADDED)
        screen.exit()


def stage_start(talk: Talk, screen: Tmux) -> None:
    """The start, and a rewind to before the very first prompt."""
    with talk.stage.cell("claude", "interactive startup", "SessionStart:startup") as cell:
        cell.began = talk.began  # its hook runs while the screen is drawn
        once(talk.say(screen, "hello"))
    once(talk.say(screen, "second"))
    with talk.stage.cell("claude", "rewind", "UserPromptSubmit"):
        rewind(screen, 2)
        asked = talk.say(screen, "another beginning")
        once(asked)
        assert not any("second" in json.dumps(one) for one in asked)


def rewind(screen: Tmux, prompts: int) -> None:
    """Take the last prompts back."""
    time.sleep(0.7)
    screen.key("Escape")
    time.sleep(0.3)
    screen.key("Escape")
    screen.wait("Restore the code and/or conversation")
    for _ in range(prompts):
        screen.key("Up")
        time.sleep(0.3)
    screen.key("Enter")
    screen.wait("Restore conversation")
    screen.key("Enter")
    time.sleep(1)
    screen.key("C-u")  # the prompt came back into the input line
    time.sleep(0.3)


def helpers(stage: Stage, talk: Talk, screen: Tmux) -> None:
    """Subagents in front and behind, and a teammate."""

    def call(prompt: str, **more: Any) -> dict[str, Any]:
        told = {"description": "Look", "prompt": prompt, "subagent_type": "general-purpose", **more}
        return {"tools": [{"name": "Agent", "input": told}]}

    kinds = {
        "subagent": call("look for me", run_in_background=False),
        "background subagent": call("look slowly", run_in_background=True),
        "teammate": call("look for me", name="docs"),
    }
    for event, turn in kinds.items():
        with stage.cell("claude", event, "SubagentStart", child=True):
            before = len(stage.anthropic.requests)
            talk.say(screen, f"ask a {event.replace(' ', '-')}", turn)
            wait_for(lambda since=before: [one for one in talk.since(since) if one.agent_id])
            time.sleep(0.5)
            asked = talk.since(before)
            once(shown([one for one in asked if one.agent_id]))
            once(shown([one for one in asked if not one.agent_id]))
        stage.claude.wait_status("idle", 30)


def added_hooks(stage: Stage) -> None:
    """Hooks that come into the settings of a session that began without them."""
    stage.anthropic.play({"rules": [COMPACT_RULE]})
    path = stage.claude.config / "settings.json"
    installed = path.read_bytes()
    without = {name: said for name, said in json.loads(installed).items() if name != "hooks"}
    talk = Talk(stage)
    stage.claude.set_settings(without)
    try:
        with stage.claude.interactive() as screen:
            assert not any(HARD[0] in json.dumps(one) for one in talk.say(screen, "before"))
            with stage.cell("claude", "hooks added", "UserPromptSubmit") as cell:
                path.write_bytes(installed)
                time.sleep(1.5)  # the client reads its settings again
                delta(stage, talk, screen, cell)
            screen.exit()
    finally:
        path.write_bytes(installed)


def delta(stage: Stage, talk: Talk, screen: Tmux, cell: Any, *texts: str) -> None:
    """The next prompt brings what changed; where no daemon is there, the first one after it is."""
    asked = talk.say(screen, "what changed")
    if stage.state == "up":
        once(asked, *texts)
        return
    assert not any((texts or HARD)[0] in json.dumps(one) for one in asked)
    cell.later = True
    stage.recover()
    once(talk.say(screen, "what changed now"), *texts)


class Talk:
    """Prompts on a screen."""

    def __init__(self, stage: Stage) -> None:
        if stage.state == "cold":
            stage.rig.end()
        self.stage = stage
        self._count = 0
        self.began = time.time()

    def since(self, number: int) -> list[Request]:
        return self.stage.anthropic.messages_requests(number)

    def say(self, screen: Tmux, words: str, *turns: Mapping[str, Any]) -> list[Any]:
        """Say something and wait for its end; what the model was shown in the conversation itself."""
        self._count += 1
        mark = f"answer number {self._count}"
        before = len(self.stage.anthropic.requests)
        screen.send(f"{words} {inline(*turns, {'text': mark})}")
        screen.wait(f"● {mark}", 40)
        self.stage.claude.wait_status("idle", 30)
        return shown([one for one in self.since(before) if not one.agent_id])


def wait_for(true: Any, timeout: float = 60) -> None:
    until = time.monotonic() + timeout
    while not true():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.1)
