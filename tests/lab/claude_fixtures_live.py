"""Kinds of work in the lab's own transcripts, one function each: what a person does to a session.

As `claude_fixtures`: each leaves its transcript as the newest of the home.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.lab.claude_stage import FRUIT, GREETINGS, bash, pause

if TYPE_CHECKING:
    from tests.lab.claude import Tmux
    from tests.lab.claude_stage import Json, Stage


def _greet(stage: Stage, screen: Tmux, *fruit: str) -> None:
    for word in fruit:
        stage.say(screen, f"Please greet the {word}.", f"● Greeted {word}")


def _open_rewind(screen: Tmux) -> None:
    pause(0.5)
    screen.key("Escape")
    pause(0.3)
    screen.key("Escape")
    screen.wait("Restore the code and/or conversation")


def rewind(stage: Stage) -> None:
    """Two prompts taken back with Esc Esc; their records stay as a dead branch."""
    stage.play(GREETINGS)
    with stage.home.interactive() as screen:
        _greet(stage, screen, "apple", "pear", "fig")
        _open_rewind(screen)
        screen.key("Up")
        pause(0.3)
        screen.key("Up")
        pause(0.3)
        screen.key("Enter")
        screen.wait("Restore conversation")
        screen.key("Enter")
        pause(1)
        screen.key("C-u")  # the prompt came back into the input line
        pause(0.3)
        _greet(stage, screen, "plum")
        screen.exit()


def _summarise(stage: Stage, choice: str, downs: int) -> None:
    stage.play(GREETINGS)
    with stage.home.interactive() as screen:
        _greet(stage, screen, "apple", "pear", "fig")
        _open_rewind(screen)
        for _ in range(2):
            screen.key("Up")
            pause(0.3)
        screen.key("Enter")
        screen.wait(choice)
        for _ in range(downs):
            screen.key("Down")
            pause(0.3)
        screen.key("Enter")
        pause(2.5)
        screen.key("C-u")  # a prompt may have come back into the input line
        pause(0.3)
        _greet(stage, screen, "plum")
        screen.exit()


def compact_from_here(stage: Stage) -> None:
    """The rewind menu's "Summarize from here": the end of the conversation becomes a summary."""
    _summarise(stage, "Summarize from here", 1)


def compact_up_to_here(stage: Stage) -> None:
    """The rewind menu's "Summarize up to here": the start of the conversation becomes a summary."""
    _summarise(stage, "Summarize up to here", 2)


def interrupt(stage: Stage) -> None:
    """Esc while a tool runs, Esc while the model answers, then work again."""
    stage.play(
        {
            **GREETINGS,
            "wait for long": [{"text": "I wait.", "tools": [bash("sleep 600", "Wait")]}],
            "think for long": [{"thinking": "Slow.", "text": "word " * 400, "chunk_delay_s": 0.3}],
        }
    )
    with stage.home.interactive() as screen:
        screen.send("Please wait for long.")
        screen.wait(r"Running|Waiting|\(\d+s")
        pause(1)
        screen.key("Escape")
        screen.wait("Interrupted")
        stage.home.wait_status("idle")
        screen.send("Please think for long.")
        screen.wait("● word")
        screen.key("Escape")
        pause(0.5)
        stage.home.wait_status("idle")
        _greet(stage, screen, "apple")
        screen.exit()


def reject(stage: Stage) -> None:
    """A permission refused with words, one refused without, one given."""
    touch = {word: bash(f"touch {word}.txt", "Touch") for word in ("a", "b", "c")}
    stage.play(
        {
            "touch the first": [{"tools": [touch["a"]]}, {"text": "Then not."}],
            "touch the second": [{"tools": [touch["b"], touch["c"]]}, {"text": "Never seen."}],
            "touch the third": [{"tools": [touch["c"]]}, {"text": "It is there."}],
        }
    )
    with stage.home.interactive() as screen:
        screen.send("Please touch the first.")
        screen.wait("Do you want to proceed")
        screen.key("Up")
        pause(0.3)
        screen.key("Tab")
        pause(0.5)
        screen.type("don't make files here, only say what you would make")
        pause(0.5)
        screen.key("Enter")
        screen.wait("Then not")
        stage.home.wait_status("idle")
        screen.send("Please touch the second.")
        screen.wait("Do you want to proceed")
        screen.key("Escape")
        pause(1)
        stage.home.wait_status("idle")
        screen.send("Please touch the third.")
        screen.wait("Do you want to proceed")
        screen.key("Enter")
        screen.wait("It is there")
        screen.exit()


def queued(stage: Stage) -> None:
    """Prompts typed while a turn runs: one taken in mid-turn, one after its end."""
    stage.play(
        {
            "work in steps": [
                {"text": "Step one.", "tools": [bash("sleep 2.5; echo one", "Step one")]},
                {"text": "Step two.", "tools": [bash("echo two", "Step two")], "delay_s": 0.5},
                {"text": "Both steps are done.", "delay_s": 2},
                {"text": "And the last wish is done."},
            ]
        }
    )
    with stage.home.interactive() as screen:
        screen.send("Please work in steps.")
        screen.wait("Step one")
        screen.send("And mind the second step.")
        screen.wait("Step two")
        pause(0.3)
        screen.send("One more wish.")
        screen.wait("the last wish is done")
        stage.home.wait_status("idle")
        screen.exit()


def bash_mode(stage: Stage) -> None:
    """Commands of the person with `!`, between prompts."""
    stage.play(GREETINGS)
    with stage.home.interactive() as screen:
        _greet(stage, screen, "apple")
        screen.send("!echo typed by hand; ls /nonexistent")
        screen.wait("typed by hand\n")
        pause(1)
        stage.home.wait_status("idle")
        screen.send("Please greet the pear.")
        screen.wait("Greeted pear")
        stage.home.wait_status("idle")
        screen.exit()


def slash_command(stage: Stage) -> None:
    """A command of the project with arguments, and two of the client."""
    commands = stage.home.cwd / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "fruit.md").write_text("Please greet the $ARGUMENTS.\n")
    stage.play(GREETINGS)
    with stage.home.interactive() as screen:
        screen.send("/fruit apple")
        screen.wait("Greeted apple")
        stage.home.wait_status("idle")
        screen.send("/context")
        screen.wait("Context Usage")
        pause(0.5)
        screen.send("/rename fruit")
        pause(1)
        _greet(stage, screen, "pear")
        screen.exit()


def fork(stage: Stage) -> None:
    """A session forked from another (this is the fork)."""
    stage.play(GREETINGS)
    session = stage.ask("Please greet the apple.").session_id
    stage.ask("Please greet the pear.", "--resume", session)
    stage.ask("Please greet the fig.", "--resume", session, "--fork-session")


def resumes(stage: Stage) -> None:
    """One session in four processes, three by -p and one interactive."""
    stage.play(GREETINGS)
    session = stage.ask("Please greet the apple.").session_id
    for word in ("pear", "fig"):
        stage.ask(f"Please greet the {word}.", "--resume", session)
    with stage.home.interactive("--resume", session) as screen:
        _greet(stage, screen, "plum")
        screen.exit()


def killed(stage: Stage) -> None:
    """A client killed while a tool ran; the next process goes on."""
    stage.play({"wait for long": [{"text": "I wait.", "tools": [bash("sleep 600", "Wait")]}]})
    with stage.home.interactive() as screen:
        screen.send("Please wait for long.")
        screen.wait(r"Running|Waiting|\(\d+s")
        pause(1)
        screen.kill()
    for process in stage.home.leftovers():
        process.kill()
    session = stage.home.transcripts()[-1].stem
    stage.play(GREETINGS)
    stage.ask("Please greet the apple.", "--resume", session)


def question(stage: Stage) -> None:
    """A question of the model with choices, answered."""
    options = [{"label": word, "description": f"Greet the {word}"} for word in FRUIT[:2]]
    asked = {"question": "Which fruit?", "header": "Fruit", "options": options, "multiSelect": False}
    call = {"name": "AskUserQuestion", "input": {"questions": [asked]}}
    stage.play({"ask me first": [{"tools": [call]}, {"text": "An apple, then."}]})
    with stage.home.interactive() as screen:
        screen.send("Please ask me first.")
        screen.wait("Which fruit")
        pause(0.5)
        screen.key("Enter")
        screen.wait("An apple, then")
        stage.home.wait_status("idle")
        screen.exit()


def plan(stage: Stage) -> None:
    """Plan mode entered and left by the model, with the person's word."""
    turns: list[Json] = [
        {"tools": [{"name": "EnterPlanMode", "input": {}}]},
        {"text": "First I look.", "tools": [bash("ls -la", "Look")]},
        {"tools": [{"name": "ExitPlanMode", "input": {}}]},
        {"text": "The plan is carried out."},
    ]
    stage.play({"plan it first": turns})
    with stage.home.interactive() as screen:
        screen.send("Please plan it first.")
        screen.wait("Exit plan mode")
        pause(0.5)
        screen.key("Enter")
        screen.wait("is carried out")
        stage.home.wait_status("idle")
        screen.exit()
