"""Thinking of earlier turns.

Of a model whose thinking is bound to all that stands before it, the latest turn's goes too, once that turn is
over: behind a change the API refuses it, and the client then asks again without any, at each request.

no-op: the latest turn of all other models; thinking that the view does not hold (another model's,
or alone in its message: the loader drops it by itself).
"""

from __future__ import annotations

from collections.abc import Iterator

from coffer.core.dialect import THINKING
from coffer.core.items import Item
from coffer.core.plan import Cut, Drop, Worth
from coffer.core.scene import Scene


def propose(scene: Scene) -> Iterator[tuple[str, Drop | Cut]]:
    """Remove all thinking of a message, or none of it."""
    worth = Worth.NOTHING if scene.bound else Worth.STALE
    for entry in scene.entries:
        item = entry.item
        if not isinstance(item, Item) or item.kind not in THINKING or item.record is None:
            continue
        if not (scene.is_free(item.record, entry.turn) or (scene.bound and _is_over(scene))):
            continue
        group = f"thinking {item.record.message or item.record.uuid}"
        if all(block.kind in THINKING for block in item.record.blocks):
            yield group, Drop(item.record, worth, WHY, entry.tokens)
        else:
            yield group, Cut(item.record, item.index, worth, WHY, entry.tokens)


WHY = "thinking of an earlier turn"


def _is_over(scene: Scene) -> bool:
    """Whether the view ends with an answer: in a tool loop that goes on, the API wants its thinking."""
    last = [e.item for e in scene.entries if isinstance(e.item, Item) and e.item.record is not None][-1:]
    return bool(last) and last[0].kind != "tool_result"
