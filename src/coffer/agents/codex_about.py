"""What the first and last lines of a Codex rollout say of its thread, and the content of its items."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from msgspec import Raw, Struct

from coffer.core.items import Item
from coffer.core.rollout import ABORTED
from coffer.core.transcript import About


class _Base(Struct, gc=False):
    thread_id: str = ""
    end_byte_offset: int = 0


class _Git(Struct, gc=False):
    branch: str | None = None


class _Meta(Struct, gc=False):
    id: str | None = None
    cwd: str | None = None
    cli_version: str | None = None
    timestamp: str | None = None
    model: str | None = None
    git: _Git | None = None
    forked_from_id: str | None = None
    history_base: _Base | None = None
    source: Raw = Raw(b"")


class _Line(Struct, gc=False):
    type: str = ""
    payload: _Meta | None = None


_decoder = msgspec.json.Decoder(_Line)


def about(head: bytes, tail: bytes) -> About:
    """The thread's id, folder, version, branch and model; a fork's parent and how much of it is inherited."""
    found = About()
    for line in (*head.split(b"\n"), *tail.split(b"\n")):
        said = _decoded(line)
        if said is None or said.payload is None:
            continue
        meta = said.payload
        if said.type == "session_meta" and not found.session:
            _read_meta(found, meta)
        elif said.type == "turn_context":
            found.cwd = meta.cwd or found.cwd
            found.model = meta.model or found.model
    return found


def _read_meta(found: About, meta: _Meta) -> None:
    found.session, found.cwd = meta.id or "", meta.cwd or ""
    found.version, found.started = meta.cli_version or "", meta.timestamp or ""
    found.branch = (meta.git.branch or "") if meta.git else ""
    if meta.history_base is not None:
        found.parent, found.inherited = meta.history_base.thread_id, meta.history_base.end_byte_offset
    else:
        found.parent = meta.forked_from_id or ""
    found.subagent = b"subagent" in bytes(meta.source)


def _decoded(line: bytes) -> _Line | None:
    try:
        return _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None  # a cut or odd line says nothing here; reading the records reports it


_TYPES = ("session_meta", "response_item", "turn_context", "event_msg", "world_state", "compacted")


def is_rollout(head: bytes) -> bool:
    """Whether any of the first lines is a record of Codex."""
    return any(
        said is not None and said.type in _TYPES and said.payload is not None
        for said in map(_decoded, head.split(b"\n"))
    )


def content(item: Item, line: bytes) -> dict[str, Any]:
    """The item, or the part of it, as the request holds it."""
    if item.record is None:
        return {"type": "function_call_output", "call_id": item.text, "output": ABORTED}
    payload = json.loads(line.decode("utf-8", "replace"))["payload"]
    if item.record.nested >= 0:
        payload = payload["replacement_history"][item.record.nested]
    said = payload.get("content")
    if payload.get("type") == "message" and isinstance(said, list):
        return dict(said[item.index])
    return {
        key: value for key, value in payload.items() if key != "internal_chat_message_metadata_passthrough"
    }
