"""Claude Code: which hook events get an entry, what the entry is, and what a hook prints (facts/claude-code §2, §9)."""

from __future__ import annotations

import re
import shlex
from typing import Any

from coffer.agents.hook_entries import Dialect, HookEvent, Wanted
from coffer.agents.hook_envelope import additional_context

DIALECT = Dialect("claude", "Claude Code", "settings.json")

EVENTS: tuple[HookEvent, ...] = (
    HookEvent("SessionStart", 5, "delivers the rules: startup, resume, clear, compact, fork"),
    HookEvent("SubagentStart", 5, "delivers the rules to a subagent, which has no SessionStart", (2, 0, 43)),
    HookEvent("UserPromptSubmit", 5, "delivers what changed since; says that a human turn came"),
    HookEvent("Stop", 5, "a turn ended: time to learn; lists what still runs in the background (guard)"),
    HookEvent(
        "StopFailure", 5, "a turn ended by an API error, which fires no Stop: an overflow (guard)", (2, 1, 78)
    ),
    HookEvent("PreCompact", 5, "a compaction begins: no reload now, and what it loses is saved (guard)"),
    HookEvent(
        "SessionEnd", 2, "a session ended: learn and journal. The client gives it 1.5 s, or what stands here"
    ),
)
"""Left out: PreToolUse and PostToolUse cost a process for every tool call (lessons 19); PostCompact is not seen by the
model, SessionStart `compact` is; SubagentStop also fires for compactions; Notification and PermissionRequest say what
the session registry says, and a failing PermissionRequest hook stands in the person's way."""

CONTEXT_EVENTS = frozenset({"SessionStart", "SubagentStart", "UserPromptSubmit"})
"""Where the client takes additionalContext; elsewhere such an answer is an error that it shows to the person."""

EXEC_FORM_SINCE = (2, 1, 139)
"""`args`: the client starts the command itself. An older one ignores them and runs the stub without arguments."""
_AT_LEAST = (2, 1)
"""What a client is taken to be that can't be asked. Before 2.1.101 one event that it does not know made it drop the
whole settings file."""

MCP_PERMISSION = "mcp__coffer"
"""In `permissions.allow`: without it every call of our tools asks, and `-p` refuses (facts/claude-code §10)."""


def wanted(hook: str, version: tuple[int, ...] | None) -> list[Wanted]:
    """The entries for a client. hook: path of the stub. version: None where it could not be asked.

    Of an unknown version nothing is assumed: the shell form, and no event that it may not know; entries that stand
    there already in the other form are as good.
    """
    found = []
    for event in EVENTS:
        if version is not None and version < event.since:
            continue
        by_shell, by_exec = _entry(hook, event, by_exec=False), _entry(hook, event, by_exec=True)
        if version is None:
            values: tuple[dict[str, Any], ...] = (by_shell, by_exec)
        else:
            values = (by_exec, by_shell) if version >= EXEC_FORM_SINCE else (by_shell,)
        found.append(Wanted(event.name, values, required=version is not None or event.since < _AT_LEAST))
    return found


def _entry(hook: str, event: HookEvent, *, by_exec: bool) -> dict[str, Any]:
    words = ["claude", event.name]
    if by_exec:
        return {"type": "command", "command": hook, "args": words, "timeout": event.timeout}
    command = " ".join([shlex.quote(hook), *words])
    return {"type": "command", "command": command, "timeout": event.timeout}


def envelope(event: str, context: str) -> bytes:
    """What a hook prints so that the model gets a text; no bytes where there is none or the event takes none."""
    return additional_context(event, context) if event in CONTEXT_EVENTS else b""


def version_of(said: str) -> tuple[int, ...] | None:
    """The version in what `claude --version` prints."""
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", said)
    return tuple(int(part) for part in found.groups()) if found else None


def switched_off(settings: Any) -> str:
    """Why the client runs no hooks at all although they stand there; "" where it does."""
    if isinstance(settings, dict) and settings.get("disableAllHooks") is True:
        return "“disableAllHooks” is on in this file, so Claude Code runs no hook at all"
    return ""
