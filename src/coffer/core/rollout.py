"""The view, usage and marks of a Codex rollout: a linear history with replacements.

After a resume Codex 0.171.0 sends the `replacement_history` of the last compaction that it accepts, and every
`response_item` behind it, in file order (docs/formats-codex.md, facts of (a)). A call without output gets the
output "aborted", an output without call is dropped. A fork's own file begins where it left its parent.
"""

from __future__ import annotations

from collections.abc import Sequence

from coffer.core.chain import Branch
from coffer.core.composition import Mark, Part
from coffer.core.items import Item, pointing, worded
from coffer.core.record import ALWAYS, Boundary, Record, Window
from coffer.core.transcript import Transcript
from coffer.core.usage import Measure, WindowMeasure
from coffer.core.view import View

ABORTED = "aborted"
"""The output that Codex gives to a call that has none."""
_SENT = ("response_item", "replacement")


def view(transcript: Transcript, model: str = "") -> View:
    """The items that a resume sends, in order, without base instructions and the next prompt."""
    read = [record for record in transcript.records if record.read == ALWAYS]
    since = max((record.start for record in read if isinstance(record.detail, Boundary)), default=-1)
    records = [record for record in read if record.start >= since]
    _name_answers(records)
    items = [
        pointing(record, index)
        for record in records
        if record.type in _SENT
        for index in range(len(record.blocks))
    ]
    model = model or last_model(read)
    return View(list(_paired(items)), model, Branch(records, items[-1].record if items else None))


def _name_answers(records: list[Record]) -> None:
    """Give the items of one answer one name, as Claude's messages have: a rollout names only single items."""
    number, speaking = 0, False
    for record in records:
        if record.type not in _SENT:
            continue
        if record.role == "assistant":
            number += not speaking
            record.message = f"answer {number}"
        speaking = record.role == "assistant"


def _paired(items: list[Item]) -> list[Item]:
    calls = {item.block.id for item in items if item.kind == "tool_use"}
    outputs = {item.block.id for item in items if item.kind == "tool_result"}
    paired: list[Item] = []
    for item in items:
        if item.kind == "tool_result" and item.block.id not in calls:
            continue
        paired.append(item)
        if (
            item.kind == "tool_use"
            and item.block.id not in outputs
            and item.block.name not in _ANSWERED_ELSEWHERE
        ):
            paired.append(worded("user", item.block.id, "tool_result"))
    return paired


_ANSWERED_ELSEWHERE = ("web_search",)
"""Calls that the API answers itself: they have no output item."""


def last_model(records: Sequence[Record]) -> str:
    """The model that the last turn names."""
    return next(
        (record.model for record in reversed(records) if record.type == "turn_context" and record.model), ""
    )


def context_now(records: Sequence[Record]) -> Measure | None:
    """Tokens of the last counted request and its answer, among records since the last compaction."""
    for record in reversed(records):
        if record.usage is not None and record.usage.context:
            return Measure(record.usage.context, "last_token_usage", record, record.usage)
    return None


def window_of(records: Sequence[Record]) -> WindowMeasure | None:
    """The window that the client states, or None where it stated none."""
    for record in reversed(records):
        if isinstance(record.detail, Window):
            return WindowMeasure(record.detail.tokens, record.detail.source)
    return None


def marks_of(parts: Sequence[Part], records: Sequence[Record]) -> list[Mark]:
    """A mark for each count: it stands behind the answer's items, and sometimes behind their results."""
    position = {part.record.start: index for index, part in reversed(list(enumerate(parts))) if part.record}
    marks: list[Mark] = []
    index = 0
    counted = -1
    for record in records:
        if record.start in position:
            index = max(index, position[record.start] + len(record.blocks))
        if record.usage is None or not record.usage.prompt:
            continue
        begin = _answer_begin(parts, index)
        if begin > counted:
            marks.append(Mark(begin, record.usage.prompt, record.usage.output))
            counted = begin
    return marks


def _answer_begin(parts: Sequence[Part], end: int) -> int:
    """Where the run of the model's own parts begins that the last count before `end` belongs to."""
    begin = end
    while begin > 0 and parts[begin - 1].kind == "tool_result":
        begin -= 1
    while begin > 0 and parts[begin - 1].answer:
        begin -= 1
    return begin
