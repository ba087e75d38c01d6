"""Scenes at the edges: turns that end without a Stop, commands that are no turns, work that outlives its parent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psutil

from tests.lab.claude_stage import GREETINGS, bash, pause
from tests.lab.harness import Truth

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.lab.claude import Tmux
    from tests.lab.harness import Harness

Json = dict[str, Any]
LONG = 600
ENDLESS: Json = {"text": "word " * 400, "chunk_delay_s": 0.3}


def _cut_off(h: Harness, screen: Tmux, prompt: str) -> None:
    """Send a prompt and interrupt the endless answer that follows its calls."""
    screen.send(prompt)
    screen.wait("● word", 30)
    pause(0.5)
    screen.key("Escape")
    h.home.wait_status("idle")
    pause(2)


def cron_no_stop(h: Harness) -> None:
    """A cron is set in a turn that the person interrupts: no Stop lists it."""
    later = {"cron": "7 3 * * *", "prompt": "Check the build.", "recurring": True}
    h.stage.play({**GREETINGS, "set a cron": [{"tools": [{"name": "CronCreate", "input": later}]}, ENDLESS]})
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        _cut_off(h, screen, "Please set a cron.")
        h.shoot(
            screen, "cron-set-no-stop", Truth(False, "a cron is set that no Stop has listed", ("schedule",))
        )


def subagent_no_stop(h: Harness) -> None:
    """A subagent in front has ended in a turn that the person then interrupts."""
    call = {
        "description": "Look",
        "prompt": "list the folder for me",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
    h.stage.play(
        {
            "ask a helper": [{"tools": [{"name": "Agent", "input": call}]}, ENDLESS],
            "list the folder for me": [{"tools": [bash("echo a")]}, {"text": "One file."}],
        }
    )
    with h.home.interactive() as screen:
        _cut_off(h, screen, "Please ask a helper.")
        h.shoot(
            screen, "subagent-done-no-stop", Truth(True, "the subagent had ended before the interruption")
        )


def shells_of_subagents(h: Harness) -> None:
    """Background commands of subagents: one dies with its parent in front, one outlives its parent behind."""

    def call(prompt: str, *, behind: bool) -> Json:
        return {
            "name": "Agent",
            "input": {
                "description": "Look",
                "prompt": prompt,
                "subagent_type": "general-purpose",
                "run_in_background": behind,
            },
        }

    helper: list[Json] = [
        {"tools": [bash(f"sleep {LONG}", "Wait", run_in_background=True)]},
        {"text": "It waits."},
    ]
    h.stage.play(
        {
            "ask the front helper": [
                {"tools": [call("begin the front wait", behind=False)]},
                {"text": "The front helper is back."},
            ],
            "ask the other helper": [
                {"tools": [call("begin the other wait", behind=True)]},
                {"text": "It was asked."},
                {"text": "The other helper is back."},
            ],
            "begin the front wait": helper,
            "begin the other wait": helper,
        }
    )
    with h.home.interactive() as screen:
        screen.send("Please ask the front helper.")
        screen.wait("The front helper is back", 30)
        pause(4)
        h.shoot(screen, "shell-of-subagent-in-front", Truth(True, "the command died with its subagent"))
        screen.send("Please ask the other helper.")
        screen.wait("The other helper is back", 40)
        pause(4)
        h.shoot(
            screen, "shell-of-subagent-behind", Truth(False, "a command outlives its subagent", ("shell",))
        )


def no_turns(h: Harness) -> None:
    """Commands of the client, a command of the person, and a compaction that is refused: none leaves work."""
    h.stage.play(GREETINGS)
    with h.home.interactive() as screen:
        screen.send("/compact")
        pause(3)
        h.shoot(screen, "compaction-refused", Truth(True, "there was too little to compact"))
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        screen.send("/context")
        pause(2.5)
        screen.send("/rename fruit")
        pause(2)
        h.shoot(screen, "local-command", Truth(True, "a command of the client is over"))
        screen.send("!echo typed by hand")
        pause(3)
        h.home.wait_status("idle")
        pause(1)
        h.shoot(screen, "command-of-the-person-ended", Truth(True, "a command that the person typed is over"))


def prompt_blocked(h: Harness) -> None:
    """A hook refuses the person's prompt."""
    block = h.stage.script("block", '#!/bin/sh\ncase "$(cat)" in *pear*) echo no >&2; exit 2;; esac\n')
    h.settings(hooks={"UserPromptSubmit": [{"hooks": [{"type": "command", "command": str(block)}]}]})
    h.stage.play(GREETINGS)
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        screen.send("Please greet the pear.")
        pause(3)
        screen.key("C-u")
        pause(1)
        h.shoot(screen, "prompt-refused-by-hook", Truth(True, "a hook refused the prompt"))


def api_error_500(h: Harness) -> None:
    """The API fails and says that trying again is of no use."""
    failed = {
        "status": 500,
        "error": {"type": "api_error", "message": "scripted"},
        "headers": {"x-should-retry": "false"},
    }
    h.stage.play(GREETINGS, {"match": {"last_user_text": "fail now"}, "reply": failed})
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        screen.send("Please fail now.")
        pause(3)
        h.home.wait_status("idle", 200)
        pause(1.5)
        h.shoot(screen, "api-error-500", Truth(True, "the API failed; the turn is over"))


def shell_killed_client(h: Harness) -> None:
    """A client killed with -9 over a background command, then resumed: it takes a turn by itself."""
    h.stage.play(
        {
            "wait behind": [
                {"tools": [bash(f"sleep {LONG}", "Wait", run_in_background=True)]},
                {"text": "It waits."},
            ]
        }
    )
    with h.home.interactive() as screen:
        screen.send("Please wait behind the scenes.")
        screen.wait("It waits")
        h.home.wait_status("shell")
        pause(1)
        children = psutil.Process(screen.pid).children(recursive=True)
        screen.kill()
        pause(1)
        h.shoot(
            screen,
            "killed-over-shell",
            Truth(False, "the client was killed; its command lives on", ("process",)),
        )
    session = h.home.transcripts()[-1].stem
    with h.home.interactive("--resume", session) as screen:
        pause(6)
        h.home.wait_status("idle", 30)
        pause(2)
        h.shoot(
            screen,
            "killed-over-shell-resumed",
            Truth(True, "the client looked for its command and gave it up"),
        )
    for child in children:
        if child.is_running():
            child.kill()


def plan(h: Harness) -> None:
    """A plan waits for the person's approval."""
    call = {"name": "ExitPlanMode", "input": {"plan": "1. Write it."}}
    h.stage.play({"plan it first": [{"text": "Here it is.", "tools": [call]}, {"text": "Well."}]})
    with h.home.interactive("--permission-mode", "plan") as screen:
        screen.send("Please plan it first.")
        h.home.wait_status("waiting")
        pause(1.5)
        h.shoot(screen, "plan-approval", Truth(False, "a plan waits for approval", ("dialog", "tool")))


def stopped_by_hook(h: Harness) -> None:
    """A Stop hook sends the turn on once; then it ends."""
    again = h.stage.script(
        "again",
        '#!/bin/sh\ncase "$(cat)" in *\'"stop_hook_active":true\'*) exit 0;; esac\n'
        'printf \'{"decision":"block","reason":"greet the pear too"}\'\n',
    )
    h.settings(hooks={"Stop": [{"hooks": [{"type": "command", "command": str(again)}]}]})
    h.stage.play({"greet the apple": [{"text": "Greeted apple."}, {"text": "Greeted pear."}]})
    with h.home.interactive() as screen:
        screen.send("Please greet the apple.")
        screen.wait("Greeted pear")
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(
            screen, "stop-hook-sent-on", Truth(True, "a Stop hook sent the turn on, and it has ended since")
        )


def workflow_stopped(h: Harness) -> None:
    """A workflow that the model stops."""
    code = (
        "export const meta = { name: 'count', description: 'count files', phases: [{title: 'Count'}] }\n"
        "phase('Count')\nconst n = await agent('count the files for me')\nreturn {n}\n"
    )
    h.stage.play(
        {
            "use a workflow": [
                {"tools": [{"name": "Workflow", "input": {"script": code}}]},
                {"text": "The workflow runs."},
            ],
            "count the files for me": [{"tools": [bash(f"sleep {LONG}", "Count")]}, {"text": "1"}],
        }
    )
    with h.home.interactive() as screen:
        screen.send("Please use a workflow.")
        screen.wait("The workflow runs", 30)
        pause(2)
        task = h.home.transcripts()[-1].read_text().partition('"taskId":"')[2].partition('"')[0]
        stop = {"name": "TaskStop", "input": {"task_id": task}}
        h.stage.play({"stop that": [{"tools": [stop]}, {"text": "It is stopped."}, {"text": "Yes."}]})
        screen.send("Please stop that.")
        screen.wait("It is stopped")
        pause(4)
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "workflow-stopped", Truth(True, "the model stopped the workflow"))


SCENES: dict[str, Callable[[Harness], None]] = {
    scene.__name__.replace("_", "-"): scene
    for scene in (
        *(cron_no_stop, subagent_no_stop, shells_of_subagents, no_turns, prompt_blocked, api_error_500),
        *(shell_killed_client, plan, stopped_by_hook, workflow_stopped),
    )
}
