"""Images of earlier turns: screenshots, pictures that were read.

no-op: the protected tail; images that a person pasted, which are the person's words; failed results.
"""

from __future__ import annotations

from collections.abc import Iterator

from coffer.core.plan import Stub, Worth
from coffer.core.scene import Scene
from coffer.core.stub import STUB_TOKENS, call_note

NEWEST_KEPT = 1
"""How many of the newest images stay."""


def propose(scene: Scene) -> Iterator[Stub]:
    """Stub results that hold images, but the newest."""
    holding = [pair for pair in scene.pairs if pair.result.block.images and not pair.failed]
    kept = {id(pair) for pair in holding[-NEWEST_KEPT:]}
    for pair in scene.free_pairs():
        if pair.result.block.images and not pair.failed and id(pair) not in kept and pair.result.record:
            yield Stub(
                pair.result.record,
                pair.result.index,
                Worth.OBTAINABLE if pair.path else Worth.STALE,
                call_note(pair),
                "an image of an earlier turn",
                tokens=max(0.0, pair.result_tokens - STUB_TOKENS),
            )
