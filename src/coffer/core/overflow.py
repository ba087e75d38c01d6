"""Words by which an API, or the client in its name, refuses a prompt that is longer than the window.

Only an error record of the client's counts: a person or a page may say the same words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WORDINGS: dict[str, str] = {
    "prompt is too long": "the Anthropic API's 400, and Claude Code 2.1.197's own line for it",
    "input length and `max_tokens` exceed context limit": "the Anthropic API's 400, read in Claude Code 2.1.197",
    "model_context_window_exceeded": "the Anthropic API's stop reason, read in Claude Code 2.1.197",
    "context limit reached": "Claude Code 2.1.197's line where it can't compact",
    "conversation too long": "Claude Code 2.1.197's line where a compaction fails",
    "context_length_exceeded": "OpenAI's error code, as a gateway hands it on",
    "maximum context length": "OpenAI's sentence, as a gateway hands it on",
    "exceeds the context window": "OpenAI's sentence, as a gateway hands it on",
}
"""In lower case, with where each is from."""
NEEDLE = b'"isApiErrorMessage":true'
"""In the line of every error record of Claude Code's."""


def refused(said: Mapping[str, Any]) -> str:
    """The uuid of a record that says that a prompt was too long; "" where it says something else."""
    if said.get("isApiErrorMessage") is not True or said.get("isSidechain") is True:
        return ""
    message = said.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [str(part.get("text")) for part in parts if isinstance(part, Mapping)]
    words = " ".join([*texts, str(said.get("error", ""))]).lower()
    return str(said.get("uuid", "")) if any(wording in words for wording in WORDINGS) else ""
