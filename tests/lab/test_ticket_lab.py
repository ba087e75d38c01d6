"""What a person says in the real clients: asked for as a rule, learned, and there in the other agent."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.daemon.rig import SAID, eventually
from tests.lab import matrix_codex
from tests.lab.claude import ALLOWED
from tests.lab.delivery_page import figure
from tests.lab.matrix_stage import Stage, once, staged

pytestmark = pytest.mark.lab

POSSIBLE = "why are you still doing it like that?"
ASKED = re.compile(r"The user's standing wish: .*? with the ticket (\S+) and the rule")
PROPOSED = {"prohibition": "Do not guess the tide; read the table.", "scope": "testing"}
SOON = 6.0
"""Seconds for what takes 2 on a machine that does nothing else."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with staged(tmp_path_factory.mktemp("ticket")) as made:
        settings = json.loads((made.claude.config / "settings.json").read_bytes())
        settings["permissions"]["allow"] = [*ALLOWED, "mcp__coffer"]
        made.claude.set_settings(settings)
        yield made


def ticket(shown: Callable[[], list[Any]]) -> str:
    """The ticket in the newest request; there is one line, in it alone."""

    def found() -> list[str]:
        return ASKED.findall(json.dumps(shown()[-1:], ensure_ascii=False))

    (one,) = eventually(found)
    return str(one)


def pending(stage: Stage, folder: Any) -> list[str]:
    return [one for one in stage.rig.rules(folder) if "tide;" in one]


def test_claude_is_asked_and_proposes(stage: Stage) -> None:
    stage.bring("up")
    call = {"tools": [{"name": "Bash", "input": {"command": "sleep 4", "description": "wait"}}]}
    stage.anthropic.play(
        {"scripts": {POSSIBLE: [call, {"text": "never"}], "fix the parser": [{"text": "Fixed."}]}}
    )
    with stage.claude.interactive() as screen:
        screen.send("fix the parser")
        screen.wait("● Fixed")
        stage.claude.wait_status("idle")
        since = len(stage.anthropic.requests)
        screen.send(POSSIBLE)

        def shown() -> list[Any]:
            return [
                one.messages
                for one in stage.anthropic.messages_requests(since)
                if (one.body or {}).get("tools")
            ]

        given = {"ticket": ticket(shown), **PROPOSED}
        made = {"tools": [{"name": "mcp__coffer__propose_rule", "input": given}]}
        stage.anthropic.play({"scripts": {POSSIBLE: [call, made, {"text": "It is proposed."}]}})
        screen.wait("● It is proposed", 40)
        assert len(ASKED.findall(json.dumps(shown()[-1], ensure_ascii=False))) == 1
        screen.exit()
    assert pending(stage, stage.claude.cwd) == [f"pending: {PROPOSED['prohibition']}"]
    assert stage.anthropic.breaches == []


def test_codex_is_asked_and_proposes(stage: Stage) -> None:
    stage.bring("up")
    wait = {"items": [{"call": "exec_command", "args": {"cmd": "sleep 4", "yield_time_ms": 8000}}]}
    given: dict[str, str] = dict(PROPOSED)
    made = {"items": [{"call": "propose_rule", "namespace": "mcp__coffer", "args": given}]}
    with stage.codex.tui() as screen:
        assert screen.wait_for("Ask Codex to do anything", 30), screen.screen()
        matrix_codex.say(stage, screen, "hello")
        since = len(stage.openai.requests)
        asks = {"last_user": re.escape(POSSIBLE)}
        rules = stage.openai.scenario.setdefault("rules", [])
        rules += [
            {"when": asks, "times": 1, "id": "wait", **wait},
            {"when": asks, "times": 1, "id": "made", **made},
        ]
        screen.submit(POSSIBLE)
        given["ticket"] = ticket(lambda: matrix_codex.shown(stage.openai.requests[since:]))
        eventually(lambda: pending(stage, stage.codex.project))
        screen.submit("/quit")
        assert screen.wait_end()
    rules.clear()
    assert pending(stage, stage.codex.project) == [f"pending: {PROPOSED['prohibition']}"]
    assert stage.openai.breaches == []


def test_no_program_is_asked(stage: Stage) -> None:
    stage.bring("up")
    stage.anthropic.play({})
    done = stage.claude.run("-p", POSSIBLE)
    assert not ASKED.search(json.dumps(done.requests[0].messages))
    ran = stage.codex.exec(prompt=POSSIBLE)
    assert not ASKED.search(json.dumps(ran.requests[0].items))


def test_a_correction_is_kept_at_once_and_the_third_is_in_the_other_agent(stage: Stage) -> None:
    stage.bring("up")
    words = ("fix the parser", *SAID)
    did = "I committed it with a co-author line."
    stage.anthropic.play(
        {"scripts": {said: [{"text": f"{number}: {did}"}] for number, said in enumerate(words)}}
    )

    def rules() -> list[str]:
        return [one for one in stage.rig.rules(stage.claude.cwd) if "co-author" in one.lower()]

    took = []
    with stage.codex.tui() as other, stage.claude.interactive() as screen:
        assert other.wait_for("Ask Codex to do anything", 30), other.screen()
        once(matrix_codex.say(stage, other, "hello"))
        for number, said in enumerate(words):
            screen.send(said)
            began = time.monotonic()
            if number == 1:
                eventually(rules)
                took.append(time.monotonic() - began)
            if number == 3:
                eventually(lambda: any(one.startswith("active") for one in rules()))
                took.append(time.monotonic() - began)
            screen.wait(f"● {number}: I committed")
            stage.claude.wait_status("idle")
        (rule,) = (one.removeprefix("active: ") for one in rules())
        once(matrix_codex.say(stage, other, "what holds?"), rule)
        screen.exit()
        other.submit("/quit")
        assert other.wait_end()
    assert max(took) < SOON
    figure("inbox", f"{took[0]:.1f} s")
    figure("other", f"{took[1]:.1f} s")
    figure("other_request", "each rule once")
