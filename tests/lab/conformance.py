"""The view against the real client: what Coffer says a resume sends, and what the client sent.

`differences(path, request)` reads the transcript as Coffer does and compares its view with the body of the
first request after `--resume`. Everything that the client adds or words by itself stands in the tables below,
each with its reason; a block on neither side of them is a difference.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coffer.core.attachments import WORDED, is_known, strings, texts
from coffer.core.content import payload
from coffer.core.items import Context, Item
from coffer.work.sessions.read import Opened, opened

Json = dict[str, Any]

PROBE = "PROBE-Q: what do you see?"
"""The prompt of the resumed run."""


@dataclass(frozen=True, slots=True)
class Added:
    """A block that the client adds to a request by itself."""

    name: str
    reason: str
    applies: Callable[[str, Json], bool]


@dataclass(frozen=True, slots=True)
class Worded:
    """A block that stands in the transcript and is sent in other words."""

    name: str
    reason: str
    settle: Callable[[Json, Json], tuple[Json, Json]]


def _text_of(block: Json) -> str:
    text = block.get("text") if block.get("type") == "text" else None
    return text if isinstance(text, str) else ""


def _starts(*beginnings: str) -> Callable[[str, Json], bool]:
    return lambda role, block: role == "user" and _text_of(block).startswith(beginnings)


_LOST_WORK = (
    "No completion record was found for background",
    "was running when the previous Claude Code process exited and did not complete",
)

ADDED = (
    Added(
        "memory reminder",
        "CLAUDE.md, MEMORY.md and the date stand in the first user message and in no transcript",
        _starts("<system-reminder>\nAs you answer the user's questions, you can use the following context:"),
    ),
    Added("probe", "the prompt of this very run", _starts(PROBE)),
    Added(
        "lost background work",
        "at a resume the client looks for background work without an end and reports it (facts §11)",
        lambda role, block: (
            role == "user"
            and _text_of(block).startswith("<task-notification>")
            and any(said in _text_of(block) for said in _LOST_WORK)
        ),
    ),
    Added(
        "tool loaded",
        "added behind results that hold tool references",
        lambda role, block: role == "user" and _text_of(block) == "Tool loaded.",
    ),
)
"""Blocks without a counterpart in the transcript."""


def _joined(mine: Json, sent: Json) -> tuple[Json, Json]:
    if _text_of(sent) == _text_of(mine) + "\n":
        return mine, mine
    return mine, sent


def _no_references(mine: Json, sent: Json) -> tuple[Json, Json]:
    inner = mine.get("content")
    if not isinstance(inner, list) or not any(part.get("type") == "tool_reference" for part in inner):
        return mine, sent
    kept = [part for part in inner if part.get("type") != "tool_reference"]
    note = [{"type": "text", "text": "[Tool references removed - tool search not enabled]"}]
    return {**mine, "content": kept or note}, sent


def _plan(mine: Json, sent: Json) -> tuple[Json, Json]:
    if sent.get("name") != "ExitPlanMode" or not isinstance(sent.get("input"), dict):
        return mine, sent
    trimmed = {key: value for key, value in sent["input"].items() if key not in ("plan", "planFilePath")}
    return mine, {**sent, "input": trimmed}


WORDED_BLOCKS = (
    Worded("joint", "texts of merged user messages are joined by a newline", _joined),
    Worded(
        "tool references",
        "tool search is off for a model server that is not Anthropic's; with it on they are sent as they are",
        _no_references,
    ),
    Worded(
        "plan",
        "ExitPlanMode is offered interactively only; where it is, plan and planFilePath are removed",
        _plan,
    ),
)
"""Blocks that differ for a reason of the client's."""


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of the request: gap counts the answers before it."""

    role: str
    block: Json
    gap: int


@dataclass(slots=True)
class _Sent:
    """A request taken apart: user and assistant blocks in order, and the texts between answers."""

    blocks: list[_Block] = field(default_factory=list)
    gaps: list[list[str]] = field(default_factory=lambda: [[]])


def differences(path: Path, body: Json) -> list[str]:
    """What differs between Coffer's view of the transcript and the request; nothing: they conform."""
    with opened(path) as session:
        view = session.agent.view(session.transcript, str(body["model"]))
        sent = _take_apart(body)
        mine: list[_Block] = []
        attached: dict[int, list[str]] = {}
        found: list[str] = []
        gap, speaking = 0, False
        for item in view.items:
            if isinstance(item, Item):
                answers = item.role == "assistant"
                gap += answers and not speaking
                speaking = answers
                content = session.agent.content(item, session.line(item.record))
                mine.append(_Block(item.role, content, gap))
            else:
                speaking = False
                said = _texts(session, item)
                attached.setdefault(gap, []).extend(said)
                found += _missing_texts(item, said, sent.gaps[gap] if gap < len(sent.gaps) else [])
    return _compare(mine, sent.blocks, attached) + found


def _take_apart(body: Json) -> _Sent:
    sent = _Sent()
    speaking = False
    for message in body["messages"]:
        role, said = message["role"], message["content"]
        if role == "assistant" and not speaking:
            sent.gaps.append([])
        speaking = role == "assistant"
        for block in [{"type": "text", "text": said}] if isinstance(said, str) else said:
            bare = {key: value for key, value in block.items() if key not in ("cache_control", "citations")}
            if role in ("user", "system"):
                sent.gaps[-1] += strings(bare)
            if role != "system":
                sent.blocks.append(_Block(role, bare, len(sent.gaps) - 1))
    return sent


def _compare(mine: list[_Block], sent: list[_Block], attached: dict[int, list[str]]) -> list[str]:
    expected = iter(mine)
    awaited = next(expected, None)
    for index, block in enumerate(sent):
        if awaited is not None and _equal(awaited, block):
            awaited = next(expected, None)
        elif not _is_added(block) and not _is_attachment(block, attached):
            says = _short(awaited) if awaited else "nothing more"
            return [f"block {index}: Coffer says {says}, sent was {_short(block)}"]
    if awaited is not None:
        return [f"Coffer says {_short(awaited)}, which was not sent"]
    return []


def _is_added(block: _Block) -> bool:
    """Whether the client added it: an earlier one, which the transcript has, is compared like any other."""
    return any(row.applies(block.role, block.block) for row in ADDED)


def _equal(mine: _Block, sent: _Block) -> bool:
    settled, sent_settled = mine.block, sent.block
    for row in WORDED_BLOCKS:
        settled, sent_settled = row.settle(settled, sent_settled)
    return (mine.role, settled) == (sent.role, sent_settled)


def _is_attachment(block: _Block, attached: dict[int, list[str]]) -> bool:
    """Whether the block is an attachment in the client's words, sent as the user's.

    So it is where no user message stands before it. It holds the text of an attachment of its place, or it is
    a reminder of a type whose text is the client's alone.
    """
    text = _text_of(block.block)
    if block.role != "user" or not text:
        return False
    return any(said in text for said in attached.get(block.gap, [])) or (
        block.gap in attached and _REMINDER.fullmatch(text) is not None
    )


_REMINDER = re.compile(r"<system-reminder>\n.*</system-reminder>\n*", re.DOTALL)


def _short(block: _Block) -> str:
    return f"{block.role}: {json.dumps(block.block, ensure_ascii=True)[:300]}"


def _texts(session: Opened, context: Context) -> list[str]:
    return texts(context.attached.kind, payload(session.line(context.record)))


def _missing_texts(context: Context, said: list[str], gap: list[str]) -> list[str]:
    kind = context.attached.kind
    if not is_known(kind):
        return [f"attachment of unknown type {kind}"]
    if kind in WORDED:
        return []
    there = "\n".join(gap)
    pieces = [piece for text in said for piece in (text.split("\n") if kind in _NUMBERED else [text])]
    return [
        f"attachment {kind}: {piece[:120]!r} is not in its place"
        for piece in pieces
        if piece.strip() and piece not in there and json.dumps(piece, ensure_ascii=False)[1:-1] not in there
    ][:1]


_NUMBERED = frozenset({"file"})
"""Types whose payload the client sends with line numbers: each line is looked for by itself."""
