"""Kinds of work in the lab's own transcripts, one function each: tools, agents, compaction.

A function plays its part with the real client on a stage and leaves its transcript as the newest of the home.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.lab.claude_stage import bash

if TYPE_CHECKING:
    from tests.lab.claude_stage import Json, Stage


def plain(stage: Stage) -> None:
    """Three questions and answers in one interactive process, each with thinking."""
    facts = {
        "What is a record": "one line",
        "What is a turn": "a prompt and its answer",
        "What is a leaf": "the end",
    }
    stage.play({f"{q}?": [{"thinking": f"They ask: {q}.", "text": f"It is {a}."}] for q, a in facts.items()})
    with stage.home.interactive() as screen:
        for question, answer in facts.items():
            stage.say(screen, f"{question}?", f"It is {answer}")
        screen.exit()


def parallel(stage: Stage) -> None:
    """Three calls in one message, then two."""
    (stage.home.cwd / "a.txt").write_text("alpha\n")
    read = {"name": "Read", "input": {"file_path": str(stage.home.cwd / "a.txt")}}
    turns: list[Json] = [
        {"text": "Three at once.", "tools": [bash("echo one"), bash("sleep 0.3; echo two"), read]},
        {"thinking": "Two more.", "tools": [bash("echo three"), bash("echo four")]},
        {"text": "All five are there."},
    ]
    stage.play({"run them together": turns})
    stage.ask("Please run them together.")


def failing(stage: Stage) -> None:
    """A failing command, a missing file, an edit that does not match, a repaired call."""
    (stage.home.cwd / "a.txt").write_text("alpha\n")
    path = str(stage.home.cwd / "a.txt")
    wrong = {"file_path": path, "old_string": "omega", "new_string": "beta"}
    turns: list[Json] = [
        {"tools": [bash("echo oops >&2; exit 3", "Fail")]},
        {"tools": [{"name": "Read", "input": {"file_path": str(stage.home.cwd / "missing.txt")}}]},
        {"tools": [{"name": "Read", "input": {"file_path": path}}]},
        {"tools": [{"name": "Edit", "input": wrong}]},
        {"tools": [{"name": "Edit", "input": {**wrong, "old_string": "alpha"}}]},
        {"text": "The third edit went through."},
    ]
    stage.play({"change the word": turns})
    stage.ask("Please change the word in a.txt.")


def edits(stage: Stage) -> None:
    """One file written, read, edited, read again, read in part."""
    path = str(stage.home.cwd / "greet.py")
    body = "".join(f"def greet_{i}(name):\n    return 'hello ' + name\n\n\n" for i in range(12))

    def edit(old: str, new: str) -> Json:
        return {
            "tools": [{"name": "Edit", "input": {"file_path": path, "old_string": old, "new_string": new}}]
        }

    read = {"name": "Read", "input": {"file_path": path}}
    turns: list[Json] = [
        {"tools": [{"name": "Write", "input": {"file_path": path, "content": body}}]},
        {"tools": [read]},
        edit("def greet_3(name):\n    return 'hello '", "def greet_3(name):\n    return 'hi '"),
        {"tools": [read]},
        edit("def greet_4(name):\n    return 'hello '", "def greet_4(name):\n    return 'hey '"),
        {"tools": [{"name": "Read", "input": {"file_path": path, "offset": 10, "limit": 8}}]},
        {"text": "Two greetings are changed."},
    ]
    stage.play({"vary the greetings": turns})
    stage.ask("Please vary the greetings.")


def big_output(stage: Stage) -> None:
    """A command's output that the client keeps in a file beside the transcript."""
    turns: list[Json] = [{"tools": [bash("seq 1 30000", "Count")]}, {"text": "Counted to 30000."}]
    stage.play({"count to thirty thousand": turns})
    stage.ask("Please count to thirty thousand.")


def subagent(stage: Stage) -> None:
    """A subagent that the main conversation waits for."""
    call = {
        "description": "Look around",
        "prompt": "list the folder for me",
        "subagent_type": "general-purpose",
    }
    stage.play(
        {
            "ask a helper": [
                {"tools": [{"name": "Agent", "input": call}]},
                {"text": "The helper saw one file."},
            ],
            "list the folder for me": [{"tools": [bash("echo a.txt")]}, {"text": "One file: a.txt."}],
        }
    )
    stage.ask("Please ask a helper.")


def subagent_background(stage: Stage) -> None:
    """A subagent in the background; its end comes as a task notification."""
    call = {
        "description": "Look around slowly",
        "prompt": "list the folder for me",
        "subagent_type": "general-purpose",
        "run_in_background": True,
    }
    stage.play(
        {
            "ask a slow helper": [
                {"tools": [{"name": "Agent", "input": call}]},
                {"text": "The helper is at work."},
                {"text": "The helper is back: one file."},
            ],
            "list the folder for me": [
                {"tools": [bash("sleep 1; echo a.txt")]},
                {"text": "One file: a.txt."},
            ],
        }
    )
    stage.ask("Please ask a slow helper.")


def background_bash(stage: Stage) -> None:
    """A command in the background and its notification."""
    turns: list[Json] = [
        {"tools": [bash("sleep 0.5; echo built", "Build", run_in_background=True)]},
        {"text": "The build runs."},
        {"text": "The build is done."},
    ]
    stage.play({"build it behind": turns})
    stage.ask("Please build it behind the scenes.")


def background_stop(stage: Stage) -> None:
    """A command in the background that is stopped: no notification follows."""
    stage.play({})
    with stage.home.interactive() as screen:
        turns: list[Json] = [
            {"tools": [bash("sleep 600", "Wait", run_in_background=True)]},
            {"text": "It waits in the background."},
        ]
        stage.play({"wait behind": turns})
        screen.send("Please wait behind the scenes.")
        screen.wait("It waits in the background")
        text = stage.home.transcripts()[-1].read_text()
        task = text.partition("running in background with ID: ")[2].partition(".")[0]
        stop = {"name": "TaskStop", "input": {"task_id": task}}
        stage.play({"stop that": [{"tools": [stop]}, {"text": "It is stopped."}]})
        stage.say(screen, "Please stop that.", "It is stopped")
        screen.exit()


def workflow(stage: Stage) -> None:
    """A workflow of one phase with one agent."""
    code = (
        "export const meta = { name: 'count', description: 'count files', phases: [{title: 'Count'}] }\n"
        "phase('Count')\nconst n = await agent('count the files for me')\nlog('got ' + n)\nreturn {n}\n"
    )
    stage.play(
        {
            "use a workflow": [
                {"tools": [{"name": "Workflow", "input": {"script": code}}]},
                {"text": "The workflow runs."},
                {"text": "The workflow counted one file."},
            ],
            "count the files for me": [{"tools": [bash("echo 1")]}, {"text": "1"}],
        }
    )
    stage.ask("Please use a workflow.")


def team(stage: Stage) -> None:
    """A team mate that reports and goes idle."""
    mate = {
        "description": "Check the docs",
        "prompt": "you check the docs for me",
        "subagent_type": "general-purpose",
        "name": "docs",
    }
    report = {"to": "team-lead", "summary": "docs are fine", "message": "I read the docs: they are fine."}
    stage.play(
        {
            "get a team mate": [
                {"tools": [{"name": "Agent", "input": mate}]},
                {"text": "The mate is at work."},
                {"text": "The mate says that the docs are fine."},
                {"text": "The mate is idle."},
            ],
            "you check the docs for me": [
                {"tools": [bash("echo docs")]},
                {"tools": [{"name": "SendMessage", "input": report}]},
                {"text": "I am done."},
            ],
        }
    )
    with stage.home.interactive(extra={"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"}) as screen:
        screen.send("Please get a team mate.")
        screen.wait("The mate says that the docs are fine")
        stage.home.wait_status("idle")
        screen.send("/exit")
        screen.wait_end(10)


def compact(stage: Stage) -> None:
    """Two compactions by hand, each with a preserved end, and work after each."""
    words = ("apple", "pear", "plum", "fig", "date", "lime")
    stage.play(
        {
            f"greet the {w}": [
                {"thinking": f"A {w}.", "tools": [bash(f"echo hello {w}")]},
                {"text": f"Greeted {w}."},
            ]
            for w in words
        }
    )
    with stage.home.interactive() as screen:
        for first in (0, 3):
            for word in words[first : first + 2]:
                stage.say(screen, f"Please greet the {word}.", f"Greeted {word}")
            screen.send("/compact")
            screen.wait("Compacted")
            stage.home.wait_status("idle")
            stage.say(screen, f"Please greet the {words[first + 2]}.", f"Greeted {words[first + 2]}")
            screen.key("C-l")
        screen.exit()


def compact_auto(stage: Stage) -> None:
    """A compaction that the API's "prompt is too long" brings about in the middle of the work."""
    full = {"type": "invalid_request_error", "message": "prompt is too long: 215000 tokens > 200000 maximum"}
    too_long = {
        "match": {"last_user_text": "greet the fig"},
        "times": 1,
        "reply": {"status": 400, "error": full},
    }
    scripts = {f"greet the {w}": [{"thinking": w, "text": f"Greeted {w}."}] for w in ("apple", "pear", "fig")}
    stage.play(scripts, too_long)
    session = stage.ask("Please greet the apple.").session_id
    for word in ("pear", "fig"):
        stage.ask(f"Please greet the {word}.", "--resume", session)
