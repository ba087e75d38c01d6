"""Codex: which hook events get an entry, what the entry is, and what a hook prints (facts/codex §2)."""

from __future__ import annotations

import shlex
from typing import Any

from coffer.agents.hook_entries import Dialect, HookEvent, Wanted
from coffer.agents.hook_envelope import additional_context

DIALECT = Dialect(
    "codex",
    "Codex",
    "hooks.json",
    positional=True,
    top_level=frozenset({"description", "hooks"}),
    bom=False,
)

EVENTS: tuple[HookEvent, ...] = (
    HookEvent("SessionStart", 5, "delivers the rules: startup, resume, clear, compact, fork"),
    HookEvent("SubagentStart", 5, "delivers the rules to a subagent, which has no SessionStart"),
    HookEvent("UserPromptSubmit", 5, "delivers what changed since; says that a human turn came"),
    HookEvent("Stop", 5, "a turn ended: time to learn"),
    HookEvent("PreCompact", 5, "a compaction begins: what was delivered goes with it"),
    HookEvent("SessionEnd", 3, "a session ended: learn and journal. 3 s is what the client allows at most"),
)
"""Trust is bound to all that an entry says, its timeout too: whoever changes a line here un-trusts every installed
entry of it. Left out: PreToolUse, PostToolUse, PreModelRequest and PostModelRequest cost a process for every call;
PostCompact takes no context; Interrupt is seen in the transcript."""

CONTEXT_EVENTS = frozenset({"SessionStart", "SubagentStart", "UserPromptSubmit"})

TRUST_STEPS = (
    "Codex runs a hook only after you have trusted it. Either start `codex` and choose “Trust all and continue” on "
    "the screen “Hooks need review” (or type /hooks there), or run `coffer hooks install codex --trust`."
)


def wanted(hook: str) -> list[Wanted]:
    """The entries. hook: path of the stub."""
    return [Wanted(event.name, (_entry(hook, event),)) for event in EVENTS]


def _entry(hook: str, event: HookEvent) -> dict[str, Any]:
    command = " ".join([shlex.quote(hook), "codex", event.name])
    return {"type": "command", "command": command, "timeout": event.timeout}


def envelope(event: str, context: str) -> bytes:
    """What a hook prints so that the model gets a text; no bytes where there is none or the event takes none."""
    return additional_context(event, context) if event in CONTEXT_EVENTS else b""


def switched_off(config: Any) -> str:
    """Why the client runs no hooks at all although they stand there; "" where it does. config: config.toml."""
    features = config.get("features") if isinstance(config, dict) else None
    if isinstance(features, dict) and (
        features.get("hooks") is False or features.get("codex_hooks") is False
    ):
        return "“features.hooks” is off in config.toml, so Codex runs no hook at all"
    return ""
