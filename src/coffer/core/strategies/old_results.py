"""Results of calls that lie far back.

no-op: the last calls; short results; failures (what failed is context); launches of background work; a read on
which one of the last calls leans; what a person protected.
"""

from __future__ import annotations

from collections.abc import Iterator

from coffer.core.plan import Stub, Worth
from coffer.core.scene import Scene
from coffer.core.strategies.superseded_reads import is_leaned_on
from coffer.core.stub import STUB_TOKENS, call_note

CALLS_BACK = 20
SMALLEST = 500
"""Bytes below which an old result is left alone."""
UNTOUCHED = frozenset(
    {"AskUserQuestion", "CronCreate", "CronDelete", "ExitPlanMode", "ScheduleWakeup", "Skill"}
)
"""Tools whose results are a person's answers, plans, instructions, or what a reload looks for."""


def propose(scene: Scene) -> Iterator[Stub]:
    """Stub results more than CALLS_BACK calls old."""
    newest = len(scene.pairs)
    for pair in scene.free_pairs():
        block = pair.result.block
        if (
            newest - pair.order <= CALLS_BACK
            or block.size < SMALLEST
            or pair.failed
            or pair.tool in UNTOUCHED
            or is_leaned_on(pair, scene, CALLS_BACK)
        ):
            continue
        assert pair.result.record is not None
        again = pair.call.block.id in scene.unchanged
        yield Stub(
            pair.result.record,
            pair.result.index,
            Worth.OBTAINABLE if again else Worth.STALE,
            call_note(pair),
            "the file is unchanged on disk" if again else "an old result",
            tokens=max(0.0, pair.result_tokens - STUB_TOKENS),
        )
