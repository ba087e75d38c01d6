"""Carry out a plan on bytes: each line is carried, dropped, or changed where an action says so.

Lines that nothing happens to are not parsed and not re-serialised. In a line whose parent was dropped exactly
those bytes are replaced that name the parent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Raw

from coffer.core.dialect import REMINDER_BEGIN
from coffer.core.json_lines import elements, fields
from coffer.core.plan import Action, Cut, Plan, Silence, Strip, Stub, Trim
from coffer.core.record import Record
from coffer.core.stub import stub_line
from coffer.core.transcript import CHAINED, Transcript

ID_LENGTH = 10
"""Hexadecimal digits of a restore id."""
_LONG_INPUT = 200
"""Characters above which a string of a call's input is replaced."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Content that a prune takes out: its sha256, its bytes (JSON of a block's content), where it was."""

    id: str
    content: bytes
    uuid: str
    index: int
    note: str


@dataclass(slots=True)
class Rewrite:
    """How to write a planned transcript: `line(record, bytes)` gives the new bytes, or None for a drop.

    removed: uuid of each dropped record → its nearest surviving ancestor ("" for none). pieces: what was
    taken out, in order, filled while lines are written.
    """

    drops: set[int]
    edits: dict[int, list[Action]]
    parents: dict[int, str]
    removed: dict[str, str]
    pieces: list[Piece] = field(default_factory=list)

    def touches(self, record: Record) -> bool:
        """Whether the record's line is not carried as it is."""
        return record.start in self.drops or record.start in self.edits or record.start in self.parents

    def line(self, record: Record, line: bytes) -> bytes | None:
        """The new bytes of a touched record's line."""
        if record.start in self.drops:
            return None
        if record.start in self.edits:
            line = self._edited(record, line)
        if record.start in self.parents:
            line = _with_parent(line, record.parent, self.parents[record.start])
        return line

    def _edited(self, record: Record, line: bytes) -> bytes:
        """The line with its edits. Only what is replaced is parsed; all else keeps its bytes."""
        said = _fields(line)
        if any(isinstance(action, Silence) for action in self.edits[record.start]):
            return _object(
                said | {"attachment": Raw(_object(_fields(said["attachment"]) | {"content": Raw(b"[]")}))}
            )
        edits = [action for action in self.edits[record.start] if not isinstance(action, Trim)]
        if len(edits) < len(self.edits[record.start]):
            said.pop("toolUseResult", None)
        if edits:
            message = _fields(said["message"])
            message["content"] = self._content(message["content"], edits)
            said["message"] = Raw(_object(message))
        return _object(said)

    def _content(self, raw: Raw, edits: Sequence[Action]) -> Raw:
        if bytes(memoryview(raw)[:1]) != b"[":
            return self._changed(raw, edits[0])
        blocks = _elements(raw)
        cuts = {action.index for action in edits if isinstance(action, Cut)}
        for action in edits:
            if isinstance(action, Stub | Strip):
                block = _fields(blocks[action.index])
                name = _CHANGED_FIELDS[_string_decoder.decode(block["type"])]
                block[name] = self._changed(block.get(name, Raw(b"null")), action)
                blocks[action.index] = Raw(_object(block))
        kept = [bytes(block) for index, block in enumerate(blocks) if index not in cuts]
        return Raw(b"[" + b",".join(kept) + b"]")

    def _changed(self, raw: Raw, action: Action) -> Raw:
        data = bytes(raw)
        try:
            value = _parsed(data)
        except (ValueError, RecursionError):
            value = None  # nested too deeply: it can go as a whole, but not in part
            if data.startswith(b"{"):
                return raw
        if isinstance(action, Strip):
            return Raw(encode(_stripped(value)))
        assert isinstance(action, Stub)
        piece = Piece(hashlib.sha256(data).hexdigest(), data, action.record.uuid, action.index, action.note)
        self.pieces.append(piece)
        return Raw(encode(_stubbed(value, len(data), action, piece.id)))


_fields_decoder = msgspec.json.Decoder(dict[str, Raw])
_list_decoder = msgspec.json.Decoder(list[Raw])
_string_decoder = msgspec.json.Decoder(str)
_CHANGED_FIELDS = {"tool_result": "content", "tool_use": "input", "text": "text"}


def _fields(raw: Raw | bytes) -> dict[str, Raw]:
    """The fields of an object, each as the bytes that stand there."""
    try:
        return _fields_decoder.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {name: Raw(value) for name, value in fields(bytes(raw))}


def _elements(raw: Raw | bytes) -> list[Raw]:
    """The elements of a list, each as the bytes that stand there."""
    try:
        return _list_decoder.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return [Raw(value) for value in elements(bytes(raw))]


def _object(said: dict[str, Raw]) -> bytes:
    try:
        return msgspec.json.encode(said)
    except UnicodeEncodeError:  # half a surrogate pair in a name
        return b"{" + b",".join([encode(name) + b":" + bytes(value) for name, value in said.items()]) + b"}"


def rewrite(transcript: Transcript, plan: Plan) -> Rewrite:
    """The rewrite that carries out a plan."""
    drops = plan.dropped()
    parents: dict[str, str] = {}
    dropped: set[str] = set()
    for record in transcript.records:
        if record.uuid:
            parents[record.uuid] = record.parent
            if record.start in drops:
                dropped.add(record.uuid)
    kept_twice = {r.uuid for r in transcript.records if r.uuid and r.start not in drops}
    dropped -= kept_twice  # another record carries the same uuid and stays: its children still find it
    removed = {uuid: _ancestor(uuid, parents, dropped) for uuid in dropped}
    relinked = {
        record.start: removed[record.parent]
        for record in transcript.records
        if record.parent in removed and record.start not in drops and record.type in (*CHAINED, "progress")
    }
    if plan.tail is not None and plan.tail.before >= 0:
        relinked[plan.tail.before] = plan.tail.uuid
    return Rewrite(drops, plan.edits(), relinked, removed)


def _ancestor(uuid: str, parents: dict[str, str], dropped: set[str]) -> str:
    seen = {uuid}
    current = parents.get(uuid, "")
    while current in dropped and current not in seen:
        seen.add(current)
        current = parents.get(current, "")
    return "" if current in dropped else current


def _with_parent(line: bytes, old: str, new: str) -> bytes:
    """The line with another parent; its other bytes stay where the parent is written in the usual way."""
    written = b'"parentUuid":' + json.dumps(new or None).encode()
    usual = b'"parentUuid":"' + old.encode() + b'"'
    if line.startswith(b"{" + usual):
        return line.replace(usual, written, 1)
    said = _fields(line)
    if line.count(usual) == 1 and not any(usual in bytes(value) for value in said.values()):
        return line.replace(usual, written)
    said["parentUuid"] = Raw(encode(new or None))
    return _object(said)


def _parsed(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return json.loads(data.decode("utf-8", "surrogateescape"))


def _stripped(content: Any) -> Any:
    if not isinstance(content, str) or REMINDER_BEGIN not in content:
        return content
    return content[: content.rfind(REMINDER_BEGIN)].rstrip("\n") or "(reminder)"


def _stubbed(content: Any, size: int, stub: Stub, digest: str) -> Any:
    line = stub_line(stub.note, size, digest[:ID_LENGTH])
    if isinstance(content, dict):
        return {
            name: value if name in _PATHS else _shortened(value, line, _DEEPEST)
            for name, value in content.items()
        }
    head, tail = stub.keep
    text = content if isinstance(content, str) else _joined(content)
    if len(text) <= head + tail:  # few characters of many bytes
        head, tail = (
            len(text) * head // (2 * (head + tail) or 1),
            len(text) * tail // (2 * (head + tail) or 1),
        )
    if head == 0 or tail == 0:
        return line
    head, tail = _fitting(text[:head], head), _fitting(text[-tail:][::-1], tail)
    return f"{text[:head]}\n{line}\n{text[-tail:]}"


_PATHS = frozenset({"file_path", "notebook_path", "path"})
"""What a call is about stays."""
_DEEPEST = 4
_WIDEST = 3
"""Bytes of UTF-8 that a character that stays may take on average; else what was shortened is large again."""


def _shortened(value: Any, line: str, depth: int) -> Any:
    """The value with the line in place of each long text, also in the edits of a MultiEdit."""
    if isinstance(value, str):
        return line if len(value) > _LONG_INPUT else value
    if isinstance(value, list) and depth:
        return [_shortened(inner, line, depth - 1) for inner in value]
    if isinstance(value, dict) and depth:
        return {name: _shortened(inner, line, depth - 1) for name, inner in value.items()}
    return value


def _fitting(text: str, most: int) -> int:
    """How many characters of the text's beginning take at most `_WIDEST * most` bytes."""
    length = len(text)
    while len(text[:length].encode("utf-8", "surrogatepass")) > _WIDEST * most:
        length -= max(1, length // 16)
    return length


def _joined(content: Any) -> str:
    parts: Sequence[Any] = content if isinstance(content, list) else []
    return "\n".join(
        part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)
    )


def encode(value: Any) -> bytes:
    """JSON as the client writes it; half a surrogate pair stays escaped, bytes that are no UTF-8 as they were."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")
