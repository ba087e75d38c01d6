"""Who has a session open."""

from __future__ import annotations

from coffer.disk.live import Holder, codex_holder, holders
from coffer.disk.places import Places


class Holders:
    """One look at the clients' registry and locks: the registry is read once, a lock when it is asked for."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._claude = holders(places)

    def of(self, agent: str, session: str) -> list[Holder]:
        """The living clients that hold a session; none for a session that is at rest."""
        if agent == "codex":
            held = codex_holder(self._places, session)
            return [held] if held is not None else []
        return self._claude.get(session, [])
