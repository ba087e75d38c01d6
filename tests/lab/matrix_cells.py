"""The cells of the delivery matrix: what each is, how it ends, and why a client makes one impossible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

State = Literal["up", "down", "cold", "hanging"]
STATES: tuple[State, ...] = ("up", "down", "cold", "hanging")
Event = tuple[str, str]
"""Agent and event."""

EVENTS: dict[Event, str] = {
    ("claude", "startup by -p"): "a new session of `claude -p`",
    ("claude", "interactive startup"): "a new session on a terminal",
    ("claude", "resume"): "`--resume ID`",
    ("claude", "continue"): "`--continue`",
    ("claude", "fork"): "`--resume ID --fork-session`",
    ("claude", "/clear"): "on a terminal",
    ("claude", "/compact"): "on a terminal",
    (
        "claude",
        "automatic compaction",
    ): "the API says that the prompt is too long, in the first turn after a resume",
    ("claude", "rewind"): "Esc Esc, back to before the very first prompt, then another one",
    ("claude", "subagent"): "one that the conversation waits for",
    ("claude", "background subagent"): "one that it doesn't wait for",
    ("claude", "teammate"): "of an agent team, in the same process",
    ("claude", "digest changed"): "a rule is added while the session is open",
    ("claude", "rewind past a change"): "Esc Esc, back to before the prompt that brought such a rule",
    ("claude", "hooks added"): "the hooks are installed while the session is open",
    ("codex", "exec"): "a new thread of `codex exec`",
    ("codex", "exec --ephemeral"): "a thread that leaves no transcript",
    ("codex", "interactive startup"): "a new thread on a terminal",
    ("codex", "resume"): "`codex exec resume ID`",
    ("codex", "fork"): "`codex exec fork ID`",
    ("codex", "/clear"): "on a terminal",
    ("codex", "/compact"): "on a terminal; the event comes with the next prompt",
    ("codex", "automatic compaction"): "the context is full in the middle of a turn",
    ("codex", "subagent"): "spawned by the model",
}

NONE = "no receipt"
"""Nothing was sent and nothing had to be: what the context holds was confirmed when it was sent."""
LATER = "later, "
"""Before an outcome: the hook has no file for this event, so it comes with the next prompt that a daemon answers."""

_CONFIRMED: dict[State, str] = dict.fromkeys(STATES, "confirmed")
_HOLDS: dict[State, str] = dict.fromkeys(STATES, "held")
_DELTA: dict[State, str] = {**dict.fromkeys(STATES, f"{LATER}confirmed"), "up": "confirmed"}
_CODEX_HOLDS: dict[State, str] = {**dict.fromkeys(STATES, NONE), "up": "held"}

OUTCOMES: dict[Event, dict[State, str]] = dict.fromkeys(EVENTS, _CONFIRMED) | {
    ("claude", "resume"): _HOLDS,
    ("claude", "continue"): _HOLDS,
    ("claude", "fork"): _HOLDS,
    ("claude", "rewind"): dict.fromkeys(STATES, NONE),
    ("codex", "exec --ephemeral"): dict.fromkeys(STATES, "unverifiable"),
    ("claude", "digest changed"): _DELTA,
    ("claude", "hooks added"): _DELTA,
    ("codex", "resume"): _CODEX_HOLDS,
    ("codex", "fork"): _CODEX_HOLDS,
}
"""How each cell ends. Any other end fails."""

IMPOSSIBLE: dict[Event, str] = {
    (
        "claude",
        "rewind past a change",
    ): "Claude Code 2.1.197 writes nothing of a rewind, and tells no hook of it, before "
    "the first prompt behind it is answered. So that one request lacks a rule that came in mid-session with a prompt "
    "that was taken back; the prompt after it brings the rule again. What came with the session's start stands before "
    "the first prompt and is never taken back",
}
"""Cells that a client makes impossible: why, and the version of the client."""

NOTES = {
    "confirmed": "seen in the session's transcript",
    "held": "the context had the same text already; the client dropped ours, or none was sent",
    "unverifiable": "there is no transcript to look at",
    NONE: "nothing was sent and nothing was due: what the context holds was confirmed when it was sent. Codex would "
    "take a text twice at a resume or a fork, so the hook says nothing there without a daemon",
    LATER.strip(
        ", "
    ): "the hook answers only the start of a context by itself. What changed comes with the next prompt "
    "that a daemon answers, and the hook starts one",
}


@dataclass(frozen=True, slots=True)
class Result:
    """A cell that was run. milliseconds: the longest that a hook of its event took, from its first line to its last."""

    agent: str
    event: str
    state: State
    outcome: str
    milliseconds: float

    @property
    def name(self) -> tuple[str, str, str]:
        return self.agent, self.event, self.state


SCRIPTS: dict[str, list[dict[str, Any]]] = {
    "middle": [
        {
            "items": [{"call": "exec_command", "args": {"cmd": "echo x"}}],
            "usage": {"input": 60000, "output": 20},
        },
        {"text": "Read."},
    ],
    "spawn": [
        {
            "items": [
                {"call": "spawn_agent", "namespace": "multi_agent_v1", "args": {"message": "@@child@@ Go."}}
            ]
        },
        {"delay": 2.5, "items": [{"call": "exec_command", "args": {"cmd": "echo waiting"}}]},
        {"text": "The child counted."},
    ],
    "child": [{"text": "One."}],
}
"""What the scripted Codex model answers."""
