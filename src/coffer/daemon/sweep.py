"""Looks at all transcripts at once: the guarantee where no hook and no notice of the system tells of one."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from coffer.daemon.chores import Chores
from coffer.daemon.first import first_start
from coffer.disk.places import Places
from coffer.disk.sessions import ARCHIVED, MAIN, Found
from coffer.store.home import Home

LOOKED_BACK = timedelta(days=1)
"""Sessions that were written to this long before the very first start are learned from too."""


@dataclass(slots=True)
class Swept:
    """grown: transcripts that changed since the last sweep. new: those with something that was never learned.

    found: all of them, newest first.
    """

    grown: list[Path] = field(default_factory=list)
    new: list[Found] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)


class Sweep:
    """One for a daemon; it remembers sizes and times of what it saw."""

    def __init__(self, home: Home, chores: Chores) -> None:
        self._home, self._chores = home, chores
        self._seen: dict[Path, tuple[int, float]] = {}
        self._since: datetime | None = None

    async def step(self, places: Iterable[Places], followed: Collection[Path]) -> Swept:
        """Look at everything. The first time what was learned before tells what is new. Raises StoreFailed."""
        found = await self._chores.run(self._chores.sessions, list(places))
        found = [one for one in found if one.kind in (MAIN, ARCHIVED)]
        first, swept = self._since is None, Swept(found=found)
        if self._since is None:
            self._since = await self._chores.run(first_start, self._home)
        heard = await self._chores.run(self._chores.heard) if first else {}
        for one in found:
            if self._seen.get(one.path) == (one.size, one.modified):
                continue
            if not first or one.path in followed:
                swept.grown.append(one.path)
            elif self._is_new(one, heard.get(str(one.path)), self._since):
                swept.new.append(one)
        self._seen = {one.path: (one.size, one.modified) for one in found}
        return swept

    @staticmethod
    def _is_new(found: Found, heard: tuple[int, int] | None, since: datetime) -> bool:
        """Whether there is something to learn. A clock that was set back makes no session too old."""
        if heard is not None:
            return heard[1] != found.size
        return found.modified >= (min(since, datetime.now(UTC)) - LOOKED_BACK).timestamp()
