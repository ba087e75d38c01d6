"""The same question asked again and again: only the newest answer counts.

no-op: a call that was made once; the newest answer that is no failure; calls whose message says anything else;
launches of background work; calls that change something (Edit, Write): the same edit twice is two edits.
"""

from __future__ import annotations

from collections.abc import Iterator

from coffer.core.plan import Drop, Worth
from coffer.core.scene import Scene
from coffer.core.strategies.superseded_reads import WRITES
from coffer.core.strategies.whole_pairs import drops

POLLED = frozenset({"Bash", "BashOutput", "TaskGet", "TaskList", "TaskOutput", "LS", "Glob", "CronList"})
LEAST = 3
"""How often a call must have been made to be a loop."""


def propose(scene: Scene) -> Iterator[tuple[str, Drop]]:
    """Drop call and result of all but the newest."""
    loops: dict[tuple[str, int], int] = {}
    newest: dict[tuple[str, int], int] = {}
    for pair in scene.pairs:
        loops[pair.asked] = loops.get(pair.asked, 0) + 1
        if not pair.failed:
            newest[pair.asked] = pair.order
    for pair in scene.free_pairs():
        is_loop = pair.tool in POLLED - WRITES and loops[pair.asked] >= LEAST
        if is_loop and pair.order < newest.get(pair.asked, 0):
            group = f"poll {pair.call.block.id}"
            yield from drops(scene, pair, Worth.REPEATED, "asked again later", group)
