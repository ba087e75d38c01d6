"""The agents whose hooks Coffer can use: one row each."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from coffer.agents import claude_hooks, codex_hooks
from coffer.agents.hook_entries import Dialect, HookEvent, Wanted


class HookAgent(Struct, frozen=True):
    """wanted: path of the stub, version of the client → entries. envelope: event, text → what a hook prints."""

    dialect: Dialect
    events: tuple[HookEvent, ...]
    wanted: Callable[[str, tuple[int, ...] | None], list[Wanted]]
    envelope: Callable[[str, str], bytes]


HOOK_AGENTS = {
    "claude": HookAgent(
        claude_hooks.DIALECT, claude_hooks.EVENTS, claude_hooks.wanted, claude_hooks.envelope
    ),
    "codex": HookAgent(
        codex_hooks.DIALECT,
        codex_hooks.EVENTS,
        lambda hook, _version: codex_hooks.wanted(hook),
        codex_hooks.envelope,
    ),
}


def envelope(agent: str, event: str, context: str) -> bytes:
    """What a hook of that agent prints so that the model gets a text; no bytes where there is nothing to say."""
    return HOOK_AGENTS[agent].envelope(event, context)
