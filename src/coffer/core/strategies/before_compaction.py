"""Messages before a compaction that nothing names any more.

no-op: no compaction; messages that it preserved; what a person said; records that a client can still name;
launches of background work, whose end may still come; anything behind it.
"""

from __future__ import annotations

from collections.abc import Iterator

from coffer.core.parts import is_persons_record
from coffer.core.plan import Drop, Worth
from coffer.core.record import Boundary
from coffer.core.scene import Scene
from coffer.core.transcript import CHAINED


def propose(scene: Scene) -> Iterator[Drop]:
    """Drop chained records before the last boundary on the live branch that the view does not hold."""
    boundaries = [record for record in scene.view.branch.records if isinstance(record.detail, Boundary)]
    if not boundaries or scene.view.branch.broken:
        return
    last = boundaries[-1]
    live = {record.start for record in scene.view.branch.records}
    launches = {b.id for record in scene.transcript.records for b in record.blocks if b.stays}
    for record in scene.transcript.records:
        if record.start >= last.start:
            break
        if (record.role == "user" and is_persons_record(record)) or any(
            block.id in launches for block in record.blocks if block.id
        ):
            continue
        if record.type in CHAINED and record.start not in live and not record.sidechain:
            yield Drop(record, Worth.NOTHING, "history before a compaction")
