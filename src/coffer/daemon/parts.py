"""The parts of the daemon, from first to last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coffer.daemon.guarding import Guarding
from coffer.daemon.journaling import Journaling
from coffer.daemon.keeping import Keeping
from coffer.daemon.learning import Learning
from coffer.daemon.part import Given, Part
from coffer.daemon.standing import Standings


@dataclass(frozen=True, slots=True)
class Parts:
    """Those that are asked something, by name, and the others."""

    learning: Learning
    standings: Standings
    others: tuple[Part, ...] = ()
    keeping: Keeping | None = None
    journaling: Journaling | None = None

    def __iter__(self) -> Iterator[Part]:
        """All of them, in the order in which they hear of things."""
        yield self.learning
        yield self.standings
        if self.keeping is not None:
            yield self.keeping
        if self.journaling is not None:
            yield self.journaling
        yield from self.others


def every_part(given: Given) -> Parts:
    """The parts of a daemon."""
    standings = Standings(given)
    keeping = Keeping(given)
    guarding = Guarding(given)
    standings.listen(keeping.stands)
    standings.listen(guarding.stands)
    return Parts(
        learning=Learning(given),
        standings=standings,
        others=(guarding,),
        keeping=keeping,
        journaling=Journaling(given),
    )
