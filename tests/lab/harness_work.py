"""Scenes of work in flight, one function each; most go on to the moment when that work has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.lab.claude_stage import bash, pause
from tests.lab.harness import TEAMS, Truth

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.lab.harness import Harness

Json = dict[str, Any]
LONG = 600  # seconds that work in flight would take


def _agent(prompt: str, **more: Any) -> Json:
    given = {"description": "Look around", "prompt": prompt, "subagent_type": "general-purpose", **more}
    return {"name": "Agent", "input": given}


def tool_in_front(h: Harness) -> None:
    """A command runs in front; the person sends it to the background; it is killed from there."""
    h.stage.play(
        {
            "wait for long": [
                {"text": "I wait.", "tools": [bash(f"sleep {LONG}", "Wait")]},
                {"text": "It waits."},
            ]
        }
    )
    with h.home.interactive() as screen:
        screen.send("Please wait for long.")
        screen.wait(r"ctrl\+b")
        pause(1)
        h.shoot(screen, "tool-running", Truth(False, "a command runs in front", ("turn", "tool")))
        screen.key("C-b")
        screen.wait("It waits")
        h.home.wait_status("shell")
        pause(1)
        h.shoot(
            screen, "shell-by-ctrl-b", Truth(False, "the person sent a command to the background", ("shell",))
        )


def permission(h: Harness) -> None:
    """A permission prompt is open; the person says no."""
    h.settings(allow=("Read",))
    h.stage.play(
        {"touch it": [{"text": "I make it.", "tools": [bash("touch a.txt", "Touch")]}, {"text": "Done."}]}
    )
    with h.home.interactive() as screen:
        screen.send("Please touch it.")
        screen.wait("Do you want to proceed")
        h.home.wait_status("waiting")
        pause(0.5)
        h.shoot(screen, "permission-prompt", Truth(False, "a permission is asked for", ("dialog", "tool")))
        screen.key("Escape")
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "tool-rejected", Truth(True, "the person refused the call; the turn is over"))


def question(h: Harness) -> None:
    """The model asks the person to choose."""
    options = [{"label": word, "description": f"Greet the {word}"} for word in ("apple", "pear")]
    asked = {"question": "Which fruit?", "header": "Fruit", "options": options, "multiSelect": False}
    h.stage.play(
        {
            "ask me first": [
                {"tools": [{"name": "AskUserQuestion", "input": {"questions": [asked]}}]},
                {"text": "Well."},
            ]
        }
    )
    with h.home.interactive() as screen:
        screen.send("Please ask me first.")
        screen.wait("Which fruit")
        h.home.wait_status("waiting")
        pause(0.5)
        h.shoot(screen, "question-open", Truth(False, "a question to the person is open", ("dialog", "tool")))


def shell(h: Harness) -> None:
    """A background command runs, and ends by itself; the client takes a turn for that."""
    turns: list[Json] = [
        {"tools": [bash("sleep 6; echo built", "Build", run_in_background=True)]},
        {"text": "The build runs."},
        {"text": "The build is done."},
    ]
    h.stage.play({"build it behind": turns})
    with h.home.interactive() as screen:
        screen.send("Please build it behind the scenes.")
        screen.wait("The build runs")
        h.home.wait_status("shell")
        pause(1)
        h.shoot(screen, "shell-running", Truth(False, "a background command runs", ("shell",)))
        screen.wait("The build is done", 30)
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "shell-ended", Truth(True, "the background command has ended and was reported"))


def shell_by_timeout(h: Harness) -> None:
    """A command in front takes longer than its limit; the client moves it to the background."""
    turns: list[Json] = [
        {"text": "I wait.", "tools": [bash(f"sleep {LONG}", "Wait", timeout=2000)]},
        {"text": "It ran out of time."},
    ]
    follow = bash("tail -f /dev/null", "Follow", timeout=2000)
    h.stage.play(
        {
            "wait a while": turns,
            "follow the log": [{"text": "I follow.", "tools": [follow]}, {"text": "It goes on."}],
        }
    )
    with h.home.interactive() as screen:
        screen.send("Please wait a while.")
        screen.wait("It ran out of time", 40)
        pause(2)
        h.shoot(screen, "tool-timed-out", Truth(True, "the command was ended by its limit"))
        screen.send("Please follow the log.")
        screen.wait("It goes on", 40)
        pause(2)
        h.shoot(
            screen,
            "shell-by-timeout",
            Truth(False, "a command was moved to the background by its limit", ("shell",)),
        )


def subagent_front(h: Harness) -> None:
    """A subagent works in front; the person interrupts it."""
    h.stage.play(
        {
            "ask a helper": [
                {"text": "I ask.", "tools": [_agent("list the folder for me", run_in_background=False)]},
                {"text": "Seen."},
            ],
            "list the folder for me": [{"tools": [bash(f"sleep {LONG}", "Wait")]}, {"text": "One file."}],
        }
    )
    with h.home.interactive() as screen:
        screen.send("Please ask a helper.")
        h.server.wait_for(1, 20, until=lambda request: bool(request.agent_id))
        pause(2.5)
        h.shoot(
            screen,
            "subagent-in-front",
            Truth(False, "a subagent works in front", ("turn", "tool", "subagent")),
        )
        screen.key("Escape")
        h.home.wait_status("idle")
        pause(2)
        h.shoot(
            screen, "subagent-interrupted", Truth(True, "the person interrupted the turn and its subagent")
        )


def _helpers(seconds: int) -> dict[str, list[Json]]:
    return {
        "ask a slow helper": [
            {"tools": [_agent("list the folder for me", run_in_background=True)]},
            {"text": "The helper is at work."},
            {"text": "The helper is back."},
        ],
        "list the folder for me": [
            {"tools": [bash(f"sleep {seconds}; echo a", "Wait")]},
            {"text": "One file."},
        ],
    }


def subagent_behind(h: Harness) -> None:
    """A background subagent works, reports, and is woken again by a message."""
    h.stage.play(_helpers(5))
    with h.home.interactive() as screen:
        screen.send("Please ask a slow helper.")
        screen.wait("The helper is at work")
        pause(1.5)
        h.shoot(screen, "subagent-behind", Truth(False, "a background subagent works", ("turn", "subagent")))
        screen.wait("The helper is back", 30)
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "subagent-ended", Truth(True, "the background subagent has ended and was reported"))
        agent = next(r.agent_id for r in h.server.messages_requests() if r.agent_id)
        again = {"to": agent, "summary": "once more", "message": "count the folder anew"}
        h.stage.play(
            {
                "wake the helper": [
                    {"tools": [{"name": "SendMessage", "input": again}]},
                    {"text": "It is awake."},
                    {"text": "Again."},
                ],
                "count the folder anew": [{"tools": [bash(f"sleep {LONG}", "Wait")]}, {"text": "One."}],
            }
        )
        screen.send("Please wake the helper.")
        screen.wait("It is awake")
        pause(2)
        h.shoot(
            screen,
            "subagent-woken",
            Truth(False, "a finished subagent was woken by a message", ("turn", "subagent")),
        )


def teammate(h: Harness) -> None:
    """A named teammate works, reports, stays idle; the lead lets it go."""
    report = {"to": "team-lead", "summary": "docs are fine", "message": "I read the docs: they are fine."}
    h.stage.play(
        {
            "get a team mate": [
                {"tools": [_agent("you check the docs for me", name="docs")]},
                {"text": "The mate is at work."},
                {"text": "The mate says that the docs are fine."},
                {"text": "The mate is idle."},
            ],
            "you check the docs for me": [
                {"tools": [bash("sleep 5; echo docs", "Read")]},
                {"tools": [{"name": "SendMessage", "input": report}]},
                {"text": "I am done."},
            ],
        }
    )
    with h.home.interactive(extra=TEAMS) as screen:
        screen.send("Please get a team mate.")
        screen.wait("The mate is at work")
        pause(1.5)
        h.shoot(screen, "teammate-working", Truth(False, "a teammate works", ("turn", "teammate")))
        screen.wait("The mate says that the docs are fine", 30)
        pause(5)
        h.home.wait_status("idle")
        pause(1)
        h.shoot(screen, "teammate-idle", Truth(False, "an idle teammate waits for messages", ("teammate",)))
        bye = {"to": "docs", "summary": "done", "message": {"type": "shutdown_request", "reason": "all done"}}
        h.stage.play(
            {
                "let the mate go": [
                    {"tools": [{"name": "SendMessage", "input": bye}]},
                    {"text": "I asked it to go."},
                    {"text": "It went."},
                ],
                "shutdown_request": [{"text": "ok"}],
            },
            {
                "match": {"last_user_text": "shutdown_request"},
                "reply": {
                    "tools": [
                        {
                            "name": "SendMessage",
                            "input": {
                                "to": "team-lead",
                                "message": {"type": "shutdown_response", "request_id": "x", "approve": True},
                            },
                        }
                    ]
                },
            },
        )
        screen.send("Please let the mate go.")
        screen.wait("I asked it to go")
        pause(6)
        h.shoot(screen, "teammate-finished", Truth(True, "the teammate was asked to go and has gone"))


def team_compacted(h: Harness) -> None:
    """A team with a list of tasks and a background command, before a compaction and behind it."""
    report = {"to": "team-lead", "summary": "docs are fine", "message": "I read the docs: they are fine."}
    made = [_task(subject) for subject in ("Write the parser", "Test the parser", "Read the spec")]
    h.stage.play(
        {
            "plan it": [
                {"tools": made},
                {"tools": [_changed("2", status="in_progress"), _changed("3", status="completed")]},
                {"text": "It is planned."},
            ],
            "get a team mate": [
                {"tools": [_agent("you check the docs for me", name="docs")]},
                {"text": "The mate is at work."},
                {"text": "The mate says that the docs are fine."},
                {"text": "The mate is idle."},
            ],
            "you check the docs for me": [
                {"tools": [{"name": "SendMessage", "input": report}]},
                {"text": "I am done."},
            ],
            "build it behind": [
                {"tools": [bash(f"sleep {LONG}", "Build", run_in_background=True)]},
                {"text": "The build runs."},
            ],
        }
    )
    with h.home.interactive(extra=TEAMS) as screen:
        h.stage.say(screen, "Please plan it.", "It is planned")
        screen.send("Please get a team mate.")
        screen.wait("The mate says that the docs are fine", 30)
        pause(3)
        h.home.wait_status("idle")
        pause(1)
        screen.send("Please build it behind the scenes.")
        screen.wait("The build runs")
        h.home.wait_status("shell")
        pause(1.5)
        h.shoot(
            screen,
            "team-before-compaction",
            Truth(False, "an idle teammate and a background command", ("teammate", "shell")),
        )
        screen.send("/compact")
        screen.wait("Compacted")
        h.home.wait_status("shell")
        pause(1.5)
        h.shoot(
            screen,
            "team-compacted",
            Truth(False, "both outlived the compaction", ("teammate", "shell")),
        )


def _task(subject: str) -> Json:
    return {"name": "TaskCreate", "input": {"subject": subject, "description": "In Python"}}


def _changed(name: str, **to: str) -> Json:
    return {"name": "TaskUpdate", "input": {"taskId": name, **to}}


def workflow(h: Harness) -> None:
    """A workflow runs, and ends."""
    code = (
        "export const meta = { name: 'count', description: 'count files', phases: [{title: 'Count'}] }\n"
        "phase('Count')\nconst n = await agent('count the files for me')\nlog('got ' + n)\nreturn {n}\n"
    )
    h.stage.play(
        {
            "use a workflow": [
                {"tools": [{"name": "Workflow", "input": {"script": code}}]},
                {"text": "The workflow runs."},
                {"text": "It counted."},
            ],
            "count the files for me": [{"tools": [bash("sleep 5; echo 1", "Count")]}, {"text": "1"}],
        }
    )
    with h.home.interactive() as screen:
        screen.send("Please use a workflow.")
        screen.wait("The workflow runs", 30)
        pause(1.5)
        h.shoot(screen, "workflow-running", Truth(False, "a workflow runs", ("turn", "workflow")))
        screen.wait("It counted", 30)
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "workflow-ended", Truth(True, "the workflow has ended and was reported"))


SCENES: dict[str, Callable[[Harness], None]] = {
    scene.__name__.replace("_", "-"): scene
    for scene in (
        *(
            tool_in_front,
            permission,
            question,
            shell,
            shell_by_timeout,
            subagent_front,
            subagent_behind,
            teammate,
        ),
        team_compacted,
        workflow,
    )
}
