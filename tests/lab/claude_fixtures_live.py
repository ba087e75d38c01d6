"""Kinds of work in the lab's own transcripts, one function each: the person, hooks, servers, ends and errors.

As `claude_fixtures`: each leaves its transcript as the newest of the home.
"""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING

from tests.lab.anthropic_images import png
from tests.lab.claude_stage import bash, pause

if TYPE_CHECKING:
    from tests.lab.claude import Tmux
    from tests.lab.claude_stage import Json, Stage

FRUIT = ("apple", "pear", "fig", "plum")
GREETINGS: dict[str, list[Json]] = {f"greet the {w}": [{"text": f"Greeted {w}."}] for w in FRUIT}
CONTEXT_EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "SubagentStart",
)
NOTE = """#!/bin/sh
cat > /dev/null
printf '{"hookSpecificOutput":{"hookEventName":"%s","additionalContext":"note of the %s hook"}}' "$1" "$1"
"""
MCP = '''\
import json
import sys

TOOL = {
    "name": "count",
    "description": "Count the letters of a word.",
    "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
}
for line in sys.stdin:
    call = json.loads(line)
    match call.get("method"):
        case "initialize":
            version = call["params"]["protocolVersion"]
            answer = {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "letters", "version": "1"},
                "instructions": "Counts letters.",
            }
        case "tools/list":
            answer = {"tools": [TOOL]}
        case "tools/call":
            word = call["params"]["arguments"]["word"]
            answer = {"content": [{"type": "text", "text": f"{word} has {len(word)} letters"}]}
        case _:
            answer = {}
    if "id" in call:
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": answer}), flush=True)
'''


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
        screen.wait("the last wish is done", 20)
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


def _note_hooks(stage: Stage, *events: str) -> Json:
    note = str(stage.script("note", NOTE))
    return {e: [{"hooks": [{"type": "command", "command": f"{shlex.quote(note)} {e}"}]}] for e in events}


def hooks(stage: Stage) -> None:
    """Hooks that add context on every event that takes it; Stop sends the turn on once."""
    stop = stage.script("stop", '#!/bin/sh\ncase "$(cat)" in *\'"stop_hook_active":true\'*) exit 0;; esac\n'
                        "printf '{\"decision\":\"block\",\"reason\":\"say the date too\"}'\n")
    entries = _note_hooks(stage, *CONTEXT_EVENTS)
    entries["Stop"] = [{"hooks": [{"type": "command", "command": str(stop)}]}]
    stage.add_settings({"hooks": entries})
    call = {"description": "Look", "prompt": "list it for me", "subagent_type": "general-purpose"}
    stage.play(
        {
            "use every hook": [
                {"tools": [bash("echo one"), bash("exit 2", "Fail")]},
                {"tools": [{"name": "Agent", "input": call}]},
                {"text": "Everything was used."},
                {"text": "And it is Monday."},
            ],
            "list it for me": [{"tools": [bash("echo a.txt")]}, {"text": "a.txt"}],
        }
    )
    session = stage.ask("Please use every hook.").session_id
    stage.play(GREETINGS)
    stage.ask("Please greet the apple.", "--resume", session)


def hook_errors(stage: Stage) -> None:
    """Hooks that fail: exit 1, exit 2 (blocks), broken JSON, too slow."""
    bad = stage.script("bad", "#!/bin/sh\ncat >/dev/null\necho broken >&2\nexit 1\n")
    block = stage.script("block", "#!/bin/sh\ncase \"$(cat)\" in *forbidden*) echo not this >&2; exit 2;; esac\n")
    torn = stage.script("torn", "#!/bin/sh\ncat >/dev/null\nprintf '{\"hookSpecificOutput\": {'\n")
    slow = stage.script("slow", "#!/bin/sh\nexec sleep 5\n")

    def entry(path: object, **more: object) -> Json:
        return {"hooks": [{"type": "command", "command": str(path), **more}]}

    stage.add_settings(
        {
            "hooks": {
                "SessionStart": [entry(bad)],
                "UserPromptSubmit": [entry(torn)],
                "PreToolUse": [entry(block)],
                "PostToolUse": [entry(slow, timeout=1)],
            }
        }
    )
    turns = [
        {"tools": [bash("echo forbidden")]},
        {"tools": [bash("echo allowed")]},
        {"text": "One of two went through."},
    ]
    stage.play({"try both": turns})
    stage.ask("Please try both.")


def file_mention(stage: Stage) -> None:
    """A file and a folder named with @, and a file that changes between prompts."""
    notes = stage.home.cwd / "notes.md"
    notes.write_text("# Notes\n\nBuy apples.\n")
    (stage.home.cwd / "docs").mkdir()
    (stage.home.cwd / "docs" / "a.md").write_text("A\n")
    stage.play(GREETINGS)
    session = stage.ask("See @notes.md and @docs/ and please greet the apple.").session_id
    notes.write_text("# Notes\n\nBuy pears.\n")
    stage.ask("See @notes.md again and please greet the pear.", "--resume", session)


def image(stage: Stage) -> None:
    """A picture that the model reads."""
    path = stage.home.cwd / "dot.png"
    path.write_bytes(png(64, 48))
    read = {"name": "Read", "input": {"file_path": str(path)}}
    stage.play({"look at the picture": [{"tools": [read]}, {"text": "It is black."}]})
    session = stage.ask("Please look at the picture.").session_id
    stage.play(GREETINGS)
    stage.ask("Please greet the apple.", "--resume", session)


def mcp(stage: Stage) -> None:
    """A tool of an MCP server."""
    program = stage.script("letters.py", MCP)
    server = {"type": "stdio", "command": sys.executable, "args": [str(program)]}
    call = {"name": "mcp__letters__count", "input": {"word": "pear"}}
    stage.play({"count the letters": [{"tools": [call]}, {"text": "Four letters."}]})
    config = json.dumps({"mcpServers": {"letters": server}})
    stage.ask("Please count the letters.", "--mcp-config", config, extra={"MCP_CONNECTION_NONBLOCKING": "0"})


def api_errors(stage: Stage) -> None:
    """Two 500s that a retry heals, a 400 that ends the turn, an overload that another model takes over."""

    def refuse(phrase: str, status: int, kind: str, times: int) -> Json:
        reply = {"status": status, "error": {"type": kind, "message": "scripted"}}
        return {"match": {"last_user_text": phrase, "model": "opus"}, "times": times, "reply": reply}

    stage.play(
        GREETINGS,
        refuse("greet the apple", 500, "api_error", 2),
        refuse("greet the pear", 400, "invalid_request_error", 1),
        refuse("greet the fig", 529, "overloaded_error", 9),
    )
    session = stage.ask("Please greet the apple.").session_id
    stage.home.run("-p", "Please greet the pear.", "--resume", session)
    stage.ask("Please greet the fig.", "--resume", session, "--fallback-model", "claude-sonnet-4-6")


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


def todos(stage: Stage) -> None:
    """Tasks made, begun and finished, and one left open."""

    def task(name: str, **given: str) -> Json:
        return {"tools": [{"name": name, "input": given}]}

    turns = [
        task("TaskCreate", subject="Read the code", description="All of it", activeForm="Reading"),
        task("TaskCreate", subject="Change the code", description="A bit of it", activeForm="Changing"),
        task("TaskUpdate", taskId="1", status="in_progress"),
        task("TaskUpdate", taskId="1", status="completed"),
        task("TaskList"),
        {"text": "One of two is done."},
    ]
    stage.play({"plan the work": turns})
    stage.ask("Please plan the work.")


def cron(stage: Stage) -> None:
    """A scheduled prompt."""
    later = {"cron": "7 3 * * *", "prompt": "Check the build.", "recurring": True}
    turns = [{"tools": [{"name": "CronCreate", "input": later}]}, {"tools": [{"name": "CronList", "input": {}}]}]
    stage.play({"check it every night": [*turns, {"text": "It is scheduled."}]})
    with stage.home.interactive() as screen:
        stage.say(screen, "Please check it every night.", "It is scheduled")
        screen.send("/exit")
        screen.wait_end(10)


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
    turns = [
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


def skill(stage: Stage) -> None:
    """A skill of the project that the model calls."""
    folder = stage.home.cwd / ".claude" / "skills" / "fruit"
    folder.mkdir(parents=True)
    head = "---\nname: fruit\ndescription: How to greet fruit.\n---\n\n"
    (folder / "SKILL.md").write_text(head + "Greet every fruit by its name, then stop.\n")
    call = {"name": "Skill", "input": {"skill": "fruit"}}
    stage.play({"use the skill": [{"tools": [call]}, {"text": "Hello, pear."}]})
    stage.ask("Please use the skill.")
