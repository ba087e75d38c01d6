"""Where in a transcript a delivered block stands: the texts that a hook gave the model, by agent.

A block anywhere else (a tool's output, an answer, a pasted file) was not delivered: it is read as what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from coffer.agents import codex_about
from coffer.core.attachments import texts
from coffer.core.content import content, payload
from coffer.core.digest_text import MARKER
from coffer.core.items import pointing
from coffer.core.record import Attached, Record

NEEDLE = b"__cozempic_behavioral_digest__"
"""In the bytes of every line that holds a block, however its JSON escapes the rest of the marker."""
_HOOKS = frozenset({"hook_additional_context", "hook_success"})
_DEVELOPER = "developer"


def _claude(record: Record, line: bytes) -> Iterator[str]:
    """Texts of hooks (attachments), and the seed's own form: a user record that begins with the marker."""
    if isinstance(record.detail, Attached):
        if record.detail.bundle and record.detail.kind in _HOOKS and not record.detail.silent:
            yield from (text for text in texts(record.detail.kind, payload(line)) if MARKER in text)
    elif record.type == "user" and not record.returned:
        for index, block in enumerate(record.blocks):
            if block.kind == "text" and block.valid:
                text = str(content(pointing(record, index), line).get("text", ""))
                if text.startswith(MARKER):
                    yield text


def _codex(record: Record, line: bytes) -> Iterator[str]:
    """Messages of the role developer: no other is a hook's, and a person's or a model's never has it."""
    if record.role == _DEVELOPER:
        for index in range(len(record.blocks)):
            text = codex_about.content(pointing(record, index), line).get("text")
            if isinstance(text, str) and MARKER in text:
                yield text


DELIVERED: dict[str, Callable[[Record, bytes], Iterator[str]]] = {"claude": _claude, "codex": _codex}
"""Agent → the delivered texts in a record; line: its bytes."""


def is_answer(agent: str, record: Record) -> bool:
    """Whether the model said this: what was delivered before it stands before it."""
    if agent == "codex":
        return record.type == "response_item" and record.role == "assistant"
    return record.type == "assistant" and not record.failed
