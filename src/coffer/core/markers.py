"""The words by which work in flight is known: one row each, with the client that wrote it and where it was seen.

Theory, above the table. The client's registry is a claim of its own: *idle since T*. It covers turns, tools, queues,
retries, compaction, hooks, background shells, subagents and workflows (facts/claude-code §11), so for these only
something dated later than T can speak against it: a hook that begins work, a record of the model, a subagent that
writes. What Stop's `background_tasks` says of them goes stale and proves nothing.
The registry is blind for four things, and each has its own witness: teammates and schedules (the last Stop, what
the transcript began since, the project's `scheduled_tasks.json`), what stands in the input line (the screen), and
what is not on disk yet (Stop's `last_assistant_message`).

A row *clears* when the gate leans on it to say yes: if the word drifts, it is not recognised, and the gate blocks.
A row *blocks* when it names work: what it would have named is then either unknown where only known words may stand,
which blocks too, or still named by another witness. A row without a fixture may only block.
Tools are known by name and, where the name drifts, by the shape of what they answer. The contract test
(`tests/test_reload_gate_contract.py`) finds every row's word in its fixture, and mutates it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

VERSIONS = ("2.1.197",)
"""Clients whose words these are. Any other version blocks."""

Effect = Literal["clears", "blocks", "key"]
"""key: the name under which a word is looked up; where it drifts, the word is missing, and that blocks."""


@dataclass(frozen=True, slots=True)
class Marker:
    """One word. source: where it stands. kind: of the blocker that it makes. fixture: an instant that shows it."""

    source: str
    word: str
    effect: Effect
    fixture: str = ""
    kind: str = ""
    shows: str = ""


_KEY: Effect = "key"
MARKERS: tuple[Marker, ...] = (
    # --- the registry file
    Marker("registry", "status", _KEY, "idle", shows="what the client is doing, rewritten at each change"),
    Marker("registry", "sessionId", _KEY, "idle", shows="whose file it is"),
    Marker("registry", "statusUpdatedAt", _KEY, "idle", shows="since when, in milliseconds"),
    Marker(
        "registry", "startedAt", _KEY, "killed-then-resumed", shows="when the process began, in milliseconds"
    ),
    Marker("registry", "version", _KEY, "idle", shows="whose words these are"),
    Marker("registry", "kind", _KEY, "idle", shows="interactive or not"),
    Marker("registry", "entrypoint", _KEY, "idle", shows="cli, or a program's"),
    Marker("registry", "waitingFor", _KEY, "permission-prompt", shows="which dialog is open"),
    Marker("status", "idle", "clears", "idle", shows="nothing that the registry covers is in flight"),
    Marker(
        "status",
        "busy",
        "blocks",
        "tool-running",
        "turn",
        "a turn, tool, queue, retry, hook, subagent, workflow",
    ),
    Marker(
        "status", "waiting", "blocks", "permission-prompt", "dialog", "a permission, a question, a dialog"
    ),
    Marker(
        "status", "shell", "blocks", "shell-running", "shell", "a background command, or the list of them"
    ),
    Marker("kind", "interactive", "clears", "idle", shows="a person sits at it"),
    Marker("entrypoint", "cli", "clears", "idle", shows="a person sits at it"),
    Marker("entrypoint", "sdk-cli", "blocks", "headless", "headless", "`-p` or a program"),
    # --- hook events
    Marker("stdin", "session_id", _KEY, "idle", shows="whose event it is"),
    Marker("stdin", "hook_event_name", _KEY, "idle", shows="which event it is"),
    Marker(
        "stdin", "last_assistant_message", _KEY, "idle", shows="what must be in the file before Stop counts"
    ),
    Marker("stdin", "background_tasks", _KEY, "idle", shows="work in the background when the turn ended"),
    Marker("stdin", "session_crons", _KEY, "idle", shows="the session's schedules when the turn ended"),
    Marker("stdin", "source", _KEY, "idle", shows="why the session started"),
    Marker("load", "startup", "clears", "idle", shows="the process began with this session"),
    Marker(
        "load",
        "resume",
        "clears",
        "resumed",
        shows="the file was read, perhaps in place of another session's",
    ),
    Marker("load", "clear", "clears", "cleared-over-cron", shows="a new session in the same process"),
    Marker("load", "compact", _KEY, "compacted", shows="no load: it comes in the middle of a turn"),
    Marker("stdin", "notification_type", _KEY, "idle-for-a-minute", shows="what the client tells the person"),
    Marker("task", "type", _KEY, "shell-running", shows="which kind of background work"),
    Marker("task", "shell", "blocks", "shell-running", "shell", "while the registry is not idle"),
    Marker("task", "subagent", "blocks", "subagent-behind", "subagent", "while the registry is not idle"),
    Marker("task", "workflow", "blocks", "workflow-running", "workflow", "while the registry is not idle"),
    Marker(
        "task",
        "teammate",
        "blocks",
        "teammate-idle",
        "teammate",
        "always: an idle teammate is idle to the registry",
    ),
    Marker("event", "Stop", "clears", "idle", shows="a turn ended, with the two lists"),
    Marker("event", "SessionStart", "clears", "resumed", shows="the session was loaded"),
    Marker("event", "UserPromptSubmit", "blocks", "tool-running", "turn", "later than the registry's T"),
    Marker("event", "PreToolUse", "blocks", "tool-running", "tool", "later than the registry's T"),
    Marker(
        "event", "PermissionRequest", "blocks", "permission-prompt", "dialog", "later than the registry's T"
    ),
    Marker("event", "SubagentStart", "blocks", "subagent-behind", "subagent", "later than the registry's T"),
    Marker("event", "PreCompact", "blocks", "compacting", "turn", "later than the registry's T"),
    Marker("event", "TeammateIdle", "blocks", "teammate-idle", "teammate", "later than the last Stop"),
    Marker("notification", "permission_prompt", "blocks", "permission-notified", "dialog", "later than T"),
    Marker("notification", "idle_prompt", "clears", "idle-for-a-minute", shows="a minute of idleness"),
    # --- the transcript
    Marker(
        "call",
        "Agent",
        "blocks",
        "teammate-after-interrupt",
        "teammate",
        "a spawn tool: its result says what it spawned",
    ),
    Marker(
        "call",
        "Workflow",
        "blocks",
        "workflow-running",
        "workflow",
        "a spawn tool: the registry covers its run",
    ),
    Marker("call", "Task", "blocks", kind="teammate", shows="a spawn tool of older clients"),
    Marker("call", "TeamCreate", "blocks", kind="teammate", shows="a spawn tool of older clients"),
    Marker("call", "SpawnTeammate", "blocks", kind="teammate", shows="a spawn tool of older clients"),
    Marker(
        "call", "TeamDelete", "blocks", kind="teammate", shows="of older clients; it clears nothing by itself"
    ),
    Marker(
        "call", "CronCreate", "blocks", "cron-set-no-stop", "schedule", "a schedule, until a Stop lists none"
    ),
    Marker(
        "call", "ScheduleWakeup", "blocks", "wakeup-refused", "schedule", "a wake-up, until a Stop lists none"
    ),
    Marker("result", "status", _KEY, "teammate-idle", shows="what a spawn tool answers"),
    Marker("result", "teammate_spawned", "blocks", "teammate-idle", "teammate", "a named teammate lives"),
    Marker(
        "result", "async_launched", "blocks", "subagent-behind", "subagent", "work that the registry covers"
    ),
    Marker("result", "completed", "clears", "subagent-done-no-stop", shows="a subagent in front has ended"),
    Marker("result", "scheduledFor", _KEY, "wakeup-refused", shows="when; 0: the client refused"),
    Marker(
        "carrier",
        '<teammate-message teammate_id="',
        "blocks",
        "teammate-idle",
        "teammate",
        "a teammate wrote",
    ),
    Marker("queue", "enqueue", "blocks", "prompt-queued", "queue", "later than the registry's T"),
    Marker("queue", "dequeue", "clears", "shell-ended", shows="the queue gave a prompt to a turn"),
    Marker("queue", "remove", "clears", "queue-taken-midturn", shows="a turn took a prompt in its middle"),
    Marker("queue", "popAll", "clears", "queue-put-back", shows="the queue went back into the input line"),
    Marker(
        "shape",
        "humanSchedule",
        "blocks",
        "cron-set-no-stop",
        "schedule",
        "a schedule, whatever tool made it",
    ),
    Marker(
        "shape", "scheduledFor", "blocks", "wakeup-refused", "schedule", "a wake-up, whatever tool made it"
    ),
    Marker("shape", "teammate_id", "blocks", "teammate-idle", "teammate", "a spawn, whatever tool made it"),
    # --- the project's folder
    Marker(
        "file",
        "scheduled_tasks.json",
        "blocks",
        "cron-durable",
        "schedule",
        "schedules that outlive sessions",
    ),
    Marker("file", "tasks", _KEY, "cron-durable", shows="the list in it; empty: none is left"),
    # --- the screen
    Marker(
        "screen", "❯", "clears", "idle", shows="the input line, between two rules; empty: nothing is typed"
    ),
    Marker("screen", "─", "clears", "idle", shows="the rules above and below the input line"),
    Marker("screen", "esc to interrupt", "blocks", "tool-running", "turn", "the footer of a turn"),
    Marker("screen", "-- INSERT --", "blocks", "vim-insert", "editor", "typing only: keys may be commands"),
    Marker("footer", "⏵⏵ ", "clears", "mode-accept-edits", shows="begins the footer when edits are accepted"),
    Marker("footer", "⏸ plan mode on", "clears", "mode-plan", shows="begins it in plan mode"),
    Marker("footer", "-- INSERT --", "clears", "vim-insert", shows="begins it in vim's INSERT mode"),
    Marker(
        "offer",
        " for ",
        "clears",
        "idle",
        shows="begins it else: a key, and what it is for (`? for shortcuts`)",
    ),
    Marker("offer", " to ", "clears", "todo-open", shows="the same (`ctrl+t to hide tasks`)"),
)

EVENTS = frozenset(
    {
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "Notification",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "SessionStart",
        "SessionEnd",
        "Stop",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "PermissionRequest",
        "PermissionDenied",
        "Setup",
        "TeammateIdle",
        "TaskCreated",
        "TaskCompleted",
        "Elicitation",
        "ElicitationResult",
        "ConfigChange",
        "WorktreeCreate",
        "WorktreeRemove",
        "InstructionsLoaded",
        "CwdChanged",
        "FileChanged",
        "MessageDisplay",
    }
)
"""All that these clients fire (facts §2). An event of another name blocks."""


@cache
def rows(source: str) -> Mapping[str, Marker]:
    """The words of one source. Kept: the gate asks for them a thousand times a verdict."""
    return {marker.word: marker for marker in MARKERS if marker.source == source}


def key(source: str, word: str) -> str:
    """A word of the table, so that none is written twice; KeyError for one that is not in it."""
    return rows(source)[word].word
