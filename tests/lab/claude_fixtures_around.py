"""Kinds of work in the lab's own transcripts, one function each: hooks, servers, files, errors.

As `claude_fixtures`: each leaves its transcript as the newest of the home.
"""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING

from tests.lab.anthropic_images import png
from tests.lab.claude_stage import GREETINGS, bash

if TYPE_CHECKING:
    from tests.lab.claude_stage import Json, Stage

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
MCP = """\
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
"""


def _note_hooks(stage: Stage, *events: str) -> Json:
    note = str(stage.script("note", NOTE))
    return {e: [{"hooks": [{"type": "command", "command": f"{shlex.quote(note)} {e}"}]}] for e in events}


def hooks(stage: Stage) -> None:
    """Hooks that add context on every event that takes it; Stop sends the turn on once."""
    stop = stage.script(
        "stop",
        '#!/bin/sh\ncase "$(cat)" in *\'"stop_hook_active":true\'*) exit 0;; esac\n'
        'printf \'{"decision":"block","reason":"say the date too"}\'\n',
    )
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
    block = stage.script(
        "block", '#!/bin/sh\ncase "$(cat)" in *forbidden*) echo not this >&2; exit 2;; esac\n'
    )
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
    turns: list[Json] = [
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


def todos(stage: Stage) -> None:
    """Tasks made, begun and finished, and one left open."""

    def task(name: str, **given: str) -> Json:
        return {"tools": [{"name": name, "input": given}]}

    turns: list[Json] = [
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
    turns: list[Json] = [
        {"tools": [{"name": "CronCreate", "input": later}]},
        {"tools": [{"name": "CronList", "input": {}}]},
    ]
    stage.play({"check it every night": [*turns, {"text": "It is scheduled."}]})
    with stage.home.interactive() as screen:
        stage.say(screen, "Please check it every night.", "It is scheduled")
        screen.send("/exit")
        screen.wait_end(10)


def skill(stage: Stage) -> None:
    """A skill of the project that the model calls."""
    folder = stage.home.cwd / ".claude" / "skills" / "fruit"
    folder.mkdir(parents=True)
    head = "---\nname: fruit\ndescription: How to greet fruit.\n---\n\n"
    (folder / "SKILL.md").write_text(head + "Greet every fruit by its name, then stop.\n")
    call = {"name": "Skill", "input": {"skill": "fruit"}}
    stage.play({"use the skill": [{"tools": [call]}, {"text": "Hello, pear."}]})
    stage.ask("Please use the skill.")
