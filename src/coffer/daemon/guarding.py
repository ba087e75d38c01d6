"""When a session is moved: a part that knows which sessions are due, and asks the worker where one turns idle.

It decides nothing but *when*. What is due, and whether it may be done, is said by `work.attend` from what lies on disk;
so a daemon that was killed is followed by one that goes on where it was.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coffer.agents.table import CLAUDE
from coffer.daemon.errors import ThreadFailed
from coffer.daemon.part import Given
from coffer.daemon.session import Session
from coffer.daemon.worker import WorkerFailed
from coffer.disk.follow import Growth
from coffer.disk.places import Places
from coffer.disk.sessions import Found
from coffer.errors import CofferError
from coffer.work.delivery.deliver import Asked
from coffer.work.guarding.attend import Due, due
from coffer.work.guarding.guarded import Guarded
from coffer.work.sessions.holders import Holders

if TYPE_CHECKING:
    from coffer.daemon.standing import Standing

_LOG = logging.getLogger("coffer.daemon")
SETTLE_SECONDS = 1.2
"""After a hint that a session is idle: its client writes the last answer up to a second after it said so."""
RETRY_SECONDS = 5.0
"""Between looks at a session that is due and not idle, where nothing tells of it."""
GAP_SECONDS = 2.0
"""At least, between two moves that are tried in a session."""
REST_SECONDS = 60.0
"""After a move that failed, or may not be made for now."""
ALONE_SECONDS = 600.0
"""After one that may not be made at all; an order comes through."""
JOB_SECONDS = 300.0
MOST = 500
_AFTER = {"rests": REST_SECONDS, "failed": REST_SECONDS, "left alone": ALONE_SECONDS}
_HINTS = ("Stop", "StopFailure", "Notification", "SessionStart")


@dataclass(slots=True)
class _Mark:
    """A session that may be due. at: when it is looked at next, None: at its next news. not_before: but for an order.

    Times are of the monotonic clock.
    """

    standing: Standing
    at: float | None = None
    not_before: float = 0.0
    tried: int = 0
    """Moves that were tried since its last news, and had to wait."""

    def look(self, at: float) -> None:
        """Have it looked at, not later than that."""
        self.at = at if self.at is None else min(self.at, at)


class Guarding:
    """One for a daemon."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._marks: dict[Path, _Mark] = {}
        self._woken = asyncio.Event()

    # --- what it hears

    def stands(self, standing: Standing) -> None:
        """A session stands otherwise than before."""
        if standing.agent != CLAUDE.name or not standing.holders:
            self._marks.pop(standing.path, None)
            return
        mark = self._marks.pop(standing.path, None) or _Mark(standing)
        mark.standing, mark.tried = standing, 0
        self._marks[standing.path] = mark
        while len(self._marks) > MOST:
            del self._marks[next(iter(self._marks))]
        mark.look(time.monotonic() + SETTLE_SECONDS)
        self._woken.set()

    def heard(self, asked: Asked, event: str) -> None:
        """Something that a client says when a turn is over."""
        mark = self._marks.get(asked.transcript) if asked.transcript is not None else None
        if mark is not None and event in _HINTS and not asked.child:
            mark.tried = 0
            mark.look(time.monotonic() + SETTLE_SECONDS)
            self._woken.set()

    def grew(self, session: Session, growth: Growth) -> None:
        """Nothing: its standing changes then."""

    def ended(self, session: Session, reason: str) -> None:  # noqa: ARG002  (as all parts hear it)
        """Nobody has it open."""
        self._marks.pop(session.path, None)

    def swept(self, found: Sequence[Found]) -> None:
        """Nothing: whoever is due is looked at by itself."""

    # --- what it does

    async def run(self) -> None:
        """Look at what may be due, one after the other, until cancelled."""
        while True:
            soonest = min((mark.at for mark in self._marks.values() if mark.at is not None), default=None)
            try:
                async with asyncio.timeout(None if soonest is None else max(0.0, soonest - time.monotonic())):
                    await self._woken.wait()
            except TimeoutError:
                pass
            self._woken.clear()
            now = time.monotonic()
            for path, mark in list(self._marks.items()):
                if mark.at is not None and mark.at <= now:
                    mark.at = None
                    await self._attended(path, mark)

    async def _attended(self, path: Path, mark: _Mark) -> None:
        session = self._guarded(path)
        try:
            found, idle = await self._given.chores.run(self._due, session, mark.standing)
        except (CofferError, OSError, ThreadFailed) as error:
            _LOG.warning("a session can't be looked after: %s", error)
            mark.look(time.monotonic() + REST_SECONDS)
            return
        ordered = found is not None and found.wish is not None and found.wish.by == "person"
        if found is None or (not ordered and time.monotonic() < mark.not_before):
            return
        if not idle:
            mark.look(time.monotonic() + RETRY_SECONDS)
            return
        await self._moved(session, mark, found)

    def _guarded(self, path: Path) -> Guarded:
        known = self._given.sessions.get(path)
        environment = known.environment if known is not None else self._given.environment
        return Guarded(path, self._given.home, Places.of(environment), environment)

    def _due(self, session: Guarded, standing: Standing) -> tuple[Due | None, bool]:
        """What is due, and whether every client says idle: in the thread of the chores."""
        used = standing.share * 100
        found = due(session, used, standing.used or 0, session.settings(), time.time())
        if found is None:
            return None, False
        held = Holders(session.places).of(CLAUDE.name, session.id)
        return found, bool(held) and all(one.status == "idle" for one in held)

    async def _moved(self, session: Guarded, mark: _Mark, found: Due) -> None:
        job = {
            "job": "guard",
            "transcript": str(session.transcript),
            "environment": dict(session.environment),
            "home": str(session.home.root),
            "wish": None if found.wish is None else asdict(found.wish),
            "acted": list(found.acted),
        }
        now = time.monotonic
        try:
            answer = await self._given.worker.run(job, JOB_SECONDS)
        except WorkerFailed as error:
            _LOG.warning("a session could not be moved: %s", error)
            answer = {"kind": "failed", "why": str(error)}
        if "error" in answer:
            _LOG.warning("a session could not be moved: %s", answer["error"])
            answer = {"kind": "failed", "why": answer["error"]}
        kind = str(answer.get("kind"))
        if kind == "waits":
            mark.look(now() + again_in(mark.tried, blocked=bool(answer.get("blockers"))))
            mark.tried += 1
        elif kind in _AFTER:
            mark.not_before = now() + _AFTER[kind]
            mark.look(mark.not_before)
        if kind not in ("waits", "nothing"):
            _LOG.info("%s: %s%s", session.id, kind, _said(answer))


def again_in(tried: int, *, blocked: bool) -> float:
    """Seconds after which a move that had to wait is tried again: each time that nothing is new, twice as many.

    A draft may stand in the input line for a night, and every try reads the transcript.
    """
    first = RETRY_SECONDS if blocked else GAP_SECONDS
    return min(REST_SECONDS, first * 2.0 ** min(tried, 10))


def _said(answer: Mapping[str, Any]) -> str:
    """Why, or by which means and how fast."""
    reload = answer.get("reload")
    if isinstance(reload, Mapping) and reload.get("seconds"):
        return f" by {reload.get('means')} in {reload['seconds']} s"
    return f" ({answer['why']})" if answer.get("why") else ""
