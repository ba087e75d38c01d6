"""Long texts that stand again, word for word, later: documents, skill texts, results.

no-op: the newest copy; short texts; a person's own words; failed results; the protected tail.
"""

from __future__ import annotations

from collections.abc import Iterator

from coffer.core.items import Item
from coffer.core.parts import is_persons_words
from coffer.core.plan import Stub, Worth
from coffer.core.scene import Scene
from coffer.core.stub import STUB_TOKENS, call_note

SMALLEST = 1_000
"""Bytes below which a repetition is not worth a stub."""


def propose(scene: Scene) -> Iterator[Stub]:
    """Stub all but the newest copy of a result or of a client's text."""
    newest: dict[int, int] = {}
    for place, entry in enumerate(scene.entries):
        if isinstance(entry.item, Item) and entry.item.block.digest:
            newest[entry.item.block.digest] = place
    pairs = {id(pair.result): pair for pair in scene.free_pairs()}
    for place, entry in enumerate(scene.entries):
        item = entry.item
        if not isinstance(item, Item) or item.record is None or not scene.is_free(item.record, entry.turn):
            continue
        block = item.block
        if block.size < SMALLEST or not block.digest or newest[block.digest] <= place:
            continue
        if item.kind == "tool_result" and id(item) in pairs and not block.error:
            note = call_note(pairs[id(item)])
        elif (
            item.kind == "text"
            and item.role == "user"
            and not is_persons_words(item)
            and not item.record.summary
        ):
            note = "a text that stands again later"
        else:
            continue
        yield Stub(
            item.record,
            item.index,
            Worth.REPEATED,
            note,
            "the same stands again later",
            tokens=max(0.0, entry.tokens - STUB_TOKENS),
        )
