"""The JSON by which a hook gives the model a text. Both agents take the same."""

from __future__ import annotations

import json

from coffer.core.regex import regex

_HALVES = regex("[\ud800-\udfff]")


def additional_context(event: str, context: str) -> bytes:
    """Exactly hookSpecificOutput and nothing else: Codex fails a hook over any further key. No text: no bytes.

    Half surrogate pairs become U+FFFD, since Codex fails over their escapes.
    """
    if not context:
        return b""
    said = {"hookEventName": event, "additionalContext": _HALVES.sub("\ufffd", context)}
    return json.dumps({"hookSpecificOutput": said}, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def with_system_message(answer: bytes, words: str) -> bytes:
    """An answer with a line that the client shows to the person and does not send (facts/claude-code §2)."""
    if not words:
        return answer
    said = json.loads(answer) if answer else {}
    said["systemMessage"] = _HALVES.sub("\ufffd", words)
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
