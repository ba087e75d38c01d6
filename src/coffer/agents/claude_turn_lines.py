"""What of a Claude Code record matters to its human turns: the fields, the texts, whether a person sent it.

A shape that a client never wrote costs only what has it: a part of a message, not the message; a field, not
the line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct

from coffer.agents import claude_schema as schema
from coffer.agents.raw_text import REFUSALS, string
from coffer.core.attachments import texts
from coffer.core.json_lines import elements


class Message(Struct, gc=False):
    """A message; its content is decoded only where it matters."""

    role: str | None = None
    id: str | None = None
    model: str | None = None
    content: Raw = Raw(b"")
    usage: schema.Usage | None = None


class Line(Struct, gc=False, rename="camel"):
    """A record: its place in the chain, and what says who sent it."""

    type: str
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    timestamp: str | None = None
    session_id: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    entrypoint: str | None = None
    prompt_source: str | None = None
    origin: schema.Origin | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    is_virtual: bool | None = None
    is_synthetic: bool | None = None
    is_api_error_message: bool | None = None
    plan_content: Raw = Raw(b"")
    message: Message | None = None
    attachment: Raw = Raw(b"")
    tool_use_result: Raw = Raw(b"")
    operation: str | None = None
    content: Raw = Raw(b"")


class Part(Struct, gc=False):
    """A block of a message."""

    type: str = ""
    text: Raw = Raw(b"")
    id: str = ""
    name: str = ""
    input: Raw = Raw(b"")
    tool_use_id: str = ""
    content: Raw = Raw(b"")
    is_error: bool | None = None


class Queued(Struct, gc=False, rename="camel"):
    """An attachment with what was typed while the agent worked."""

    type: str = ""
    prompt: Any = None
    command_mode: str | None = None
    origin: schema.Origin | None = None
    is_meta: bool | None = None


decoder = msgspec.json.Decoder(Line)
_parts_decoder = msgspec.json.Decoder(list[Part])
_part_decoder = msgspec.json.Decoder(Part)
_input_decoder = msgspec.json.Decoder(schema.Input)
queued_decoder = msgspec.json.Decoder(Queued)
_payload_decoder = msgspec.json.Decoder(dict[str, Any])


_PROGRAMS = ("sdk", "mcp", "claude-code-github-action", "remote_trigger")
"""How entrypoints begin behind which no person sits."""


def is_persons(line: Line) -> bool:
    """Whether a person sent the record, as far as its own marks say.

    Programs that use the client (`claude -p`, the SDKs) write entrypoint sdk-… and promptSource sdk; the
    desktop application writes promptSource sdk too, and origin human for what was typed (2.1.205 to 2.1.229).
    A suggestion of the client that was accepted holds the client's words.
    """
    kind = line.origin.kind if line.origin is not None else None
    made = (
        line.is_meta,
        line.is_compact_summary,
        line.is_visible_in_transcript_only,
        line.is_virtual,
        line.is_synthetic,
        memoryview(line.plan_content).nbytes > len("null"),
        kind not in (None, "human"),
        is_program(line.entrypoint or ""),
        line.prompt_source in ("system", "suggestion_accepted"),
        line.prompt_source == "sdk" and kind != "human",
    )
    return not any(made)


def is_program(entrypoint: str) -> bool:
    """Whether a program uses the client, as its entrypoint tells (also `CLAUDE_CODE_ENTRYPOINT` of its hooks)."""
    return entrypoint.startswith(_PROGRAMS)


def parts(content: Raw) -> list[Part]:
    """The blocks of a message; of a foreign shape, none."""
    head = bytes(memoryview(content)[:1])
    if head == b'"':
        return [Part(type="text", text=content)]
    try:
        return _parts_decoder.decode(content) if head == b"[" else []
    except REFUSALS:
        return [part for raw in elements(bytes(content)) for part in _odd_part(raw)]


def _odd_part(raw: bytes) -> list[Part]:
    """One block of an odd list must not cost the others."""
    try:
        return [_part_decoder.decode(raw)]
    except REFUSALS:
        return []


def text_of(content: Raw) -> str:
    """The texts of a result, a line each."""
    return "\n".join(string(part.text) for part in parts(content) if part.type == "text")


def target_of(raw: Raw) -> str:
    """The path or command that a call names, "" for none."""
    try:
        given = _input_decoder.decode(raw)
    except REFUSALS:
        return ""  # an input of a foreign shape names nothing; the call still counts
    path = given.file_path or given.notebook_path
    return path or given.command or given.url or given.pattern or given.path or given.description


def prompt_texts(prompt: Any) -> Iterator[str]:
    """The texts of a queued prompt."""
    if isinstance(prompt, str):
        yield prompt
    elif isinstance(prompt, list):
        for part in prompt:
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"]


def attached_texts(raw: bytes) -> list[str]:
    """The texts of an attachment that the model reads."""
    try:
        payload = _payload_decoder.decode(raw)
        return texts(str(payload.get("type") or ""), payload)
    except REFUSALS:
        return []
