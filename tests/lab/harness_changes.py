"""Scenes of a session that changes under its client, and of work that comes in twos: one ends, the other goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.lab.claude_stage import GREETINGS, bash, pause
from tests.lab.harness import TEAMS, Truth

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.lab.claude import Tmux
    from tests.lab.harness import Harness

Json = dict[str, Any]
LONG = 600
ENDLESS: Json = {"text": "word " * 400, "chunk_delay_s": 0.3}
CRON: list[Json] = [
    {
        "tools": [
            {
                "name": "CronCreate",
                "input": {"cron": "7 3 * * *", "prompt": "Check the build.", "recurring": True},
            }
        ]
    },
    {"text": "It is set."},
]


def _agent(prompt: str, **more: Any) -> Json:
    given = {"description": "Look around", "prompt": prompt, "subagent_type": "general-purpose", **more}
    return {"name": "Agent", "input": given}


def _team() -> dict[str, list[Json]]:
    return {
        "get a team mate": [
            {"tools": [_agent("you check the docs for me", name="docs")]},
            {"text": "The mate is at work."},
            {"text": "The mate is idle."},
        ],
        "you check the docs for me": [{"text": "I am done."}],
    }


def _cut_off(h: Harness, screen: Tmux) -> None:
    screen.send("Please think for long.")
    screen.wait("● word", 30)
    pause(1)
    screen.key("Escape")
    h.home.wait_status("idle")
    pause(2)


def cleared(h: Harness) -> None:
    """A schedule outlives /clear, and the new session's first turn is interrupted: no Stop lists it."""
    h.stage.play({"set a cron": CRON, "think for long": [ENDLESS]})
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please set a cron.", "It is set")
        pause(1)
        screen.send("/clear")
        pause(3)
        _cut_off(h, screen)
        h.shoot(
            screen, "cleared-over-cron", Truth(False, "a cron of the process outlived /clear", ("schedule",))
        )


def cron_of_subagent(h: Harness) -> None:
    """A subagent makes a schedule in a turn that the person interrupts: no Stop lists it, nor does the transcript."""
    h.stage.play(
        {
            **GREETINGS,
            "ask a helper": [{"tools": [_agent("set a cron for me", run_in_background=False)]}, ENDLESS],
            "set a cron for me": CRON,
        }
    )
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        screen.send("Please ask a helper.")
        screen.wait("● word", 30)
        pause(1)
        screen.key("Escape")
        h.home.wait_status("idle")
        pause(2)
        told = Truth(False, "a subagent made a cron, which outlives it", ("schedule",))
        h.shoot(screen, "cron-of-subagent", told)


def cleared_over_team(h: Harness) -> None:
    """A teammate outlives the change to another session, /clear, and the restart of its client not."""
    h.stage.play({**GREETINGS, **_team(), "think for long": [ENDLESS]})
    with h.home.interactive(extra=TEAMS) as screen:
        h.stage.say(screen, "Please greet the pear.", "Greeted pear")
        first = h.home.transcripts()[-1].stem
        screen.send("/clear")
        pause(3)
        screen.send("Please get a team mate.")
        screen.wait("The mate is idle", 30)
        pause(3)
        h.home.wait_status("idle")
        second = h.home.transcripts()[-1].stem
        screen.send(f"/resume {first}")
        pause(3)
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(
            screen,
            "resumed-over-teammate",
            Truth(False, "a teammate of the process outlived /resume of another session", ("teammate",)),
            first,
        )
        screen.send("/clear")
        pause(3)
        _cut_off(h, screen)
        h.shoot(
            screen,
            "cleared-over-teammate",
            Truth(False, "a teammate of the process outlived /clear", ("teammate",)),
        )
    with h.home.interactive("--resume", second, extra=TEAMS) as screen:
        pause(3)
        h.home.wait_status("idle")
        pause(1.5)
        h.shoot(screen, "team-after-restart", Truth(True, "the teammate died with its client"), second)


def branched(h: Harness) -> None:
    """A schedule outlives a rewind past its beginning, and /branch: the new session's file does not hold it."""
    h.stage.play({**GREETINGS, "set a cron": CRON})
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the pear.", "Greeted pear")
        h.stage.say(screen, "Please set a cron.", "It is set")
        pause(1)
        for key, wait in (
            ("Escape", 0.3),
            ("Escape", 1.5),
            ("Up", 0.3),
            ("Enter", 1.5),
            ("Enter", 2),
            ("C-u", 0.5),
        ):
            screen.key(key)
            pause(wait)
        h.shoot(
            screen,
            "rewound-past-cron",
            Truth(False, "a cron outlives a rewind past its making", ("schedule",)),
        )
        screen.send("/branch other")
        pause(3)
        h.home.wait_status("idle")
        pause(1)
        h.shoot(
            screen,
            "branched-over-cron",
            Truth(False, "the branch does not hold the cron, which lives on", ("schedule",)),
        )


def two_shells(h: Harness) -> None:
    """Two background commands: one ends, the other is stopped; a third outlives the turn that began it."""

    def waits(seconds: int, said: Json) -> list[Json]:
        return [{"tools": [bash(f"sleep {seconds}", "Wait", run_in_background=True)]}, said]

    h.stage.play(
        {
            "do the long wait": waits(LONG, {"text": "The long one runs."}),
            "do the short wait": [
                *waits(4, {"text": "The short one runs."}),
                {"text": "The short one is over."},
            ],
        }
    )
    with h.home.interactive() as screen:
        screen.send("Please do the long wait.")
        screen.wait("The long one runs")
        h.home.wait_status("shell")
        task = h.home.transcripts()[-1].read_text().partition("background with ID: ")[2].partition(".")[0]
        screen.send("Please do the short wait.")
        screen.wait("The short one is over", 30)
        h.home.wait_status("shell")
        pause(2)
        h.shoot(screen, "two-shells-one-ended", Truth(False, "one of two commands still runs", ("shell",)))
        stop = {"name": "TaskStop", "input": {"task_id": task}}
        h.stage.play(
            {
                "stop that": [{"tools": [stop]}, {"text": "It is stopped."}],
                "do the long wait": waits(LONG, ENDLESS),
            }
        )
        h.stage.say(screen, "Please stop that.", "It is stopped")
        pause(1.5)
        h.shoot(screen, "two-shells-over", Truth(True, "one has ended, the other was stopped"))
        screen.send("Please do the long wait.")
        screen.wait("● word", 30)
        pause(1)
        screen.key("Escape")
        h.home.wait_status("shell")
        pause(1.5)
        h.shoot(
            screen,
            "shell-of-interrupted-turn",
            Truth(False, "a command outlives its interrupted turn", ("shell",)),
        )


def two_subagents(h: Harness) -> None:
    """Two background subagents: one has reported, the other works, also through a compaction."""
    h.stage.play(
        {
            "ask two": [
                {
                    "tools": [
                        _agent(f"look at the {side}", run_in_background=True) for side in ("left", "right")
                    ]
                },
                {"text": "Two are at work."},
                {"text": "The left one is back."},
                {"text": "The right one is back."},
            ],
            "look at the left": [{"tools": [bash("sleep 2", "Wait")]}, {"text": "Left."}],
            "look at the right": [{"tools": [bash("sleep 20", "Wait")]}, {"text": "Right."}],
        }
    )
    with h.home.interactive() as screen:
        screen.send("Please ask two.")
        screen.wait("The left one is back", 30)
        pause(2)
        h.shoot(
            screen,
            "two-subagents-one-ended",
            Truth(False, "one of two subagents works", ("turn", "subagent")),
        )
        screen.send("/compact")
        screen.wait("Compacted")
        pause(1.5)
        h.shoot(screen, "subagent-compacted", Truth(False, "a subagent outlives a compaction", ("turn",)))


def sent_behind(h: Harness) -> None:
    """The person sends a subagent behind; another goes with the command that it waits for, which dies with it."""

    def asks(prompt: str) -> list[Json]:
        call = _agent(prompt, run_in_background=False)
        return [
            {"text": "I ask.", "tools": [call]},
            {"text": "It is behind."},
            {"text": "The helper is back."},
        ]

    h.stage.play(
        {
            "ask a slow reader": asks("read the folder for me"),
            "read the folder for me": [{"text": "word " * 500, "chunk_delay_s": 0.3}],
            "ask a waiter": asks("list the folder for me"),
            "list the folder for me": [{"tools": [bash(f"sleep {LONG}", "Wait")]}, {"text": "One file."}],
        }
    )
    with h.home.interactive() as screen:
        screen.send("Please ask a slow reader.")
        screen.wait(r"ctrl\+b")
        pause(1)
        screen.key("C-b")
        screen.wait("It is behind")
        pause(2)
        told = Truth(False, "the person sent a subagent behind, and it works", ("turn", "subagent"))
        h.shoot(screen, "subagent-by-ctrl-b", told)
        screen.wait("The helper is back", 40)
        h.home.wait_status("idle")
        screen.send("/clear")
        pause(3)
        screen.send("Please ask a waiter.")
        screen.wait(r"ctrl\+b")
        pause(3)
        for _ in range(2):  # the first may send the subagent alone
            screen.key("C-b")
            pause(2)
        screen.wait("The helper is back")
        h.home.wait_status("idle")
        pause(2)
        if any("sleep" in process.name() for process in h.home.leftovers()):
            raise RuntimeError("the command outlived its subagent")
        h.shoot(screen, "shell-by-ctrl-b-of-subagent", Truth(True, "the command died with its subagent"))


def other_client_killed(h: Harness) -> None:
    """Another client of the session was killed with -9; its file stays until the living one's next turn."""
    h.stage.play(GREETINGS)
    with h.home.interactive() as first:
        h.stage.say(first, "Please greet the apple.", "Greeted apple")
        session = h.home.transcripts()[-1].stem
        with h.home.interactive("--resume", session) as second:
            pause(2)
            second.kill()
            pause(1.5)
            told = "another client was killed; what it started may live on"
            h.shoot(first, "other-client-killed", Truth(False, told, ("process",)), session)
        h.stage.say(first, "Please greet the pear.", "Greeted pear")
        pause(1.5)
        told = "a turn after another client was killed"
        h.shoot(first, "other-client-killed-gone-on", Truth(True, told), session)


SCENES: dict[str, Callable[[Harness], None]] = {
    scene.__name__.replace("_", "-"): scene
    for scene in (
        *(
            cleared,
            cron_of_subagent,
            cleared_over_team,
            branched,
            two_shells,
            two_subagents,
            sent_behind,
            other_client_killed,
        ),
    )
}
