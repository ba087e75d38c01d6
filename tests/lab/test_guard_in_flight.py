"""Each kind of work in flight when a tier fires: nothing is written, nothing typed; it ends, and the prune comes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from tests.effort import ALL
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome
from tests.lab.harness import TEAMS
from tests.lab.in_flight import CTRL_U, ESCAPE, Air, call
from tests.lab.test_daemon import git
from tests.lab.test_guard_moves import FETCH

pytestmark = pytest.mark.lab
CTRL_B, KILL_AGENTS, SHIFT_TAB, ENTER, BACKSPACE = "\x02", ("\x18", "\x0b"), "\x1b[Z", "\r", "\x7f"
ENDLESS = {"text": "and so on " * 400, "chunk_delay_s": 0.3}
SUMMARY_ASKED = "Your task is to create a detailed summary"
WORKFLOW = (
    "export const meta = { name: 'count', description: 'count files', phases: [{title: 'Count'}] }\n"
    "phase('Count')\nconst n = await agent('count the files for me')\nreturn {n}\n"
)
REPORT = {"to": "team-lead", "summary": "docs are fine", "message": "I read the docs: they are fine."}


@pytest.fixture
def air(claude_home: ClaudeHome, anthropic_server: AnthropicServer) -> Iterator[Air]:
    air = Air(claude_home, anthropic_server)
    git(claude_home.cwd)
    air.put_in("claude", air.places)
    air.begin()
    yield air
    air.end()


def tool(name: str, /, **given: Any) -> dict[str, Any]:
    return {"tools": [{"name": name, "input": given}]}


def agent(prompt: str, **more: Any) -> dict[str, Any]:
    given = {"description": "Look around", "prompt": prompt, "subagent_type": "general-purpose"}
    return tool("Agent", **given, **more)


def works(air: Air, said: str, **more: Any) -> list[dict[str, Any]]:
    """What a helper does: a command that waits, and an answer."""
    return [{"tools": [call(air.wait(), **more)]}, {"text": said}]


def named(air: Air, pattern: str) -> str:
    """What the client named last in the transcript."""
    return str(re.findall(pattern, air.path.read_text())[-1])


# --- commands


def command_in_front(air: Air) -> None:
    """The person sends it to the background, and there it ends."""
    air.say({"text": "I wait.", "tools": [call(air.wait())]})
    air.see("ctrl+b")
    air.held("turn", "tool")
    air.press(CTRL_B)
    air.is_now("shell")
    air.held("shell")
    air.go_on()


def queued_prompt(air: Air) -> None:
    """It waits behind a command, and is answered."""
    air.say({"tools": [call(air.wait())]})
    air.see("ctrl+b")
    air.enter("one more wish")
    air.held("turn", "tool")
    air.go_on()


def command_moved_by_its_limit(air: Air) -> None:
    """It takes longer than it may, so the client moves it to the background; the model stops it there."""
    air.say({"tools": [call("tail -f /dev/null", timeout=2000)]})
    air.is_now("shell")
    air.held("shell")
    air.over()
    air.say(tool("TaskStop", task_id=named(air, r"with ID: (\w+)")))


def command_killed_in_the_list(air: Air) -> None:
    """The person looks at a background command, and kills it."""
    air.say({"tools": [call(air.wait(), run_in_background=True)]})
    air.is_now("shell")
    air.enter("/tasks")
    air.held("dialog", "shell")
    air.over()
    air.press("x", ESCAPE, CTRL_U)


def command_killed_from_outside(air: Air) -> None:
    """The model began it in the background."""
    air.say({"tools": [call("sleep 987", run_in_background=True)]})
    air.is_now("shell")
    air.held("shell")
    air.over()
    for process in air.claude.leftovers():
        if process.cmdline()[:2] == ["sleep", "987"]:
            process.kill()


def command_of_a_subagent(air: Air) -> None:
    """It outlives its subagent, and ends."""
    begun = works(air, "It is begun.", run_in_background=True)
    air.say(agent("begin the watch", run_in_background=True), begin_the_watch=begun)
    air.is_now("shell")
    air.held("shell")
    air.go_on()


def command_of_the_person(air: Air) -> None:
    """It was typed while the model was still answering, and is broken off."""
    word = air.say({"tools": [call(air.wait())]})
    air.see("ctrl+b")
    air.press("!")
    air.seat.type("sleep 60")
    air.go_on()
    air.ended(air.seat, word)
    air.press(ENTER)
    air.held("turn")
    air.over()
    air.press(ESCAPE, CTRL_U, BACKSPACE)  # the command is back in the input line


# --- turns


def answer_interrupted(air: Air) -> None:
    """The person interrupts the answer: no Stop comes."""
    air.say({"tools": [call("true")]}, ENDLESS)
    air.see("and so on")
    air.held("turn")
    air.over()
    air.press(ESCAPE)


def api_tried_again(air: Air) -> None:
    """The API is overloaded for some time."""
    refused = {"status": 529, "error": {"type": "overloaded_error", "message": "Overloaded"}}
    air.special = [{"match": {"last_user": "try-42"}, "reply": {**refused, "headers": {"retry-after": "1"}}}]
    air.say({"tools": [call("echo try-$((40+2))")]})
    air.see("Retrying")
    air.held("turn")
    air.special = []
    air.over()
    air.play()


def permission_asked(air: Air) -> None:
    """The person says no."""
    air.say({"tools": [FETCH]})
    air.see("Do you want")
    air.held("dialog", "tool")
    air.over()
    air.press(ESCAPE)


def question_open(air: Air) -> None:
    """The person answers it."""
    options = [{"label": word, "description": f"Greet the {word}"} for word in ("apple", "pear")]
    asked = {"question": "Which fruit?", "header": "Fruit", "options": options, "multiSelect": False}
    air.say(tool("AskUserQuestion", questions=[asked]))
    air.see("Which fruit")
    air.held("dialog", "tool")
    air.over()
    air.press(ENTER)


def plan_to_approve(air: Air) -> None:
    """The person sends it back."""
    air.press(SHIFT_TAB, SHIFT_TAB)
    air.say({"text": "Here it is.", **tool("ExitPlanMode", plan="1. Write it.")})
    air.is_now("waiting")
    air.held("dialog", "tool")
    air.over()
    air.press(ESCAPE)


def compaction(air: Air) -> None:
    """The person ordered it, and breaks it off."""
    air.special = [{"match": {"last_user_text": SUMMARY_ASKED}, "reply": {"text": "…", "delay_s": 60}}]
    word = air.say({"tools": [call(air.wait())]})
    air.see("ctrl+b")
    air.seat.type("/compact")
    air.go_on()
    air.ended(air.seat, word)
    air.press(ENTER)
    air.held("turn")
    air.over()
    air.press(ESCAPE, CTRL_U)  # the order is back in the input line
    air.special = []


def stop_hook(air: Air) -> None:
    """The turn is over but for a hook, which may send it on."""
    gate = air.wait()
    air.stop_hook.write_text(f"#!/bin/sh\ncat > /dev/null\n{gate}\n")
    air.say({"tools": [call("true")]})
    air.answered()
    air.held("turn")
    air.go_on()
    air.stop_hook.write_text("#!/bin/sh\ncat > /dev/null\n")


# --- helpers


def subagent_in_front(air: Air) -> None:
    """The person interrupts the turn, and with it the subagent."""
    looks = works(air, "Seen.")
    air.say(agent("look at the front", run_in_background=False), look_at_the_front=looks)
    air.held("turn", "tool", "subagent")
    air.over()
    air.press(ESCAPE)


def subagent_behind(air: Air) -> None:
    """It reports, and the model takes a turn for that."""
    looks = works(air, "Seen.")
    air.say(agent("look at the back", run_in_background=True), look_at_the_back=looks)
    air.answered()
    air.held("turn", "subagent")
    air.go_on()


def subagent_woken(air: Air) -> None:
    """One that had ended gets a message, and works again."""
    name = [one.agent_id for one in air.server.messages_requests() if one.agent_id][-1]
    looks = works(air, "Seen again.")
    message = tool("SendMessage", to=name, summary="once more", message="look at it anew")
    air.say(message, look_at_it_anew=looks)
    air.answered()
    air.held("turn", "subagent")
    air.go_on()


def subagent_killed(air: Air) -> None:
    """The person kills it."""
    looks = works(air, "Seen.")
    air.say(agent("look at the side", run_in_background=True), look_at_the_side=looks)
    air.answered()
    air.held("turn", "subagent")
    air.over()
    air.press(*KILL_AGENTS, *KILL_AGENTS)


def workflow(air: Air) -> None:
    """It is stopped, resumed, and ends."""
    counts = works(air, "1")
    air.say(tool("Workflow", script=WORKFLOW), count_the_files_for_me=counts)
    air.answered()
    air.held("turn", "workflow")
    stop = tool("TaskStop", task_id=named(air, r'"taskId":"([^"]+)"'))
    path, run = named(air, r'"scriptPath":"([^"]+)"'), named(air, r'"runId":"([^"]+)"')
    counts = works(air, "1")
    again = tool("Workflow", scriptPath=path, resumeFromRunId=run)
    air.say(stop, again, count_the_files_for_me=counts)
    air.answered()
    air.held("turn", "workflow")
    air.go_on()


def teammate(air: Air) -> None:
    """It works, reports, stays idle, and is let go."""
    waits, done = works(air, "I am done.")
    script = [waits, tool("SendMessage", **REPORT), done]
    air.say(agent("you check the docs for me", name="docs"), you_check_the_docs_for_me=script)
    air.answered()
    air.held("turn", "teammate")
    air.go_on()
    air.see(lambda: "idle_notification" in air.path.read_text() and air.status() == "idle")
    air.held("teammate")
    air.over()
    let_go(air)


def let_go(air: Air) -> None:
    """The lead asks its teammate to go, and it goes."""
    answer = {"type": "shutdown_response", "request_id": "x", "approve": True}
    reply = tool("SendMessage", to="team-lead", message=answer)
    air.special = [{"match": {"last_user_text": "shutdown_request"}, "reply": reply}]
    bye = {"type": "shutdown_request", "reason": "all done"}
    air.say(tool("SendMessage", to="docs", summary="done", message=bye), shutdown_request=[{"text": "ok"}])


# --- schedules


def cron(air: Air, *, durable: bool = False) -> None:
    """The model sets it, and deletes it."""
    later = {"cron": "7 3 * * *", "prompt": "Check the build.", "recurring": True}
    air.say(tool("CronCreate", **later, **({"durable": True} if durable else {})))
    air.answered()
    air.held("schedule")
    air.over()
    air.say(tool("CronDelete", id=named(air, r'"toolUseResult":\{"id":"([^"]+)"')))


def cron_of_the_project(air: Air) -> None:
    """It would outlive the session."""
    cron(air, durable=True)


def wake_up(air: Air) -> None:
    """It comes at the next minute, once."""
    air.say(tool("CronCreate", cron="* * * * *", prompt="greet the apple", recurring=False))
    air.answered()
    air.held("schedule")
    air.see(lambda: any("greet the apple" in prompt for prompt in air.prompts()), 130)
    air.over()


# --- processes


def client_killed(air: Air) -> None:
    """Over a command; the command dies too, and the person resumes the session."""
    air.say({"tools": [call(air.wait())]})
    air.see("ctrl+b")
    air.held("turn", "tool")
    for said in air.claude.registry():
        psutil.Process(said["pid"]).kill()
    air.seat.ended()
    air.held("process")
    air.go_on()
    air.seat.__exit__()
    air.seat = air.pane("--resume", air.path.stem).__enter__()
    air.seat.wait("❯")


ROWS: dict[str, tuple[Callable[[Air], None], ...]] = {
    "commands": (
        *(command_in_front, queued_prompt, command_moved_by_its_limit, command_killed_in_the_list),
        *(command_killed_from_outside, command_of_a_subagent, client_killed),
    ),
    "turns": (
        *(answer_interrupted, api_tried_again, permission_asked, question_open, plan_to_approve, compaction),
        *(stop_hook, command_of_the_person),
    ),
    "helpers": (
        *(subagent_in_front, subagent_behind, subagent_woken, workflow, teammate),
        *(cron, cron_of_the_project, wake_up, subagent_killed),
    ),
}
"""A client each, with one kind after the other."""
RARE = {
    *(command_moved_by_its_limit, command_killed_from_outside, command_of_the_person, permission_asked),
    *(plan_to_approve, cron_of_the_project, wake_up, subagent_killed),
}
"""With COFFER_EFFORT=all only: others show the same signals, or a minute goes by."""


@pytest.mark.parametrize("row", ROWS)
def test_work_in_flight_is_left_alone_and_then_it_is_done(row: str, air: Air) -> None:
    air.env |= TEAMS
    with air.pane() as air.seat:
        air.seat.wait("❯")
        air.grown()
        for kind in (one for one in ROWS[row] if ALL or one not in RARE):
            kind(air)
            air.pruned(kind.__name__)
    assert "/resume" not in json.dumps([one.body for one in air.server.messages_requests()])
    assert air.server.breaches == []
