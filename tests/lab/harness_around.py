"""Scenes of what a person sets up or meets by the way: slow hooks, an MCP server, refusals, modes, pastes."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from tests.lab.claude_stage import GREETINGS, pause
from tests.lab.harness import Truth
from tests.lab.harness_rare import FULL

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.lab.harness import Harness

Json = dict[str, Any]


def hooks_running(h: Harness) -> None:
    """Slow hooks of the person: at the prompt, at a reload, and when the client is left."""
    slow = h.stage.script("slow", "#!/bin/sh\ncat > /dev/null\nsleep 6\n")
    own: Json = {"hooks": [{"type": "command", "command": str(slow), "timeout": 20}]}
    h.stage.play(GREETINGS)
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        session = h.home.transcripts()[-1].stem
        h.settings(hooks={"UserPromptSubmit": [own]})
        pause(2)
        screen.send("Please greet the pear.")
        pause(3)
        h.shoot(screen, "prompt-hook-running", Truth(False, "a hook looks at the prompt", ("turn",)))
        screen.wait("Greeted pear")
        h.home.wait_status("idle")
        h.settings(hooks={"SessionStart": [own], "SessionEnd": [own]})
        pause(2)
        screen.send(f"/resume {session}")
        pause(3)
        h.shoot(screen, "reload-under-way", Truth(False, "the session is being loaded", ("turn",)), session)
        pause(12)
        screen.send("/exit")
        pause(2.5)
        h.shoot(screen, "exit-under-way", Truth(False, "the client is being left", ("process",)), session)
        screen.wait_end(20)


def mcp_tool(h: Harness) -> None:
    """A tool of an MCP server runs, answers, and is interrupted."""
    server = h.stage.script("server", SERVER)
    config = json.dumps({"mcpServers": {"lab": {"command": sys.executable, "args": [str(server)]}}})
    h.settings(allow=("mcp__lab",))
    turns: list[Json] = [
        {"text": "I use it.", "tools": [{"name": "mcp__lab__wait", "input": {}}]},
        {"text": "It was used."},
    ]
    h.stage.play({**GREETINGS, "use the tool": turns, "use it anew": turns})
    with h.home.interactive("--mcp-config", config) as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        pause(3)
        screen.send("Please use the tool.")
        screen.wait("I use it")
        pause(3)
        h.shoot(screen, "mcp-tool-running", Truth(False, "a tool of an MCP server runs", ("turn", "tool")))
        screen.wait("It was used", 30)
        h.home.wait_status("idle")
        pause(1)
        screen.send("Please use it anew.")
        pause(4)
        screen.key("Escape")
        h.home.wait_status("idle")
        pause(1)
        screen.key("C-u")
        pause(1)
        h.shoot(screen, "mcp-tool-interrupted", Truth(True, "the person interrupted a tool of an MCP server"))


def refusal(h: Harness) -> None:
    """The prompt is too long and there is nothing to compact."""
    rule = {"match": {"last_user_text": "be too long"}, "reply": {"status": 400, "error": FULL}}
    h.stage.play(GREETINGS, rule)
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        screen.send("Please be too long.")
        pause(8)
        h.home.wait_status("idle", 30)
        pause(1.5)
        h.shoot(screen, "context-limit", Truth(True, "the prompt is too long; the turn is over"))


def modes(h: Harness) -> None:
    """Idle in the modes that ask nothing."""
    h.settings(skipDangerousModePermissionPrompt=True)
    h.stage.play(GREETINGS)
    for mode, name in (("bypassPermissions", "mode-bypass"), ("auto", "mode-auto")):
        with h.home.interactive("--permission-mode", mode) as screen:
            h.stage.say(screen, "Please greet the apple.", "Greeted apple")
            pause(1.5)
            h.shoot(screen, name, Truth(True, f"idle in the mode {mode}"))


def pasted(h: Harness) -> None:
    """A paste of many lines stands in the input line as one word; then a prompt is put aside."""
    h.stage.play(GREETINGS)
    with h.home.interactive() as screen:
        h.stage.say(screen, "Please greet the apple.", "Greeted apple")
        screen.tmux("set-buffer", "\n".join(f"line {number}" for number in range(30)))
        screen.tmux("paste-buffer", "-p", "-t", "lab")
        pause(1.5)
        h.shoot(screen, "draft-pasted", Truth(False, "a paste stands in the input line", ("input",)))
        screen.key("C-c")
        pause(5)
        screen.send("Put me aside.", enter=False)
        pause(1)
        screen.key("C-s")
        pause(3)
        told = "a prompt was put aside; the client gives it back after the next command"
        h.shoot(screen, "draft-put-aside", Truth(True, told))


SERVER = """\
#!/usr/bin/env python3
import json, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    method = asked.get("method")
    if method == "initialize":
        said = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "lab", "version": "1"}}
    elif method == "tools/list":
        said = {"tools": [{"name": "wait", "description": "wait", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        time.sleep(9)
        said = {"content": [{"type": "text", "text": "waited"}]}
    else:
        said = {}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": said}), flush=True)
"""

SCENES: dict[str, Callable[[Harness], None]] = {
    scene.__name__.replace("_", "-"): scene for scene in (hooks_running, mcp_tool, refusal, modes, pasted)
}
