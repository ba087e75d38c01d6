"""System reminders that are repeated: at the end of results, and as attachments.

no-op: a reminder that stands once; the newest copy; the protected tail.
"""

from __future__ import annotations

from collections.abc import Iterator

from coffer.core.items import Context, Item
from coffer.core.plan import Drop, Strip, Worth
from coffer.core.scene import Scene

REMINDERS = frozenset({"task_reminder", "todo_reminder", "total_tokens_reminder", "date_change"})
REMINDER_TOKENS = 90
"""Of the reminder that 2.0 and 2.1 put behind every read (337 bytes)."""


def propose(scene: Scene) -> Iterator[Drop | Strip]:
    """Strip or drop all but the newest copy."""
    newest: dict[int | str, int] = {}
    for place, entry in enumerate(scene.entries):
        key = _key(entry.item)
        if key:
            newest[key] = place
    for place, entry in enumerate(scene.entries):
        item = entry.item
        key = _key(item)
        record = item.record
        if not key or record is None or newest[key] <= place or not scene.is_free(record, entry.turn):
            continue
        if isinstance(item, Context):
            yield Drop(record, Worth.REPEATED, "a reminder that is repeated later", entry.tokens)
        else:
            yield Strip(record, item.index, why="a reminder that is repeated later", tokens=REMINDER_TOKENS)


def _key(item: Item | Context) -> int | str:
    if isinstance(item, Context):
        return item.attached.kind if item.attached.kind in REMINDERS else ""
    return item.block.reminder if item.kind == "tool_result" else 0
