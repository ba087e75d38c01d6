"""Codex's dialect: a line of a rollout file → Record (facts/codex.md §3; measured on 0.140 to 0.171).

A rollout is linear: no parents, no branches. What the model is sent are its `response_item`s; a `compacted`
record replaces all of them before it by its `replacement_history`, whose items become records of their own
here (type `replacement`, all with the span of their line).
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from coffer.agents.raw_text import REFUSALS
from coffer.core.json_lines import Found, Oddity, decoded, objects
from coffer.core.record import ALWAYS, LONGEST_COMMAND, NEVER, Block, Boundary, Record, Usage, Window
from coffer.core.text import utf8_size

REPLACEMENT = "replacement"
"""Type of the records that stand for a compaction's history."""

_CONTEXT_STARTS = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
)
"""How texts begin that stand as the user's words and are Codex's own (before content_item_kinds existed)."""
_USER_KIND = "user.text"


class _Part(Struct, gc=False):
    type: str = ""
    text: str | None = None
    image_url: Raw = Raw(b"")


class _Passthrough(Struct, gc=False):
    content_item_kinds: list[Any] | None = None


class _Payload(Struct, gc=False):
    type: str | None = None
    id: str | None = None
    role: str | None = None
    content: str | list[_Part] | None = None
    summary: list[_Part] | None = None
    encrypted_content: str | None = None
    name: str | None = None
    namespace: str | None = None
    arguments: Raw = Raw(b"")
    input: str | None = None
    action: Raw = Raw(b"")
    call_id: str | None = None
    output: Raw = Raw(b"")
    tools: Raw = Raw(b"")
    info: Raw = Raw(b"")
    model: str | None = None
    message: Raw = Raw(b"")
    replacement_history: list[Raw] | None = None
    replacement_history_metadata: list[Raw] | None = None
    internal_chat_message_metadata_passthrough: _Passthrough | None = None


class _Line(Struct, gc=False):
    type: str
    timestamp: str | None = None
    payload: _Payload | None = None


class _Tokens(Struct, gc=False):
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0


class _Info(Struct, gc=False):
    last_token_usage: _Tokens | None = None
    model_context_window: int | None = None


class _Arguments(Struct, gc=False):
    path: str = ""
    file_path: str = ""
    cmd: str | list[str] = ""
    command: str | list[str] = ""


_decoder = msgspec.json.Decoder(_Line)
_payload_decoder = msgspec.json.Decoder(_Payload)
_info_decoder = msgspec.json.Decoder(_Info)
_arguments_decoder = msgspec.json.Decoder(_Arguments)
_text_decoder = msgspec.json.Decoder(str)
_parts_decoder = msgspec.json.Decoder(list[_Part])


def translate(line: bytes, start: int) -> list[Record | Oddity]:
    """Records and oddities of one line, with or without its newline; start is its offset in bytes."""
    try:
        parsed = _decoder.decode(line)
    except REFUSALS:
        return [item for found in objects(line.removesuffix(b"\n"), start) for item in _rescued(found)]
    return list(_records(parsed, start, start + len(line) - line.endswith(b"\n")))


def _rescued(found: Found | Oddity) -> list[Record | Oddity]:
    if isinstance(found, Oddity):
        return [found]
    records = _records(decoded(found, _decoder), found.start, found.end)
    for record in records:
        record.read = ALWAYS if found.whole and found.read == ALWAYS else NEVER
    return list(records)


def _records(line: _Line, start: int, end: int) -> list[Record]:
    payload = line.payload or _Payload()
    record = Record(start, end, line.type, payload.type or "", payload.id or "", time=line.timestamp or "")
    match line.type:
        case "response_item":
            _read_item(record, payload)
        case "event_msg" if payload.type == "token_count" and _length(payload.info):
            _read_count(record, payload.info)
        case "turn_context":
            record.model = payload.model or ""
        case "compacted":
            return _compaction(record, payload)
        case _:
            pass
    return [record]


def _compaction(record: Record, payload: _Payload) -> list[Record]:
    """A compaction counts only with a history, as long as its metadata where there is any (measured)."""
    history, metadata = payload.replacement_history, payload.replacement_history_metadata
    if not history or (metadata is not None and len(metadata) != len(history)):
        return [record]
    record.detail = Boundary(listed=True)
    return [record, *_history(record, history)]


def _history(compacted: Record, items: list[Raw]) -> list[Record]:
    records = []
    for index, raw in enumerate(items):
        try:
            payload = _payload_decoder.decode(raw)
        except REFUSALS:
            payload = _Payload(type="unreadable")
        record = Record(compacted.start, compacted.end, REPLACEMENT, payload.type or "", payload.id or "")
        record.time, record.nested = compacted.time, index
        _read_item(record, payload)
        records.append(record)
    return records


def _read_count(record: Record, raw: Raw) -> None:
    try:
        info = _info_decoder.decode(raw)
    except REFUSALS:
        return  # a count of a foreign shape counts nothing
    used = info.last_token_usage
    if used is not None:
        cached = min(used.cached_input_tokens, used.input_tokens)
        record.usage = Usage(used.input_tokens - cached, 0, cached, used.output_tokens, used.total_tokens)
    if info.model_context_window:
        record.detail = Window(info.model_context_window, "model_context_window of the last count")


def _read_item(record: Record, payload: _Payload) -> None:
    match payload.type:
        case "message":
            record.role = payload.role or "user"
            record.blocks = tuple(_parts(payload.content))
            record.meta = record.role != "assistant" and not _is_persons(record, payload)
        case "reasoning":
            record.role = "assistant"
            size = sum(utf8_size(part.text or "") for part in payload.summary or ())
            record.blocks = (Block("thinking", size, signature=len(payload.encrypted_content or "")),)
        case (
            "function_call" | "custom_tool_call" | "tool_search_call" | "web_search_call" | "local_shell_call"
        ):
            record.role, record.blocks = "assistant", (_call(payload),)
        case "function_call_output" | "custom_tool_call_output" | "tool_search_output":
            record.role, record.returned, record.blocks = "user", True, (_output(payload),)
        case _:
            record.role = payload.role or "assistant"
            record.blocks = (Block(payload.type or "unknown", record.size if record.nested < 0 else 0),)


def _parts(content: str | list[_Part] | None) -> list[Block]:
    if isinstance(content, str):
        return [_text(content)]
    return [
        Block("image", images=1, media=_length(part.image_url))
        if part.type == "input_image"
        else _text(part.text or "")
        for part in content or ()
    ]


def _text(text: str) -> Block:
    return Block("text", utf8_size(text), blank=not text.strip(), empty=not text)


def _is_persons(record: Record, payload: _Payload) -> bool:
    if record.role != "user":
        return False
    said = payload.internal_chat_message_metadata_passthrough
    kinds = said.content_item_kinds if said is not None else None
    if kinds:
        return any(_kind(kind) == _USER_KIND for kind in kinds)
    content = payload.content
    text = content if isinstance(content, str) else content[0].text if content else ""
    return not (text or "").lstrip().startswith(_CONTEXT_STARTS)


def _kind(said: Any) -> str:
    return said.get("kind", "") if isinstance(said, dict) else said if isinstance(said, str) else ""


def _call(payload: _Payload) -> Block:
    name = payload.name or (payload.type or "").removesuffix("_call")
    if payload.namespace:
        name = f"{payload.namespace}__{name}"
    raw = payload.arguments or payload.action
    path, command, size = "", "", _length(raw)
    text = payload.input
    if text is None and size:
        text = _string(payload.arguments)
    if text is not None:
        size = utf8_size(text)
        path, command = _target(text)
    size, call = size + len(name), payload.call_id or payload.id or ""
    return Block("tool_use", size, id=call, name=name, path=path, command=command[:LONGEST_COMMAND])


def _target(arguments: str) -> tuple[str, str]:
    """The file and the command that a call names, "" each where it names none."""
    try:
        said = _arguments_decoder.decode(arguments)
    except REFUSALS:
        return _patched(arguments), ""
    command = said.cmd or said.command
    return said.path or said.file_path, command if isinstance(command, str) else " ".join(command)


_PATCH_MARKS = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")


def _patched(patch: str) -> str:
    """The first file that a patch names."""
    for line in patch[:4_096].splitlines():
        for mark in _PATCH_MARKS:
            if line.startswith(mark):
                return line.removeprefix(mark)
    return ""


def _output(payload: _Payload) -> Block:
    size, images, media = _length(payload.output) or _length(payload.tools), 0, 0
    text = _string(payload.output)
    if text is not None:
        size = utf8_size(text)
    elif bytes(memoryview(payload.output)[:1]) == b"[":
        blocks = _parts(_part_list(payload.output))
        size = sum(block.size for block in blocks)
        images, media = sum(block.images for block in blocks), sum(block.media for block in blocks)
    return Block("tool_result", size, id=payload.call_id or "", images=images, media=media)


def _string(raw: Raw) -> str | None:
    if bytes(memoryview(raw)[:1]) != b'"':
        return None
    try:
        return _text_decoder.decode(raw)
    except REFUSALS:
        return None  # half a surrogate pair: its bytes are counted instead


def _part_list(raw: Raw) -> list[_Part]:
    try:
        return _parts_decoder.decode(raw)
    except REFUSALS:
        return []


def _length(raw: Raw) -> int:
    return memoryview(raw).nbytes
