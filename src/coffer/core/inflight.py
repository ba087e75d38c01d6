"""What a Claude Code transcript shows of work in flight; the words are those of `core.markers`.

A word counts only where the client itself puts it: a spawn inside the result that is paired with a spawn tool, a
letter of a teammate in a record that no person sent. What a person types, or a page that was read, never counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from coffer.core.chain import live_branch
from coffer.core.dialect import SYNTHETIC
from coffer.core.evidence import Call, Conversation, moment
from coffer.core.left_out import branch_in_memory, left_out
from coffer.core.loads import object_in
from coffer.core.markers import key, rows
from coffer.core.open_calls import OpenCalls
from coffer.core.record import Block, Record
from coffer.core.transcript import Transcript

HUMAN = "human"
LONGEST_ANSWER = 1 << 16
"""Bytes of a result's line above which it is no answer of a spawn or schedule tool: those are small."""
TEXTS = 60
"""Records of the model, from the end, among which Stop's last message is looked for."""

UNNAMED = "an unnamed tool"
"""Of an answer whose call is not in the file: its shape may still say what it began."""

Line = Callable[[Record], bytes]


def conversation(transcript: Transcript, line: Line) -> Conversation:
    """The conversation of a transcript; line: the bytes of a record."""
    trouble = _trouble(transcript)
    missed = left_out(transcript)
    branch = live_branch(transcript) if missed is None else branch_in_memory(transcript, missed)
    return Conversation(
        trouble=trouble,
        open=OpenCalls(branch.records).calls(),
        calls=tuple(_calls(transcript.records, line)),
        letters=tuple(_letters(transcript.records, line)),
        texts=tuple(_texts(transcript.records, line)),
        spoke=_spoke(transcript.records),
        enqueued=_enqueued(transcript.records, line),
        left_out="" if missed is None else missed.why,
    )


def helper(transcript: Transcript, line: Line) -> Conversation:
    """The conversation of a subagent: its records are all beside the main chain, so the file's end is its leaf."""
    own = [record for record in transcript.records if record.uuid]
    return Conversation(
        trouble=_trouble(transcript),
        open=OpenCalls(own).calls(),
        calls=tuple(_calls(own, line)),
        spoke=_spoke(own),
    )


def _trouble(transcript: Transcript) -> str:
    last = transcript.records[-1].end if transcript.records else 0
    if transcript.unfinished:
        return f"its last {transcript.unfinished} bytes are no whole line"
    if any(oddity.start >= last for oddity in transcript.oddities):
        return "its last line is no record"
    return "" if transcript.records else "it holds no record"


def _calls(records: Iterable[Record], line: Line) -> list[Call]:
    """Calls of spawn and schedule tools, and calls of other tools that were answered as one of those."""
    words = rows("call")
    asked: dict[str, tuple[str, float | None]] = {}
    found: list[Call] = []
    for record in records:
        for block in record.blocks:
            if block.kind == "tool_use":
                asked[block.id] = (block.name, moment(record.time))
            elif block.kind == "tool_result":
                tool, _ = asked.pop(block.id, (UNNAMED, None))
                if tool in words or (record.returned and record.size <= LONGEST_ANSWER):
                    call = _answered(tool, block, record, line)
                    found += [call] if tool in words or call.shape else []
    return found + [Call(tool, each, time) for each, (tool, time) in asked.items() if tool in words]


def _answered(tool: str, block: Block, record: Record, line: Line) -> Call:
    said = said_in(line(record)).get("toolUseResult")
    state = "failed" if block.error else "done"
    if not isinstance(said, Mapping):
        return Call(tool, block.id, moment(record.time), state)
    status = said.get(key("result", "status"))
    was_set = said.get(key("result", "scheduledFor")) != 0
    text = status if isinstance(status, str) else ""
    shape = next((row.kind for word, row in rows("shape").items() if word in said), "")
    return Call(tool, block.id, moment(record.time), state, text, was_set, shape)


def _letters(records: Iterable[Record], line: Line) -> list[float | None]:
    (carrier,) = rows("carrier")
    found: list[float | None] = []
    for record in records:
        # a person's record says so; a result of a tool is no letter, whatever page it quotes
        if record.type != "user" or not record.plain or record.origin == HUMAN:
            continue
        content = (said_in(line(record)).get("message") or {}).get("content")
        if isinstance(content, str) and carrier in content:
            found.append(moment(record.time))
    return found


def _texts(records: list[Record], line: Line) -> list[str]:
    found: list[str] = []
    spoken = [record for record in records if record.type == "assistant"]
    for record in spoken[-TEXTS:]:
        if not any(block.kind == "text" for block in record.blocks):
            continue
        content = (said_in(line(record)).get("message") or {}).get("content")
        parts = [part.get("text") for part in content or () if isinstance(part, Mapping)]
        found += [text for text in parts if isinstance(text, str)]
    return found


def _spoke(records: Iterable[Record]) -> float | None:
    """When the model or a tool last wrote; errors and what the client makes up are neither."""
    last: float | None = None
    for record in records:
        real = record.type == "assistant" and not record.failed and record.model != SYNTHETIC
        if real or any(block.kind == "tool_result" for block in record.blocks):
            time = moment(record.time)
            last = time if last is None or (time is not None and time > last) else last
    return last


def _enqueued(records: Iterable[Record], line: Line) -> float | None:
    """When the last prompt was queued, if nothing was taken since; an unknown operation counts as queueing."""
    last: float | None = None
    for record in records:
        if record.type == "queue-operation":
            said = said_in(line(record))
            row = rows("queue").get(str(said.get("operation")))
            taken = row is not None and row.effect == "clears"
            last = None if taken else moment(said.get("timestamp"))
    return last


def said_in(line: bytes) -> Mapping[str, Any]:
    """What a line says; nothing where it is no JSON object."""
    return object_in(line) or {}
