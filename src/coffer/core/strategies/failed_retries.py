"""Failed calls that were made again, word for word, and succeeded.

no-op: a failure that no success of the same call follows; a call whose message says anything else; the
protected tail. A failure that stands is context: the model must not try it again.
"""

from __future__ import annotations

from collections.abc import Iterator

from coffer.core.plan import Drop, Worth
from coffer.core.scene import Pair, Scene
from coffer.core.strategies.whole_pairs import drops


def propose(scene: Scene) -> Iterator[tuple[str, Drop]]:
    """Drop call and result together."""
    succeeded: dict[tuple[str, int], int] = {
        pair.asked: pair.order for pair in scene.pairs if not pair.failed
    }
    for pair in scene.free_pairs():
        if pair.failed and succeeded.get(pair.asked, -1) > pair.order:
            yield from drops(scene, pair, Worth.SUPERSEDED, "failed, and succeeded later", _group(pair))


def _group(pair: Pair) -> str:
    return f"retry {pair.call.block.id}"
