"""From a view to the parts that a person wants to see counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coffer.core.composition import Mark, Part
from coffer.core.items import Context, Item
from coffer.core.record import Block, Record

LABELS = (
    "your words",
    "answers",
    "thinking",
    "tool calls",
    "tool results",
    "images",
    "attachments",
    "summary",
    "client notes",
)
"""The groups of the picture, in the order in which they are drawn."""
BASE = "system prompt and tools"
"""What no part explains: it stands in no transcript."""


def parts_of(items: Iterable[Item | Context]) -> list[Part]:
    """One part an item, in order. A turn begins with a person's words."""
    parts: list[Part] = []
    calls: dict[str, Block] = {}
    turn = 0
    for item in items:
        if isinstance(item, Context):
            attached = item.attached
            part = Part(
                "attachments", "context", attached.size, note=attached.kind, turn=turn, record=item.record
            )
            parts.append(part)
            continue
        if item.kind == "tool_use":
            calls[item.block.id] = item.block
        if is_persons_words(item):
            turn += 1
        parts.append(_part(item, calls, turn))
    return parts


def _part(item: Item, calls: dict[str, Block], turn: int) -> Part:
    block, record = item.block, item.record
    call = calls.get(block.id) if item.kind in ("tool_use", "tool_result") else None
    return Part(
        _label(item),
        item.kind,
        block.size,
        images=block.images,
        tool=call.name if call else "",
        path=call.path if call else "",
        command=call.command if call else "",
        turn=turn,
        answer=_answer(item),
        record=record,
        index=item.index,
    )


def _answer(item: Item) -> str:
    if item.role != "assistant" or item.record is None:
        return ""
    return item.record.message or item.record.uuid


def is_persons_words(item: Item | Context) -> bool:
    """Text or image that stands as the user's own, neither the client's note nor a compaction's summary."""
    if isinstance(item, Context) or item.record is None or item.role != "user":
        return False
    return (
        item.kind in ("text", "image", "document")
        and is_persons_record(item.record)
        and not item.block.interruption
    )


def is_persons_record(record: Record) -> bool:
    """Whether a record of the user's side is a person's own: no result, no note of the client's, no summary."""
    speaks = record.type != "system" and record.origin in ("", "human")
    return speaks and not (record.meta or record.summary or record.returned)


def _label(item: Item) -> str:
    match item.kind:
        case "tool_use":
            return "tool calls"
        case "tool_result":
            return "tool results"
        case "thinking" | "redacted_thinking":
            return "thinking"
        case "image" | "document":
            return "images"
        case _ if item.role == "assistant":
            return "answers"
        case _ if item.record is not None and item.record.summary:
            return "summary"
        case _ if is_persons_words(item):
            return "your words"
        case _:
            return "client notes"


def marks_of(parts: Sequence[Part], answered: Iterable[Record]) -> list[Mark]:
    """Where each counted answer begins among the parts."""
    begins: dict[str, int] = {}
    for index, part in enumerate(parts):
        if part.answer:
            begins.setdefault(part.answer, index)
    marks = []
    for record in answered:
        begin = begins.get(record.message or record.uuid)
        if begin is not None and record.usage is not None:
            marks.append(Mark(begin, record.usage.prompt, record.usage.output))
    return sorted(marks, key=lambda mark: mark.parts)
