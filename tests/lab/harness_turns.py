"""Scenes of turns and schedules: crons and wake-ups, compaction, queues, answers, Stop hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.lab.claude_stage import GREETINGS, bash, pause
from tests.lab.harness import MORE_EVENTS, Truth

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.lab.harness import Harness

Json = dict[str, Any]
LONG = 600


def cron(h: Harness) -> None:
    """A cron is set, comes back with the session, and is deleted."""
    later = {"cron": "7 3 * * *", "prompt": "Check the build.", "recurring": True}
    h.stage.play(
        {"set a cron": [{"tools": [{"name": "CronCreate", "input": later}]}, {"text": "It is set."}]}
    )
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please set a cron.", "It is set")
        pause(1.5)
        h.shoot(screen, "cron-set", Truth(False, "a cron of the session is set", ("schedule",)))
        screen.send("/exit")
        screen.wait("Exit anyway")
        screen.key("Enter")
        screen.wait_end()
    session = h.home.transcripts()[-1].stem
    with h.home.interactive("--resume", session) as screen:
        h.home.wait_status("idle")
        pause(2)
        h.shoot(
            screen, "cron-after-resume", Truth(False, "the session's cron came back with it", ("schedule",))
        )
        text = h.home.transcripts()[-1].read_text()
        job = text.partition('"toolUseResult":{"id":"')[2].partition('"')[0]
        h.stage.play(
            {
                "delete the cron": [
                    {"tools": [{"name": "CronDelete", "input": {"id": job}}]},
                    {"text": "It is gone."},
                ]
            }
        )
        h.stage.say(screen, "Please delete the cron.", "It is gone")
        pause(1.5)
        h.shoot(screen, "cron-deleted", Truth(True, "the cron was deleted"))


def cron_durable(h: Harness) -> None:
    """A cron that outlives the session stands in the project's folder."""
    later = {"cron": "7 3 * * *", "prompt": "Check the build.", "recurring": True, "durable": True}
    h.stage.play(
        {"set a cron": [{"tools": [{"name": "CronCreate", "input": later}]}, {"text": "It is set."}]}
    )
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please set a cron.", "It is set")
        pause(1.5)
        h.shoot(screen, "cron-durable", Truth(False, "a cron of the project is set", ("schedule",)))
        text = h.home.transcripts()[-1].read_text()
        job = text.partition('"toolUseResult":{"id":"')[2].partition('"')[0]
        gone: list[Json] = [
            {"tools": [{"name": "CronDelete", "input": {"id": job}}]},
            {"text": "It is gone."},
        ]
        h.stage.play({"delete the cron": gone})
        h.stage.say(screen, "Please delete the cron.", "It is gone")
        pause(1.5)
        h.shoot(screen, "cron-durable-deleted", Truth(True, "the project's cron was deleted"))


def cron_fired(h: Harness) -> None:
    """A wake-up at the next minute, set and fired."""
    soon = {"cron": "* * * * *", "prompt": "greet the apple", "recurring": False}
    h.stage.play(
        {
            **GREETINGS,
            "set a cron": [{"tools": [{"name": "CronCreate", "input": soon}]}, {"text": "It is set."}],
        }
    )
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please set a cron.", "It is set")
        pause(1)
        h.shoot(screen, "wakeup-set", Truth(False, "a wake-up in at most a minute is set", ("schedule",)))
        screen.wait("Greeted apple", 150)
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "wakeup-fired", Truth(True, "the wake-up came once and was answered"))


def wakeup(h: Harness) -> None:
    """The model asks for a time at which it wakes by itself; this client refuses."""
    later = {"delaySeconds": 1200, "reason": "wait for the build", "prompt": "Check the build."}
    h.stage.play(
        {"wake up later": [{"tools": [{"name": "ScheduleWakeup", "input": later}]}, {"text": "I sleep."}]}
    )
    with h.home.interactive() as screen:
        h.stage.say(screen, "/loop Please wake up later.", "I sleep")
        pause(1.5)
        h.shoot(screen, "wakeup-refused", Truth(True, "the client set no wake-up"))


def compaction(h: Harness) -> None:
    """The conversation is being compacted; then it is."""
    h.stage.play(GREETINGS)
    with h.home.interactive() as screen:
        for word in ("apple", "pear"):
            h.stage.say(screen, f"Please greet the {word}.", f"Greeted {word}")
        slow = {
            "match": {"last_user_text": "Your task is to create a detailed summary"},
            "reply": {"text": "<summary>Fruit was greeted.</summary>", "delay_s": 5},
        }
        h.stage.play(GREETINGS, slow)
        screen.send("/compact")
        pause(2.5)
        h.shoot(screen, "compacting", Truth(False, "the conversation is being compacted", ("turn",)))
        screen.wait("Compacted")
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "compacted", Truth(True, "the compaction is over"))


def queued(h: Harness) -> None:
    """Prompts wait in the queue."""
    h.stage.play(
        {
            "work in steps": [
                {"text": "Step one.", "tools": [bash("sleep 5; echo one", "Step")]},
                {"text": "Step two."},
                {"text": "All is done."},
            ]
        }
    )
    with h.home.interactive() as screen:
        screen.send("Please work in steps.")
        screen.wait("Step one")
        pause(1)
        screen.send("One more wish.")
        pause(1)
        h.shoot(screen, "prompt-queued", Truth(False, "a prompt waits in the queue", ("turn", "tool")))
        screen.wait("Step two", 30)
        pause(3)
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "queue-taken", Truth(True, "the queued prompt was taken and answered"))


def queued_midturn(h: Harness) -> None:
    """A queued prompt is taken in the middle of a turn; another is called back into the input line."""
    turns: list[Json] = [
        {"text": "Step one.", "tools": [bash("sleep 4; echo one", "Step")]},
        {"text": "Step two.", "tools": [bash("echo two", "Step")], "delay_s": 0.5},
        {"text": "Both steps are done."},
    ]
    slow: list[Json] = [{"text": "I wait.", "tools": [bash(f"sleep {LONG}", "Wait")]}]
    h.stage.play({"work in steps": turns, "wait for long": slow})
    with h.home.interactive() as screen:
        screen.send("Please work in steps.")
        screen.wait("Step one")
        screen.send("And mind the second step.")
        screen.wait("Both steps are done")
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(
            screen,
            "queue-taken-midturn",
            Truth(True, "the queued prompt was taken in the middle of the turn"),
        )
        screen.send("Please wait for long.")
        screen.wait(r"ctrl\+b")
        screen.send("One more wish.")
        pause(1)
        screen.key("Up")
        pause(1)
        screen.key("Escape")
        pause(1)
        screen.key("Escape")
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(
            screen, "queue-put-back", Truth(False, "a queued prompt is back in the input line", ("input",))
        )


def every_event(h: Harness) -> None:
    """One turn with hooks on every event that a short session fires."""
    h.settings(events=MORE_EVENTS)
    page = h.home.cwd / "CLAUDE.md"
    page.write_text("Be brief.\n")
    commands = h.home.cwd / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "fruit.md").write_text("Please greet the $ARGUMENTS.\n")
    h.stage.play(
        {
            "greet the apple": [
                {"text": "I do.", "tools": [bash("echo hello", "Greet")]},
                {"text": "Greeted apple."},
            ]
        }
    )
    with h.home.interactive() as screen:
        screen.send("/fruit apple")
        screen.wait("Greeted apple")
        h.home.wait_status("idle")
        h.settings(events=MORE_EVENTS, verbose=False)
        pause(2.5)
        h.shoot(screen, "every-event", Truth(True, "the turn is over; hooks on every event were recorded"))


def answering(h: Harness) -> None:
    """The model is answering; the API makes the client try again; a Stop hook runs; a command of the person runs."""
    h.stage.play(
        {"think for long": [{"thinking": "Slow.", "text": "word " * 400, "chunk_delay_s": 0.3}]},
        {
            "match": {"last_user_text": "try again and again"},
            "reply": {"status": 529, "error": {"type": "overloaded_error", "message": "Overloaded"}},
        },
    )
    with h.home.interactive() as screen:
        screen.send("Please think for long.")
        screen.wait("● word")
        pause(0.5)
        h.shoot(screen, "answering", Truth(False, "the model is answering", ("turn",)))
        screen.key("Escape")
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "answer-interrupted", Truth(True, "the person interrupted the answer"))
        screen.send("!sleep 30")
        pause(2.5)
        h.shoot(
            screen, "command-of-the-person", Truth(False, "a command that the person typed runs", ("turn",))
        )
        screen.key("Escape")
        h.home.wait_status("idle")
        pause(1)
        screen.key("C-u")
        pause(0.5)
        screen.send("Please try again and again.")
        pause(4)
        h.shoot(screen, "api-retry", Truth(False, "the client tries an overloaded API again", ("turn",)))


def stop_hook(h: Harness) -> None:
    """The turn is over but for a Stop hook, which may send it on."""
    slow = h.stage.script("slow", "#!/bin/sh\ncat > /dev/null\nsleep 8\n")
    h.settings(hooks={"Stop": [{"hooks": [{"type": "command", "command": str(slow)}]}]})
    h.stage.play(GREETINGS)
    with h.home.interactive() as screen:
        screen.send("Please greet the apple.")
        screen.wait("Greeted apple")
        pause(2.5)
        h.shoot(
            screen, "stop-hook-running", Truth(False, "a Stop hook runs and may send the turn on", ("turn",))
        )


def notified(h: Harness) -> None:
    """The client tells the person that it waits: for a permission, and later for the next prompt."""
    h.settings(allow=("Read",))
    touch: list[Json] = [{"text": "I make it.", "tools": [bash("touch a.txt", "Touch")]}, {"text": "Done."}]
    h.stage.play({"touch it": touch})
    with h.home.interactive() as screen:
        screen.send("Please touch it.")
        screen.wait("Do you want to proceed")
        pause(9)
        told = Truth(False, "a permission is asked for, and the person was told", ("dialog", "tool"))
        h.shoot(screen, "permission-notified", told)
        screen.key("Enter")
        screen.wait("Done")
        h.home.wait_status("idle")
        pause(66)
        h.shoot(screen, "idle-for-a-minute", Truth(True, "the client told the person that it waits"))


SCENES: dict[str, Callable[[Harness], None]] = {
    scene.__name__.replace("_", "-"): scene
    for scene in (
        *(cron, cron_durable, cron_fired, wakeup, compaction, queued, queued_midturn, answering, stop_hook),
        *(every_event, notified),
    )
}
