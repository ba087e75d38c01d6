"""A call and its result as one thing that goes or stays, with the thinking that led to it.

Not a strategy of its own: it holds the rule under which a pair may be dropped. The call's message must hold
nothing but this call and thinking, so that no other block of the message is left without its thinking.
"""

from __future__ import annotations

from collections.abc import Iterator

from coffer.core.dialect import THINKING
from coffer.core.plan import Drop, Worth
from coffer.core.scene import Pair, Scene


def drops(scene: Scene, pair: Pair, worth: Worth, why: str, group: str) -> Iterator[tuple[str, Drop]]:
    """Drops of all records of the pair, in one group; none where the call does not stand alone."""
    call, result = pair.call.record, pair.result.record
    if call is None or result is None or result.plain or len(result.blocks) != 1:
        return
    family = scene.family(call)
    blocks = [block for record in family for block in record.blocks]
    others = [block for block in blocks if block.kind not in THINKING and block.id != pair.call.block.id]
    if others:
        return
    tokens = pair.tokens / (len(family) + 1)
    for record in (*family, result):
        yield group, Drop(record, worth, why, tokens)
