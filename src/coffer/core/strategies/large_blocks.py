"""Blocks that are too large: long results, and calls that carry whole files.

no-op: the last calls; failures; blocks below the limits; inputs of the newest write of each file.
"""

from __future__ import annotations

from collections.abc import Iterator

from coffer.core.plan import Stub, Worth
from coffer.core.scene import Pair, Scene
from coffer.core.strategies.old_results import CALLS_BACK, UNTOUCHED
from coffer.core.strategies.superseded_reads import WRITES, is_leaned_on
from coffer.core.stub import STUB_TOKENS, call_note

LARGE_RESULT = 6_000
LARGE_INPUT = 2_000
KEPT_HEAD, KEPT_TAIL = 1_000, 600
"""Characters of a long result that stay: how it began, and how it ended."""
_LONG_SHARE = 0.9
"""About how much of a large write is its long texts."""
LAST_CALLS = 4
"""How many of the newest calls stay as they are."""


def propose(scene: Scene) -> Iterator[Stub]:
    """Shorten long results, and stub the texts of writes that a later state of the file supersedes."""
    newest = len(scene.pairs)
    written = {pair.path: pair.order for pair in scene.pairs if pair.tool in WRITES and not pair.failed}
    for pair in scene.free_pairs():
        if newest - pair.order <= LAST_CALLS or pair.tool in UNTOUCHED:
            continue
        yield from _result(pair, scene)
        if pair.tool in WRITES and not pair.failed and written.get(pair.path, -1) > pair.order:
            yield from _input(pair)


def _result(pair: Pair, scene: Scene) -> Iterator[Stub]:
    block = pair.result.block
    if block.size < LARGE_RESULT or pair.failed or block.images or pair.result.record is None:
        return
    if is_leaned_on(pair, scene, CALLS_BACK):
        return
    again = pair.call.block.id in scene.unchanged
    share = 1 - (KEPT_HEAD + KEPT_TAIL) / block.size
    yield Stub(
        pair.result.record,
        pair.result.index,
        Worth.OBTAINABLE if again else Worth.STALE,
        call_note(pair),
        "a long result, its beginning and end kept",
        keep=(KEPT_HEAD, KEPT_TAIL),
        tokens=max(0.0, pair.result_tokens * share - STUB_TOKENS),
    )


def _input(pair: Pair) -> Iterator[Stub]:
    block = pair.call.block
    if block.size >= LARGE_INPUT and pair.call.record is not None:
        yield Stub(
            pair.call.record,
            pair.call.index,
            Worth.SUPERSEDED,
            f"{pair.tool} {pair.path}",
            "a write that a later state of the file supersedes",
            tokens=max(0.0, pair.call_tokens * _LONG_SHARE - STUB_TOKENS),
        )
