"""The exact content of a view's item, read from the line that holds it."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct

from coffer.core.dialect import ALIASES, MISSING_RESULT
from coffer.core.items import Edit, Item
from coffer.core.regex import regex
from coffer.core.shallow import shallow, shown

_PLAN_KEYS = ("plan", "planFilePath")
_SINGLE_EDIT_KEYS = ("old_string", "new_string", "replace_all")
_BOOKKEEPING = ("cache_control", "caller", "citations")
"""Keys of a block that the client sets or drops by itself."""


def content(item: Item, line: bytes) -> dict[str, Any]:
    """The block as the request holds it; line: the bytes of the item's record, empty for the client's words.

    Half a surrogate pair is sent as U+FFFD, bytes that are no UTF-8 too (2.1.197).
    """
    if item.record is None:
        return _own_words(item)
    block = _block(line, item.index)
    for key in _BOOKKEEPING:
        block.pop(key, None)
    given, inner = block.get("input"), block.get("content")
    match item.edit:
        case Edit.WITHOUT_PLAN if isinstance(given, dict):
            block["input"] = _without(given, _PLAN_KEYS)
        case Edit.MULTI_EDIT if isinstance(given, dict) and "edits" in given:
            block["input"] = _without(given, _SINGLE_EDIT_KEYS)
        case Edit.RENAMED:
            block["name"] = ALIASES[block["name"]]
        case Edit.TEXT_ONLY if isinstance(inner, list):
            texts = [part["text"] for part in inner if _is_text(part)]
            block["content"] = [{"type": "text", "text": "\n\n".join(texts)}] if texts else []
        case _:
            pass
    repaired = _whole_characters(block)
    assert isinstance(repaired, dict)
    return repaired


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)


def _own_words(item: Item) -> dict[str, Any]:
    if item.kind == "tool_result":
        return {
            "type": "tool_result",
            "tool_use_id": item.text,
            "content": MISSING_RESULT,
            "is_error": True,
        }
    return {"type": "text", "text": item.text}


class _Message(Struct, gc=False):
    content: Raw = Raw(b"")


class _Line(Struct, gc=False):
    type: str = ""
    content: Raw = Raw(b"")
    message: _Message | None = None


_line_decoder = msgspec.json.Decoder(_Line)
_list_decoder = msgspec.json.Decoder(list[Raw])


def _block(line: bytes, index: int) -> dict[str, Any]:
    """The block alone: what stands beside it, a result once more above all, is not parsed."""
    try:
        raw = raw_block(line, index)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, IndexError):
        return _block_of_odd_line(line, index)
    value = _parsed(raw)
    return dict(value) if isinstance(value, dict) else {"type": "text", "text": str(value)}


def _parsed(raw: bytes) -> Any:
    try:
        return shallow(msgspec.json.decode(raw))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return shown(raw)


def raw_block(line: bytes, index: int) -> bytes:
    """The bytes of one block, or of the whole content where it is one string.

    Raises what msgspec raises for a line that it refuses, IndexError for a block that is not there.
    """
    said = _line_decoder.decode(line)
    raw = bytes(said.content if said.type == "system" or said.message is None else said.message.content)
    return bytes(_list_decoder.decode(raw)[index]) if raw.startswith(b"[") else raw


def _block_of_odd_line(line: bytes, index: int) -> dict[str, Any]:
    record = shown(line)
    if not isinstance(record, dict):
        return {"type": "text", "text": str(record)}
    message = record if record.get("type") == "system" else record.get("message")
    said = message.get("content") if isinstance(message, dict) else message
    return dict(shallow(said[index])) if isinstance(said, list) else {"type": "text", "text": str(said)}


def _without(fields: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in keys}


def _whole_characters(value: Any) -> Any:
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole_characters(inner) for inner in value]
    if isinstance(value, dict):
        return {_whole_characters(key): _whole_characters(inner) for key, inner in value.items()}
    return value


def payload(line: bytes) -> dict[str, Any]:
    """The payload of an attachment record, as written."""
    record = shown(line)
    attachment = record.get("attachment") if isinstance(record, dict) else None
    return attachment if isinstance(attachment, dict) else {}


def own_text(block: dict[str, Any]) -> str:
    """The text of a block without tags such as <command-name>: what a title can be made of."""
    text = block.get("text")
    return _TAGGED.sub(" ", text).strip() if isinstance(text, str) else ""


_TAGGED = regex(r"<([a-z][a-z-]*)\b[^>]*>.*?</\1>", re.DOTALL)
