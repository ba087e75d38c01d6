"""The parts of the daemon, from first to last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coffer.daemon.learning import Learning
from coffer.daemon.part import Given, Part
from coffer.daemon.standing import Standings


@dataclass(frozen=True, slots=True)
class Parts:
    """Those that the daemon's state tells of, by name, and the others."""

    learning: Learning
    standings: Standings
    others: tuple[Part, ...] = ()

    def __iter__(self) -> Iterator[Part]:
        """All of them, in the order in which they hear of things."""
        yield self.learning
        yield self.standings
        yield from self.others


def every_part(given: Given) -> Parts:
    """The parts of a daemon."""
    standings = Standings(given)
    return Parts(learning=Learning(given), standings=standings, others=())
