"""Claude Code's dialect: a line of `<session>.jsonl` → Record (facts/claude-code §3, key catalogue).

The decoder below knows only the fields that Coffer needs; msgspec skips the rest without building it. Every
line that it refuses goes through `json_lines.objects`, so one odd line costs only itself.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from coffer.agents import claude_schema as schema
from coffer.agents.raw_text import REFUSALS
from coffer.core.attachments import is_silent, texts
from coffer.core.dialect import (
    INTERRUPTIONS,
    LAUNCHERS,
    MARKER,
    NO_CONTENT,
    REMINDER_BEGIN,
    REMINDER_END,
    STANDING,
)
from coffer.core.json_lines import Found, Oddity, decoded, objects
from coffer.core.record import (
    LONGEST_COMMAND,
    Attached,
    Block,
    Boundary,
    Detail,
    Naming,
    Pointer,
    Record,
    Replacements,
    Retraction,
    Snapshot,
    Usage,
    Window,
)
from coffer.core.text import utf8_size

_LONG_WINDOW = 1_000_000


_decoder = msgspec.json.Decoder(schema.Line)
_parts_decoder = msgspec.json.Decoder(list[schema.Part])
_text_decoder = msgspec.json.Decoder(str)
_input_decoder = msgspec.json.Decoder(schema.Input)
_attachment_decoder = msgspec.json.Decoder(dict[str, Any])


def translate(line: bytes, start: int) -> list[Record | Oddity]:
    """Records and oddities of one line, with or without its newline; start is its offset in bytes.

    An empty line gives none.
    """
    try:
        return [_record(_decoder.decode(line), start, start + len(line) - line.endswith(b"\n"))]
    except REFUSALS:
        found = objects(line.removesuffix(b"\n"), start)
        return [_rescued(item) if isinstance(item, Found) else item for item in found]


def _rescued(found: Found) -> Record:
    record = _record(decoded(found, _decoder), found.start, found.end)
    record.read = found.read
    return record


def _record(line: schema.Line, start: int, end: int) -> Record:
    if line.type == "progress":
        return Record(
            start, end, "progress", "", line.uuid or "", line.parent_uuid or "", line.timestamp or ""
        )
    record = Record(
        start,
        end,
        line.type,
        line.subtype or "",
        line.uuid or "",
        line.parent_uuid or "",
        line.timestamp or "",
        origin=(line.origin.kind or "") if line.origin is not None else "",
        sidechain=bool(line.is_sidechain),
        meta=bool(line.is_meta),
    )
    if line.message is not None:
        _read_message(record, line, line.message)
    elif line.subtype == "local_command" and line.content is not None:
        record.role, record.plain, record.blocks = "user", True, (_text(line.content),)
    if line.type != "assistant":
        record.detail = _detail(line, record.sidecar)
    return record


def _read_message(record: Record, line: schema.Line, message: schema.Message) -> None:
    record.role = message.role or line.type
    record.message = message.id or ""
    record.model = message.model or ""
    record.stop = message.stop_reason or ""
    record.summary = bool(line.is_compact_summary)
    record.failed = bool(line.is_api_error_message)
    record.virtual = bool(line.is_virtual)
    record.sidecar = _length(line.tool_use_result)
    record.returned = record.sidecar > _LONGEST_FALSY or (
        record.sidecar > 0 and bytes(line.tool_use_result) not in _FALSY
    )
    content = message.content
    if isinstance(content, str):
        record.plain, record.blocks = True, (_text(content),)
    elif content:
        record.blocks = tuple([_block(part) for part in content])
    used = message.usage
    if used is not None and line.type == "assistant":
        record.usage = Usage(
            used.input_tokens or 0,
            used.cache_creation_input_tokens or 0,
            used.cache_read_input_tokens or 0,
            used.output_tokens or 0,
        )


_FALSY = (b"null", b'""', b"false", b"0")
_LONGEST_FALSY = 5


def _length(raw: Raw) -> int:
    return memoryview(raw).nbytes


def _text(text: str) -> Block:
    if len(text) > _LONGEST_MARK:
        return Block("text", utf8_size(text), blank=text.isspace(), digest=hash(text))
    return Block(
        "text",
        utf8_size(text),
        blank=not text.strip(),
        empty=not text,
        placeholder=text.strip() == NO_CONTENT,
        interruption=text in INTERRUPTIONS,
    )


_LONGEST_MARK = 64


def _block(part: schema.Part) -> Block:
    match part.type:
        case "text":
            if not isinstance(part.text, str):
                return Block("text", valid=False, blank=True, empty=True)
            return _text(part.text)
        case "tool_use":
            return _call(part)
        case "tool_result":
            return _result(part)
        case "thinking":
            return Block("thinking", utf8_size(part.thinking or ""), signature=len(part.signature or ""))
        case "redacted_thinking":
            return Block("redacted_thinking", utf8_size(part.data or ""), signature=len(part.data or ""))
        case "image" | "document":
            digest = hash(bytes(part.source.data)) if part.source else 0
            return Block(part.type, images=1, media=_media(part), digest=digest)
        case _:
            return Block(part.type, _length(part.input), id=part.id or part.tool_use_id, name=part.name)


def _media(part: schema.Part) -> int:
    return _length(part.source.data) + _length(part.source.url) if part.source else 0


def _call(part: schema.Part) -> Block:
    try:
        fields = _input_decoder.decode(part.input) if _length(part.input) else schema.Input()
    except REFUSALS:
        fields = schema.Input()  # an input of a foreign shape names no file; the call still counts
    path = fields.file_path or fields.notebook_path
    command = (
        "" if path else fields.command or fields.url or fields.pattern or fields.path or fields.description
    )
    size = _length(part.input) + len(part.name)
    return Block(
        "tool_use",
        size,
        id=part.id,
        name=part.name,
        path=path,
        command=command[:LONGEST_COMMAND],
        partial=any(_length(raw) for raw in (fields.offset, fields.limit, fields.pages)),
        stays=bytes(fields.run_in_background) == b"true" or part.name in LAUNCHERS,
        digest=hash(bytes(part.input)),
    )


def _result(part: schema.Part) -> Block:
    """A result's facts from its bytes: decoding a text only to count it would cost half of all reading."""
    raw = bytes(part.content)
    if raw.startswith(b'"'):
        return Block(
            "tool_result",
            _text_size(raw),
            id=part.tool_use_id,
            error=bool(part.is_error),
            stays=_stays(raw),
            digest=hash(raw),
            reminder=_reminder(raw),
        )
    try:
        inner_parts = _parts_decoder.decode(raw) if raw.startswith(b"[") else []
    except REFUSALS:  # a list of a foreign shape: it is there, and what is in it nobody knows
        return Block(
            "tool_result", len(raw), id=part.tool_use_id, error=bool(part.is_error), digest=hash(raw)
        )
    size, images, media, nontext, stays = 0, 0, 0, False, False
    for inner in inner_parts:
        if inner.type == "text":
            said = inner.text if isinstance(inner.text, str) else ""
            size += utf8_size(said)
            stays = stays or said.startswith(STANDING)
            continue
        nontext = True
        images += inner.type in ("image", "document")
        media += _media(inner)
    return Block(
        "tool_result",
        size,
        id=part.tool_use_id,
        images=images,
        media=media,
        error=bool(part.is_error),
        nontext=nontext,
        stays=stays,
        digest=hash(raw),
    )


def _stays(raw: bytes) -> bool:
    return raw.startswith(_STANDING_RAW)


_STANDING_RAW = tuple(f'"{text}'.encode() for text in STANDING)


def _text_size(raw: bytes) -> int:
    """UTF-8 bytes of a text from its JSON; of a long one near enough: each backslash counted as one escape."""
    if len(raw) <= _EXACT_UP_TO and b"\\" in raw:
        try:
            return utf8_size(_text_decoder.decode(raw))
        except REFUSALS:
            return len(raw) - 2  # half a surrogate pair
    return len(raw) - 2 - raw.count(b"\\")


_EXACT_UP_TO = 4_096
"""Bytes up to which a text is decoded to be counted: counting long ones exactly cost a third of all reading."""


def _reminder(raw: bytes) -> int:
    """A digest of the system reminder that a result ends with, 0 for none."""
    if not raw.endswith(_REMINDER_ENDS):
        return 0
    return hash(raw[raw.rfind(REMINDER_BEGIN.encode()) :].removesuffix(b'"').removesuffix(b"\\n"))


_REMINDER_ENDS = ((REMINDER_END + '"').encode(), (REMINDER_END + '\\n"').encode())


def _detail(line: schema.Line, sidecar: int) -> Detail | None:
    match line.type:
        case "attachment":
            return _attached(line.attachment)
        case "system" if line.subtype == "compact_boundary":
            return _boundary(line.compact_metadata or schema.Compaction())
        case "system" if line.subtype == "model_refusal_fallback":
            return Retraction(tuple(line.retracted_message_uuids or ()))
        case "last-prompt":
            explicit = bool(line.explicit)
            return Pointer(
                line.leaf_uuid or None, explicit, explicit and not line.leaf_uuid, bool(line.rewound)
            )
        case "custom-title" | "ai-title" | "summary":
            return Naming(line.custom_title or line.ai_title or line.summary or "", line.leaf_uuid or "")
        case "file-history-snapshot":
            return Snapshot(line.message_id or "")
        case "content-replacement":
            return Replacements(tuple(item.call for item in line.replacements or ()))
        case "user" if sidecar:
            return _long_window(line.tool_use_result)
        case _:
            return None


def _attached(raw: Raw) -> Attached:
    try:
        payload = _attachment_decoder.decode(raw) if _length(raw) else {}
        kind, event, call = (str(payload.get(name) or "") for name in ("type", "hookEvent", "toolUseID"))
        said = texts(kind, payload)
    except REFUSALS:
        return Attached("", size=_length(raw))
    size = sum(utf8_size(text) for text in said) if said else _length(raw)
    bundle = any(MARKER in text for text in said)
    return Attached(kind, event, call, size, is_silent(kind, payload), hash(tuple(said)), bundle)


def _boundary(said: schema.Compaction) -> Boundary:
    listed, segment = said.messages, said.segment
    return Boundary(
        said.trigger or "",
        said.before,
        said.after,
        listed is not None,
        tuple(listed.uuids) if listed else (),
        segment.head if segment else "",
        segment.tail if segment else "",
        listed.anchor if listed else segment.anchor if segment else "",
    )


def _long_window(raw: Raw) -> Window | None:
    """An Agent result names the model it resolved to; `[1m]` there means the long window (facts §6).

    Such results begin with the agent's status and are small; a file that was read is not looked through.
    """
    if bytes(memoryview(raw)[:_AGENT_HEAD]).find(b'"status"') < 0 and _length(raw) > _RESULT_HEAD:
        return None
    text = bytes(memoryview(raw)[:_RESULT_HEAD])
    at = text.find(b'"resolvedModel":"')
    if at >= 0 and b'[1m]"' in text[at : at + 120]:
        return Window(_LONG_WINDOW, "resolvedModel of an Agent result")
    return None


_AGENT_HEAD = 64
_RESULT_HEAD = 4_096
