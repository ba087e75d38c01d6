"""Thinking of earlier turns.

no-op: the latest turn; thinking that the view does not hold (another model's, or alone in its message: the
loader drops it by itself).
"""

from __future__ import annotations

from collections.abc import Iterator

from coffer.core.dialect import THINKING
from coffer.core.items import Item
from coffer.core.plan import Cut, Drop, Worth
from coffer.core.scene import Scene


def propose(scene: Scene) -> Iterator[tuple[str, Drop | Cut]]:
    """Remove all thinking of a message, or none of it."""
    for entry in scene.entries:
        item = entry.item
        if not isinstance(item, Item) or item.kind not in THINKING or item.record is None:
            continue
        if not scene.is_free(item.record, entry.turn):
            continue
        group = f"thinking {item.record.message or item.record.uuid}"
        if all(block.kind in THINKING for block in item.record.blocks):
            yield group, Drop(item.record, Worth.STALE, "thinking of an earlier turn", entry.tokens)
        else:
            yield (
                group,
                Cut(item.record, item.index, Worth.STALE, "thinking of an earlier turn", entry.tokens),
            )
