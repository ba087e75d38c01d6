"""What the real clients write when a person speaks, and what of it is heard as human turns."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from coffer.core.turn import Action, Turn
from coffer.work.rules.turns import hear
from tests.lab import clients
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome
from tests.lab.claude_stage import GREETINGS, Json, Stage, bash, pause
from tests.lab.codex import CodexHome
from tests.lab.openai_server import OpenAIServer
from tests.lab.terminal import Terminal

pytestmark = pytest.mark.lab


@pytest.fixture
def stage(claude_home: ClaudeHome, anthropic_server: AnthropicServer) -> Stage:
    claude_home.set_settings({"permissions": {"allow": ["Read"]}})
    return Stage(claude_home, anthropic_server)


def turns(path: Path) -> list[Turn]:
    return list(hear(path).turns)


def said(path: Path) -> list[str]:
    return [turn.text for turn in turns(path)]


def test_claude_refusals_permissions_and_interruptions(stage: Stage) -> None:
    touch = {word: bash(f"touch {word}.txt", "Touch") for word in ("a", "b", "c")}
    stage.play(
        {
            "touch the first": [{"text": "I touch.", "tools": [touch["a"]]}, {"text": "Then not."}],
            "touch the second": [{"tools": [touch["b"]]}, {"text": "It is there."}],
            "touch the third": [{"tools": [touch["c"]]}, {"text": "Never seen."}],
            "take your time": [{"text": "Slowly greeted.", "delay_s": 2}],
            **GREETINGS,
        }
    )
    with stage.home.interactive() as screen:
        screen.send("Please touch the first.")
        screen.wait("Do you want to proceed")
        screen.key("Up")
        pause(0.3)
        screen.key("Tab")
        pause(0.5)
        screen.type("don't make files here")
        pause(0.5)
        screen.key("Enter")
        screen.wait("Then not")
        stage.home.wait_status("idle")
        screen.send("Please touch the second.")
        screen.wait("Do you want to proceed")
        screen.key("Tab")
        pause(0.5)
        screen.type("and write short names")
        pause(0.5)
        screen.key("Enter")
        screen.wait("It is there")
        stage.home.wait_status("idle")
        screen.send("Please touch the third.")
        screen.wait("Do you want to proceed")
        screen.key("Escape")
        pause(1)
        stage.home.wait_status("idle")
        stage.say(screen, "No, please greet the apple.", "Greeted apple")
        screen.send("Please take your time.")
        pause(0.8)
        screen.key("Escape")  # early: the prompt comes back into the input line, and stays in the file
        pause(1)
        screen.key("C-u")
        pause(0.3)
        stage.say(screen, "Please take your time.", "Slowly greeted")
        screen.exit()
    path = stage.home.transcripts()[-1]
    assert path.read_bytes().count(b'"content":"Please take your time."') == 2
    found = turns(path)
    assert [(turn.reliability, turn.text) for turn in found] == [
        ("typed", "Please touch the first."),
        ("rejected", "don't make files here"),
        ("typed", "Please touch the second."),
        ("typed", "and write short names"),
        ("typed", "Please touch the third."),
        ("interrupted", "No, please greet the apple."),
        ("typed", "Please take your time."),
    ]
    assert (found[1].before, found[1].actions) == ("I touch.", (Action("Bash", "touch a.txt"),))
    assert found[5].actions == (Action("Bash", "touch c.txt"),)


def test_claude_queue_commands_questions_and_notifications(stage: Stage) -> None:
    options = [{"label": word, "description": word} for word in ("apple", "pear")]
    question = {"question": "Which fruit?", "header": "Fruit", "options": options, "multiSelect": False}
    call = {"name": "AskUserQuestion", "input": {"questions": [question]}}
    behind = bash("echo from behind; sleep 0.5", "Behind", run_in_background=True)
    steps: list[Json] = [
        {"text": "Step one.", "tools": [bash("sleep 2.5; echo one", "Step one")]},
        {"text": "Both steps are done.", "delay_s": 0.5},
    ]
    stage.home.set_settings({"permissions": {"allow": ["Read", "Bash"]}})
    stage.play(
        {
            "work in steps": steps,
            "ask me first": [{"tools": [call]}, {"text": "Plums, then."}],
            "build it behind": [{"tools": [behind]}, {"text": "It builds."}, {"text": "It was built."}],
            **GREETINGS,
        }
    )
    with stage.home.interactive() as screen:
        screen.send("Please work in steps.")
        screen.wait("Step one")
        screen.send("And mind the second step.")
        screen.wait("Both steps are done")
        stage.home.wait_status("idle")
        screen.send("Please ask me first.")
        screen.wait("Which fruit")
        pause(0.5)
        for _ in range(2):
            screen.key("Down")
            pause(0.3)
        screen.type("neither, plums")
        pause(0.5)
        screen.key("Enter")
        screen.wait("Plums, then")
        stage.home.wait_status("idle")
        screen.send("!echo by hand")
        pause(1)
        stage.home.wait_status("idle")
        screen.send("Please build it behind me.")
        screen.wait("It was built")
        stage.home.wait_status("idle")
        screen.send("/clear")
        pause(1.5)
        stage.say(screen, "Please greet the fig.", "Greeted fig")
        screen.exit()
    *_, first, cleared = stage.home.transcripts()
    found = turns(first)
    assert [turn.text for turn in found] == [
        "Please work in steps.",
        "And mind the second step.",
        "Please ask me first.",
        "neither, plums",
        "Please build it behind me.",
    ]
    assert b"<task-notification>" in first.read_bytes()
    assert (found[1].before, found[1].actions) == ("Step one.", (Action("Bash", "sleep 2.5; echo one"),))
    assert found[3].before.endswith("Which fruit?")
    assert [(turn.text, turn.before) for turn in turns(cleared)] == [("Please greet the fig.", "")]


def test_claude_resumes_forks_and_programs(stage: Stage) -> None:
    stage.play(GREETINGS)
    with stage.home.interactive() as screen:
        stage.say(screen, "Please greet the apple.", "Greeted apple")
        screen.exit()
    [path] = stage.home.transcripts()
    [once] = turns(path)
    stage.ask("Please greet the pear.", "--resume", path.stem)
    assert turns(path) == [once]
    offset = hear(path).offset
    with stage.home.interactive("--resume", path.stem) as screen:
        stage.say(screen, "Please greet the fig.", "Greeted fig")
        screen.exit()
    [again] = hear(path, offset).turns
    assert [turn.id for turn in turns(path)] == [once.id, again.id]
    assert again.before == "Greeted pear."
    with stage.home.interactive("--resume", path.stem, "--fork-session") as screen:
        stage.say(screen, "Please greet the plum.", "Greeted plum")
        screen.exit()
    fork = next(other for other in stage.home.transcripts() if other != path)
    copied = turns(fork)
    assert [(turn.id, turn.echo) for turn in copied[:2]] == [(once.id, once.echo), (again.id, again.echo)]
    assert [turn.text for turn in copied[2:]] == ["Please greet the plum."]
    assert {turn.session for turn in copied} == {fork.stem}


@pytest.fixture
def codex(tmp_path: Path) -> Iterator[CodexHome]:
    if clients.find("codex") is None:
        absent = "the real Codex is not installed (python -m tests.lab.install)"
        pytest.fail(absent) if os.environ.get("CI") == "true" else pytest.skip(absent)
    with OpenAIServer({"default": {"text": "Noted."}}) as server, CodexHome(tmp_path, server) as home:
        yield home


def tell(terminal: Terminal, *prompts: str) -> None:
    """Say these one after the other, then quit."""
    assert terminal.wait_for("Ask Codex to do anything"), terminal.screen()
    for prompt in prompts:
        pause(0.5)
        terminal.submit(prompt)
        done = "└ by hand" if prompt.startswith("!") else f"{prompt}(.|\n)*• Noted"
        assert terminal.wait_for(done), terminal.screen(50)
    pause(0.5)
    terminal.submit("/quit")
    assert terminal.wait_end(10), terminal.screen()


def test_codex_resumes_forks_and_programs(codex: CodexHome) -> None:
    codex.exec(prompt="A program speaks.")
    begun = codex.thread()
    with codex.tui("resume", begun) as terminal:
        tell(terminal, "I go on.")
    [path] = codex.rollouts()
    assert said(path) == ["I go on."]
    with codex.tui() as terminal:
        tell(terminal, "I begin.", "!echo by hand", "I end.")
    thread = codex.thread()
    codex.resume(thread, prompt="A program goes on.")
    own = codex.rollouts()[-1]
    assert said(own) == ["I begin.", "I end."]
    offset = hear(own).offset
    codex.fork(thread, prompt="A program forks.")
    assert said(codex.rollouts()[-1]) == []
    with codex.tui("fork", thread) as terminal:
        tell(terminal, "I fork.")
    parents = {thread: own}
    heard = [hear(path, parents=parents) for path in codex.rollouts()]
    [forked] = [turn for each in heard for turn in each.turns if turn.text == "I fork."]
    assert forked.before == "Noted."
    assert hear(own, offset).turns == ()
    every = [turn.id for each in heard for turn in each.turns]
    assert len(set(every)) == len(every) == 4
