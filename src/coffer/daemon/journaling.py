"""When closed sessions are written into the journal: soon after their end is told, and at each look at everything.

What a hook tells is only a hint: a session is closed when no client holds it any more (`work.distil_due`). Learning and
the guard go first: a job begins only while the worker rests, and is small. Where a model is asked it asks one question,
with one request, so that a slow model keeps nobody waiting for longer than that.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coffer.core.journal_ask import MOST_PIECES
from coffer.daemon.part import Given
from coffer.daemon.worker import WorkerFailed
from coffer.disk.follow import Growth
from coffer.disk.places import Places
from coffer.disk.sessions import ARCHIVED, MAIN, Found
from coffer.errors import CofferError
from coffer.work.delivery.deliver import Asked
from coffer.work.memory.distil_due import QUIET_SECONDS, is_sure, standings
from coffer.work.settings import load

if TYPE_CHECKING:
    from coffer.daemon.session import Session

_LOG = logging.getLogger("coffer.daemon")
AFTER_END = (1.0, 4.0, 12.0)
"""Seconds after a SessionEnd at which it is looked whether the session is closed: its client may take a while."""
CLOSES_NOTHING = "resume"
"""SessionEnd's reason for a session that goes on in the same process, as a reload does."""
MOST_AT_ONCE = 12
LARGEST_AT_ONCE = 96 << 20
SLOWEST = 4 << 20
"""Bytes a second that the worker reads at least, on a machine that does other things."""
LEAST_SECONDS = 120.0
MOST_QUESTIONS = MOST_PIECES + 1
"""That a model is asked about one session: its pieces, and the entry. Each is a job of its own."""
REQUESTS = 2
"""That one question takes at most: a first answer may be none that can be read."""
MOST_AN_HOUR = 240
"""Sessions that are told in an hour: a person's whole past is not read in one go."""
HOUR = 3600.0
REST_SECONDS = 0.5
REFUSED_SECONDS = 60.0


class Journaling:
    """One for a daemon."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._environments: dict[Places, Mapping[str, str]] = {
            Places.of(given.environment): dict(given.environment)
        }
        self._found: dict[Path, Found] = {}
        self._past: dict[Path, tuple[int, float]] = {}  # told as they are: not worth a look until they change
        self._looks: list[float] = []
        self._patience = 0.0  # seconds that a model may take for one question, 0 where none is asked
        self._retries = 0
        self._later: dict[str, Any] | None = None  # why a job did not come to its end: it asked its question
        self._told: deque[float] = deque()
        self._due = asyncio.Event()
        self.written = 0
        self.waiting = 0
        self.problem = ""

    def heard(self, asked: Asked, event: str) -> None:  # noqa: ARG002
        """Where else agents keep their files."""
        self._environments.setdefault(asked.places, dict(asked.environment))

    def grew(self, session: Session, growth: Growth) -> None:
        """Nothing: a session that goes on is not over."""

    def ended(self, session: Session, reason: str) -> None:
        """A session says that it is over; a reload says so too, and is not."""
        if reason == CLOSES_NOTHING:
            return
        self._environments.setdefault(session.places, dict(session.environment))
        try:
            status = session.path.stat()
        except OSError:
            return  # it never had a prompt, so nothing was written
        name = session.session or session.path.stem
        name = session.path.stem[-36:] if session.agent == "codex" else session.path.stem or name
        self._found[session.path] = Found(
            session.agent, name, session.path, MAIN, status.st_size, status.st_mtime
        )
        now = time.monotonic()
        self._looks += [now + delay for delay in AFTER_END]
        self._due.set()

    def swept(self, found: Sequence[Found]) -> None:
        """All there is."""
        self._found = {one.path: one for one in found if one.kind in (MAIN, ARCHIVED)}
        self._past = {path: seen for path, seen in self._past.items() if path in self._found}
        self._looks.append(time.monotonic())
        self._due.set()

    async def run(self) -> None:
        """Write down what is closed, until cancelled."""
        while True:
            at = min(self._looks, default=None)
            try:
                async with asyncio.timeout(None if at is None else max(0.0, at - time.monotonic())):
                    await self._due.wait()
            except TimeoutError:
                self._looks = [look for look in self._looks if look > time.monotonic()]
                await self.step()
            self._due.clear()

    async def step(self) -> None:
        """Tell all that is closed, in small jobs."""
        if not await self._given.chores.run(self._may):
            return
        self.waiting = 0
        for places, environment in list(self._environments.items()):
            mine = [one for one in self._found.values() if _is_below(one, places) and not self._is_past(one)]
            waiting = await self._given.chores.run(self._closed, places, mine) if mine else []
            self.waiting += len(waiting)
            while waiting and self._left() > 0:
                batch = _batch(waiting[: 1 if self._patience else self._left()])
                waiting = waiting[len(batch) :]
                self._told.extend([time.monotonic()] * len(batch))
                if not await (self._in_steps if self._patience else self._job)(batch, environment):
                    return
                self.waiting -= len(batch)

    def _is_past(self, found: Found) -> bool:
        return self._past.get(found.path) == (found.size, found.modified)

    def _closed(self, places: Places, found: list[Found]) -> list[Found]:
        """Those that are closed. What is told already is remembered, what will be closed in a moment looked at then."""
        now = [_now(one) for one in found]
        states = standings(self._given.home, places, now, time.time())
        untold = {one.found.path for one in states}
        self._past |= {one.path: (one.size, one.modified) for one in now if one.path not in untold}
        if any(one.state == "quiet" and is_sure(one.found.agent, places) for one in states):
            self._looks.append(time.monotonic() + QUIET_SECONDS)
        return [one.found for one in states if one.state == "due"]

    def _may(self) -> bool:
        """Whether the person lets the daemon write by itself. Broken settings mean: not now."""
        try:
            settings = load(self._given.home)
        except CofferError as error:
            self._tell(str(error))
            return False
        asks = settings.journal.model and settings.model.provider != "none"
        self._retries = settings.model.retries
        self._patience = REQUESTS * settings.model.timeout if asks else 0.0
        return settings.journal.auto

    def _left(self) -> int:
        """How many more sessions may be told in this hour."""
        now = time.monotonic()
        while self._told and self._told[0] < now - HOUR:
            self._told.popleft()
        return MOST_AN_HOUR - len(self._told)

    async def _in_steps(self, batch: list[Found], environment: Mapping[str, str]) -> bool:
        """Have a session told by a model, a question a job. As `_job`."""
        tries = 0
        for _ in range(MOST_QUESTIONS * (self._retries + 1)):
            goes_on = await self._job(batch, environment, again=tries < self._retries)
            if self._later is None:
                return goes_on
            tries = 0 if self._later["answered"] else tries + 1
            await asyncio.sleep(self._later["wait"])
        return True

    async def _job(
        self, batch: list[Found], environment: Mapping[str, str], *, again: bool | None = None
    ) -> bool:
        """Have some sessions told; False where nothing more is to be tried now.

        again: None where all that a model is asked is asked; else one question, and whether it may be asked again.
        """
        self._later = None
        while self._given.worker.pid is not None:  # noqa: ASYNC110  (what others wait for goes first)
            await asyncio.sleep(REST_SECONDS)
        seconds = LEAST_SECONDS + self._patience + sum(one.size for one in batch) / SLOWEST
        job = _as_job(batch, environment) | ({} if again is None else {"again": again})
        try:
            answer = await self._given.worker.run(job, seconds)
        except WorkerFailed as failed:  # the ledger knows which session it was at, and lets that one wait
            self._tell(f"the journal's worker failed: {failed}")
            return len(batch) > 1
        if "error" in answer:
            self._tell(f"the journal waits: {answer['error']}")
            self._looks.append(time.monotonic() + REFUSED_SECONDS)
            return False
        self.problem = ""
        self._later = answer.get("later")
        self._took(answer)
        return True

    def _took(self, answer: dict[str, Any]) -> None:
        outcomes = answer.get("outcomes", {})
        self.written += int(outcomes.get("distilled", 0))
        for said in answer.get("problems", ()):
            _LOG.warning("journal: %s", said)
        if outcomes.get("distilled"):
            _LOG.info("%s sessions were written into the journal", outcomes["distilled"])

    def _tell(self, why: str) -> None:
        if why != self.problem:
            _LOG.warning("%s", why)
        self.problem = why


def _now(found: Found) -> Found:
    """As its file is by now."""
    try:
        status = found.path.stat()
    except OSError:
        return found
    return Found(found.agent, found.id, found.path, found.kind, status.st_size, status.st_mtime, found.owner)


def _is_below(found: Found, places: Places) -> bool:
    root = places.codex if found.agent == "codex" else places.claude
    return found.path.is_relative_to(root)


def _batch(waiting: list[Found]) -> list[Found]:
    """The first ones, as many as one job takes."""
    size, taken = 0, 0
    for one in waiting[:MOST_AT_ONCE]:
        size += one.size
        if taken and size > LARGEST_AT_ONCE:
            break
        taken += 1
    return waiting[:taken]


def _as_job(batch: list[Found], environment: Mapping[str, str]) -> dict[str, Any]:
    sessions = [
        {
            "agent": one.agent,
            "id": one.id,
            "path": str(one.path),
            "kind": one.kind,
            "size": one.size,
            "modified": one.modified,
        }
        for one in batch
    ]
    return {"job": "distil", "sessions": sessions, "environment": dict(environment)}
