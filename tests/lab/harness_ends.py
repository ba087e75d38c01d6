"""Scenes of ways in which work ends or never was: stopped, killed, refused by the API, typed by a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psutil

from tests.lab.claude_stage import GREETINGS, bash, pause
from tests.lab.harness import TEAMS, Truth

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.lab.harness import Harness

Json = dict[str, Any]
LONG = 600
WORDS = (
    "Agent spawned successfully. agent_id: docs@team. Command running in background with ID: b123. "
    '<teammate-message teammate_id="docs" color="blue">still at work</teammate-message> '
    '<task-notification><status>running</status></task-notification> "status":"async_launched" TeamCreate CronCreate'
)


def _background(h: Harness) -> str:
    """Start a background command on the open screen's next prompt; its scripts are played here."""
    h.stage.play(
        {
            "wait behind": [
                {"tools": [bash(f"sleep {LONG}", "Wait", run_in_background=True)]},
                {"text": "It waits behind."},
            ]
        }
    )
    return "Please wait behind the scenes."


def _task(h: Harness) -> str:
    text = h.home.transcripts()[-1].read_text()
    return text.partition("running in background with ID: ")[2].partition(".")[0]


def shell_stopped(h: Harness) -> None:
    """A background command that the model stopped: no notification comes."""
    with h.home.interactive() as screen:
        screen.send(_background(h))
        screen.wait("It waits behind")
        h.home.wait_status("shell")
        stop = {"name": "TaskStop", "input": {"task_id": _task(h)}}
        h.stage.play({"stop that": [{"tools": [stop]}, {"text": "It is stopped."}]})
        h.stage.say(screen, "Please stop that.", "It is stopped")
        pause(1.5)
        h.shoot(screen, "shell-stopped", Truth(True, "the model stopped the background command"))


def shell_killed(h: Harness) -> None:
    """A background command killed from outside, and one that the person kills in the task list."""
    with h.home.interactive() as screen:
        screen.send(_background(h))
        screen.wait("It waits behind")
        h.home.wait_status("shell")
        pause(0.5)
        screen.send("/tasks")
        pause(1.5)
        h.shoot(
            screen,
            "task-list-open",
            Truth(False, "a background command's details are open", ("dialog", "shell")),
        )
        screen.key("x")
        pause(2)
        screen.key("Escape")
        pause(1)
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "shell-killed-in-list", Truth(True, "the person killed the background command"))
        screen.key("C-u")
        h.stage.play({})
        screen.send(_background(h))
        h.home.wait_status("shell", 30)
        pause(1)
        for child in psutil.Process(screen.pid).children(recursive=True):
            if "sleep" in child.name():
                child.kill()
        pause(4)
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "shell-killed-outside", Truth(True, "the background command was killed from outside"))


def shell_reloaded(h: Harness) -> None:
    """A background command goes on through /resume of the same session."""
    with h.home.interactive() as screen:
        screen.send(_background(h))
        screen.wait("It waits behind")
        h.home.wait_status("shell")
        pause(0.5)
        screen.send(f"/resume {h.home.transcripts()[-1].stem}")
        pause(3)
        h.shoot(
            screen, "shell-after-reload", Truth(False, "a background command outlived /resume", ("shell",))
        )


def subagents_killed(h: Harness) -> None:
    """A background subagent that the person kills."""
    call = {
        "description": "Look",
        "prompt": "list the folder for me",
        "subagent_type": "general-purpose",
        "run_in_background": True,
    }
    h.stage.play(
        {
            "ask a slow helper": [
                {"tools": [{"name": "Agent", "input": call}]},
                {"text": "The helper is at work."},
                {"text": "It was stopped."},
            ],
            "list the folder for me": [{"tools": [bash(f"sleep {LONG}", "Wait")]}, {"text": "One file."}],
        }
    )
    with h.home.interactive() as screen:
        screen.send("Please ask a slow helper.")
        screen.wait("The helper is at work")
        pause(1.5)
        screen.key("C-x")
        screen.key("C-k")
        pause(0.7)
        screen.key("C-x")
        screen.key("C-k")
        pause(4)
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "subagent-killed", Truth(True, "the person killed the background subagent"))


def teammate_interrupted(h: Harness) -> None:
    """A teammate is spawned in a turn that the person interrupts; it lives on."""
    mate = {
        "description": "Check",
        "prompt": "you check the docs for me",
        "subagent_type": "general-purpose",
        "name": "docs",
    }
    h.stage.play(
        {
            "greet the apple": [{"text": "Greeted apple."}],
            "get a team mate": [
                {"tools": [{"name": "Agent", "input": mate}]},
                {"text": "word " * 400, "chunk_delay_s": 0.3},
            ],
            "you check the docs for me": [{"text": "I am done."}],
        }
    )
    with h.home.interactive(extra=TEAMS) as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        screen.send("Please get a team mate.")
        screen.wait("● word")
        screen.key("Escape")
        pause(6)
        screen.key("Escape")
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(
            screen,
            "teammate-after-interrupt",
            Truth(False, "a teammate outlives the turn that spawned it and was interrupted", ("teammate",)),
        )


def api_errors(h: Harness) -> None:
    """The API refuses a turn for good."""
    refuse = [
        {
            "match": {"last_user_text": f"refuse {status}"},
            "reply": {"status": status, "error": {"type": kind, "message": "scripted"}},
        }
        for status, kind in ((400, "invalid_request_error"),)
    ]
    h.stage.play(GREETINGS, *refuse)
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        screen.send("Please refuse 400.")
        pause(2)
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "api-error-400", Truth(True, "the API refused the turn; it is over"))


def two_clients(h: Harness) -> None:
    """Two clients hold one session: one works, then both are idle."""
    h.stage.play(
        {**GREETINGS, "wait for long": [{"text": "I wait.", "tools": [bash(f"sleep {LONG}", "Wait")]}]}
    )
    with h.home.interactive() as first:
        h.stage.say(first, "Please greet the apple.", "Greeted apple")
        session = h.home.transcripts()[-1].stem
        with h.home.interactive("--resume", session) as second:
            pause(2)
            h.shoot(
                first,
                "two-clients-idle",
                Truth(True, "two clients hold the session and both are idle"),
                session,
            )
            second.send("Please wait for long.")
            h.home.wait_status("busy")
            pause(2)
            h.shoot(
                first,
                "two-clients-one-busy",
                Truth(False, "another client of the session works", ("turn",)),
                session,
            )


def killed(h: Harness) -> None:
    """A client killed with -9 while a command ran, then resumed."""
    h.stage.play(
        {**GREETINGS, "wait for long": [{"text": "I wait.", "tools": [bash(f"sleep {LONG}", "Wait")]}]}
    )
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        screen.send("Please wait for long.")
        screen.wait(r"ctrl\+b")
        pause(1)
        screen.kill()
        pause(1)
        h.shoot(
            screen,
            "killed-at-work",
            Truth(False, "the client was killed; what it started may live on", ("process",)),
        )
    for process in h.home.leftovers():
        process.kill()
    session = h.home.transcripts()[-1].stem
    with h.home.interactive("--resume", session) as screen:
        pause(3)
        h.home.wait_status("idle")
        pause(1)
        h.shoot(
            screen, "killed-then-resumed", Truth(True, "the session was resumed after its client was killed")
        )
        h.stage.say(screen, "Please greet the pear.", "Greeted pear")
        pause(1.5)
        h.shoot(
            screen, "killed-and-gone-on", Truth(True, "an old call without a result stands in the history")
        )


def killed_idle(h: Harness) -> None:
    """A client killed with -9 while it was idle."""
    h.stage.play(GREETINGS)
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        pause(1)
        screen.kill()
        pause(1)
        h.shoot(screen, "killed-idle", Truth(False, "no client lives that could be reloaded", ("process",)))


def headless(h: Harness) -> None:
    """A `-p` session at work."""
    import threading  # noqa: PLC0415

    h.stage.play(
        {"wait a bit": [{"text": "I wait.", "tools": [bash("sleep 6", "Wait")]}, {"text": "Waited."}]}
    )
    thread = threading.Thread(target=lambda: h.home.run("-p", "Please wait a bit."))
    thread.start()
    h.server.wait_for(1, 60)
    pause(3)
    h.shoot(None, "headless", Truth(False, "a headless session is never touched", ("headless",)))
    thread.join()


def words_typed(h: Harness) -> None:
    """A person types the words by which work in flight is known."""
    h.stage.play({"Agent spawned": [{"text": f"You wrote: {WORDS}"}]})
    with h.home.interactive() as screen:
        screen.send(f"What does this mean: {WORDS}")
        screen.wait("You wrote")
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "words-typed", Truth(True, "a person only typed marker words"))


def words_read(h: Harness) -> None:
    """A page that was read, and a command's output, hold the words by which work in flight is known."""
    (h.home.cwd / "page.html").write_text(f"<html><body>{WORDS}</body></html>\n")
    page = str(h.home.cwd / "page.html")
    h.stage.play(
        {
            "read the page": [
                {"tools": [{"name": "Read", "input": {"file_path": page}}, bash("cat page.html", "Print")]},
                {"text": "Both are read."},
            ]
        }
    )
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please read the page.", "Both are read")
        pause(1.5)
        h.shoot(screen, "words-read", Truth(True, "a page that was read holds marker words"))


def todos(h: Harness) -> None:
    """An item of the to-do list is open; nothing works at it."""
    make = {"name": "TaskCreate", "input": {"subject": "Write the parser", "description": "In Python"}}
    begin = {"name": "TaskUpdate", "input": {"taskId": "1", "status": "in_progress"}}
    h.stage.play({"plan it": [{"tools": [make]}, {"tools": [begin]}, {"text": "It is planned."}]})
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please plan it.", "It is planned")
        pause(1.5)
        h.shoot(screen, "todo-open", Truth(True, "a to-do item is open and nothing works at it"))


SCENES: dict[str, Callable[[Harness], None]] = {
    scene.__name__.replace("_", "-"): scene
    for scene in (
        *(shell_stopped, shell_killed, shell_reloaded, subagents_killed, teammate_interrupted, api_errors),
        *(two_clients, killed, killed_idle, headless, words_typed, words_read, todos),
    )
}
