"""File-history snapshots that a later one of the same message replaces.

no-op: one snapshot a message; the newest of each message, which the client's rewind restores files from.
"""

from __future__ import annotations

from collections.abc import Iterator

from coffer.core.plan import Drop, Worth
from coffer.core.record import Snapshot
from coffer.core.scene import Scene


def propose(scene: Scene) -> Iterator[Drop]:
    """Drop all but the first and the last snapshot of a message.

    The client takes the first for its place in the history and an update for its content.
    """
    seen: dict[str, list[Drop]] = {}
    for record in scene.transcript.records:
        if isinstance(record.detail, Snapshot):
            drop = Drop(record, Worth.NOTHING, "an older snapshot of the same message")
            seen.setdefault(record.detail.message, []).append(drop)
    for drops in seen.values():
        yield from drops[1:-1]
