"""What lives in the daemon beside the answers to hooks, as the loop knows it.

All of it is called on the event loop: what takes longer than a look into memory belongs into the thread of the chores
(`Given.chores.run`), what reads whole files into the worker. A part that fails is logged, and costs nobody else.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from coffer.daemon.chores import Chores
from coffer.daemon.errors import PartFailed
from coffer.daemon.session import Session
from coffer.daemon.worker import Worker
from coffer.disk.follow import Growth
from coffer.disk.sessions import Found
from coffer.store.home import Home
from coffer.work.delivery.deliver import Asked, World

_LOG = logging.getLogger("coffer.daemon")
AGAIN_SECONDS = 60.0
"""After which a part that failed is run again."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a part works with. sessions: all that are followed, by transcript; a part changes only what is its own.

    world: what was read of contexts and sent to them; a part only looks. publish: brings the bundles of these projects
    up to date, those of all others too where digests changed.
    """

    home: Home
    environment: Mapping[str, str]
    worker: Worker
    chores: Chores
    world: World
    sessions: Mapping[Path, Session]
    publish: Callable[[Iterable[Path], bool], None]


class Part(Protocol):
    """It hears what the loop hears, and has steps of its own."""

    def heard(self, asked: Asked, event: str) -> None:
        """A hook's event, after it was answered. Of every event, also of those that get no answer."""

    def grew(self, session: Session, growth: Growth) -> None:
        """New bytes of a followed transcript were seen; or it is another file (growth.replaced)."""

    def ended(self, session: Session, reason: str) -> None:
        """A session is over. reason: SessionEnd's; "" where it is not known."""

    def swept(self, found: Sequence[Found]) -> None:
        """All transcripts there are, as seen at the start and at each rescan. Those with news were told of before."""

    async def run(self) -> None:
        """What it does by itself, until cancelled. Where it returns, it has nothing more to do."""


def tell(parts: Iterable[Part], say: Callable[[Part], None]) -> None:
    """Say something to each of the parts; the failure of one is logged."""
    for part in parts:
        with suppress(PartFailed), _apart(part):
            say(part)


async def live(part: Part) -> None:
    """Run a part, and again after a failure of its own, until cancelled."""
    while True:
        try:
            with _apart(part):
                await part.run()
        except PartFailed:
            await asyncio.sleep(AGAIN_SECONDS)
        else:
            return


@contextmanager
def _apart(part: Part) -> Iterator[None]:
    """Log what a part raises. Raises PartFailed for it."""
    try:
        yield
    except Exception as error:
        _LOG.exception("%s failed", type(part).__name__)
        raise PartFailed(type(part).__name__) from error
