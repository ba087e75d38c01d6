"""Reads of a file that was read whole, written or edited with success later.

no-op: a read that is the newest state of its file; a later call that failed; a later read of another part; a
later read that the client answered with "unchanged since your last Read" (it leans on the earlier one).
"""

from __future__ import annotations

from collections.abc import Iterator

from coffer.core.plan import Stub, Worth
from coffer.core.scene import Pair, Scene
from coffer.core.stub import STUB_TOKENS, call_note

READS = frozenset({"Read", "NotebookRead"})
WRITES = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
SMALLEST = 400
"""Bytes below which a stub would save nothing."""


def propose(scene: Scene) -> Iterator[Stub]:
    """Stub the results of reads that a later state of the same file supersedes."""
    for pair in scene.free_pairs():
        if (
            pair.tool in READS
            and not pair.failed
            and pair.result.block.size >= SMALLEST
            and is_superseded(pair, scene)
        ):
            assert pair.result.record is not None
            yield Stub(
                pair.result.record,
                pair.result.index,
                Worth.SUPERSEDED,
                call_note(pair),
                "superseded by a later state of the file",
                tokens=max(0.0, pair.result_tokens - STUB_TOKENS),
            )


def is_leaned_on(pair: Pair, scene: Scene, back: int) -> bool:
    """Whether one of the last `back` calls read the same and was told "unchanged since your last Read"."""
    newest = len(scene.pairs)
    return pair.tool in READS and any(
        later.order > pair.order
        and newest - later.order <= back
        and later.tool in READS
        and not later.failed
        and later.result.block.size < SMALLEST <= pair.result.block.size
        for later in scene.of_path(pair.path)
    )


def is_superseded(pair: Pair, scene: Scene) -> bool:
    """Whether a later successful call holds a state of the same file that says at least as much."""
    for later in scene.of_path(pair.path):
        if later.order <= pair.order or later.failed:
            continue
        if later.tool in WRITES:
            return True
        same_part = not later.call.block.partial or later.call.block.digest == pair.call.block.digest
        if later.tool in READS and same_part and later.result.block.size >= SMALLEST:
            return True
    return False
