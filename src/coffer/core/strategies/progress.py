"""Progress records: what a running tool printed meanwhile.

no-op: a transcript without progress records; those whose uuid a client can still name.
"""

from __future__ import annotations

from collections.abc import Iterator

from coffer.core.plan import Drop, Worth
from coffer.core.scene import Scene


def propose(scene: Scene) -> Iterator[Drop]:
    """Drop them all: the loader bridges them out of the chain, and the model never sees one."""
    for record in scene.transcript.records:
        if record.type == "progress":
            yield Drop(record, Worth.NOTHING, "progress of a tool")
