"""A transcript that the daemon follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coffer.disk.follow import Followed
from coffer.disk.places import Places

QUIET_SECONDS = 0.3
"""A transcript that was written to this long ago may have the rest of a turn yet to come."""
LATEST_SECONDS = 1.5
"""A transcript that is never quiet is learned from all the same."""


@dataclass(slots=True)
class Session:
    """A transcript that is followed. Times are of the monotonic clock: no jump of the other one delays anything.

    changed: when something new came that isn't learned, None for nothing. quiet: when it was written to last.
    alone: it goes into a job of its own, since it was in one that failed. heard: seconds since the epoch.
    """

    agent: str
    path: Path
    environment: Mapping[str, str] = field(repr=False)
    followed: Followed | None = None
    changed: float | None = None
    quiet: float = 0.0
    not_before: float = 0.0
    failures: int = 0
    alone: bool = False
    folder: str = ""
    session: str = ""
    event: str = ""
    heard: float = 0.0

    @property
    def due(self) -> float | None:
        """When it is to be learned from."""
        if self.changed is None:
            return None
        calm = min(self.quiet + QUIET_SECONDS, self.changed + LATEST_SECONDS)
        return max(calm, self.not_before)

    @property
    def places(self) -> Places:
        """Where its agent keeps its files."""
        return Places.of(self.environment)

    @property
    def size(self) -> int:
        """Bytes, as they were seen last."""
        return self.followed.size if self.followed is not None else 0

    def mark(self, now: float) -> None:
        """Something new came."""
        self.changed = now if self.changed is None else self.changed
        self.quiet = now
