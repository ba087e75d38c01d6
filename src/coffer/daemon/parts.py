"""The parts of the daemon, from first to last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coffer.daemon.learning import Learning
from coffer.daemon.part import Given, Part


@dataclass(frozen=True, slots=True)
class Parts:
    """Those that the daemon's state tells of, by name, and the others."""

    learning: Learning
    others: tuple[Part, ...] = ()

    def __iter__(self) -> Iterator[Part]:
        """All of them, in the order in which they hear of things."""
        yield self.learning
        yield from self.others


def every_part(given: Given) -> Parts:
    """The parts of a daemon."""
    return Parts(learning=Learning(given), others=())
