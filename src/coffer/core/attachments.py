"""Which texts of an attachment reach the model, and which attachments never do.

The client words each attachment type in its own way, and that wording changes by version; its payload does
not. So a view holds the payload, and the conformance test asks for its texts in the request. Types seen in
transcripts of 2.0.64 to 2.1.229 and in the loader of 2.1.197.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SPOKEN_HOOK_EVENTS = frozenset({"SessionStart", "UserPromptSubmit", "UserPromptExpansion"})
"""Events whose plain output reaches the model (facts/claude-code §2)."""

SILENT = frozenset(
    {
        "autocheckpointing",
        "background_task_status",
        "command_permissions",
        "context_efficiency",
        "current_session_memory",
        "hook_cancelled",
        "hook_error_during_execution",
        "hook_non_blocking_error",
        "hook_permission_decision",
        "hook_system_message",
        "task_progress",
        "thinking_reminder",
        "todo",
        "ultramemory",
        "ultrawork_request",
    }
)
"""Types that leave no word in a request."""

WORDED = frozenset(
    {
        "auto_mode",
        "auto_mode_exit",
        "plan_mode",
        "plan_mode_exit",
        "plan_mode_reentry",
        "ultra_effort_enter",
        "ultra_effort_exit",
        "ultrathink_effort",
        "workflow_keyword_request",
    }
)
"""Types whose text is the client's alone: their payload only chooses it."""

_Texts = Callable[[dict[str, Any]], list[str]]


def _field(*names: str) -> _Texts:
    def take(payload: dict[str, Any]) -> list[str]:
        value: Any = payload
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return strings(value)

    return take


def strings(value: Any) -> list[str]:
    """The strings in a JSON value, in order."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for inner in value for text in strings(inner)]
    if isinstance(value, dict):
        return [text for inner in value.values() for text in strings(inner)]
    return []


def _prompt(payload: dict[str, Any]) -> list[str]:
    prompt = payload.get("prompt")
    if isinstance(prompt, list):
        return [
            part["text"] for part in prompt if isinstance(part, dict) and isinstance(part.get("text"), str)
        ]
    return strings(prompt)


def _each(list_name: str, *names: str) -> _Texts:
    def take(payload: dict[str, Any]) -> list[str]:
        items = payload.get(list_name)
        return [
            item[name]
            for item in (items if isinstance(items, list) else [])
            if isinstance(item, dict)
            for name in names
            if isinstance(item.get(name), str)
        ]

    return take


def _both(*takers: _Texts) -> _Texts:
    return lambda payload: [text for take in takers for text in take(payload)]


PAYLOADS: dict[str, _Texts] = {
    "agent_listing_delta": _field("addedLines"),
    "agent_mention": _field("agentType"),
    "async_hook_response": _field("response", "hookSpecificOutput", "additionalContext"),
    "compact_file_reference": _field("filename"),
    "critical_system_reminder": _field("content"),
    "date_change": _field("newDate"),
    "deferred_tools_delta": _field("addedLines"),
    "diagnostics": _each("files", "uri"),
    "directory": _both(_field("path"), _field("content")),
    "edited_text_file": _both(_field("filename"), _field("snippet")),
    "file": _both(_field("filename"), _field("content", "file", "content")),
    "hook_additional_context": _field("content"),
    "hook_blocking_error": _field("blockingError", "blockingError"),
    "hook_stopped_continuation": _field("message"),
    "hook_success": _field("content"),
    "invoked_skills": _each("skills", "content"),
    "mcp_instructions_delta": _field("addedBlocks"),
    "mcp_resource": _each("content", "text"),
    "memory_update": _field("summary"),
    "nested_memory": _field("content", "content"),
    "opened_file_in_ide": _field("filename"),
    "output_style": _field("turnReminder"),
    "pdf_reference": _field("filename"),
    "plan_file_reference": _field("planContent"),
    "queued_command": _prompt,
    "relevant_memories": _each("memories", "content"),
    "selected_lines_in_diff": _field("content"),
    "selected_lines_in_ide": _field("content"),
    "skill_listing": _field("content"),
    "task_reminder": _each("content", "subject"),
    "task_status": _field("taskId"),
    "todo_reminder": _each("content", "content"),
    "total_tokens_reminder": _field("text"),
}
"""The texts of a payload that the client repeats, by type."""


def is_silent(kind: str, payload: dict[str, Any]) -> bool:
    """Whether an attachment of this type and payload leaves no word in a request."""
    if kind in SILENT:
        return True
    if kind == "hook_success":
        return payload.get("hookEvent") not in SPOKEN_HOOK_EVENTS or not payload.get("content")
    if kind in ("hook_additional_context", "skill_listing", "invoked_skills"):
        return not texts(kind, payload)
    return False


def texts(kind: str, payload: dict[str, Any]) -> list[str]:
    """The texts that the model reads, in order; none for a type without an entry."""
    take = PAYLOADS.get(kind)
    return [text for text in take(payload) if text] if take is not None else []


def is_known(kind: str) -> bool:
    """Whether the type stands in one of the tables above."""
    return kind in PAYLOADS or kind in SILENT or kind in WORDED
