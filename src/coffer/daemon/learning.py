"""When the daemon learns: which sessions have something new, in which order, and what waits after a failure."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from coffer.daemon.part import Given
from coffer.daemon.session import Session
from coffer.daemon.worker import Worker, WorkerFailed
from coffer.disk.follow import Growth, peek
from coffer.disk.sessions import MAIN, Found
from coffer.errors import SettingsBroken
from coffer.store.home import Home
from coffer.work.delivery.deliver import Asked
from coffer.work.settings import load

_LOG = logging.getLogger("coffer.daemon")
MOST_AT_ONCE = 16
LARGEST_AT_ONCE = 64 << 20
SLOWEST = 2 << 20
"""Bytes a second that the worker reads at least, on a machine that does other things."""
LEAST_SECONDS = 60.0
BACK_OFF = 30.0
"""Seconds after a session's first failure, twice as many after each further one."""
LONGEST_BACK_OFF = 3600.0
BUSY_SECONDS = 2.0
REFUSED_SECONDS = 60.0
ENDED_SECONDS = 0.5
"""After the end of a session, what a client still writes then."""

Clock = Callable[[], float]


class Learning:
    """The part that learns from what sessions grew by."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._due = asyncio.Event()
        self.pupil = Pupil(given.home, given.worker, self._learned)

    def heard(self, asked: Asked, event: str) -> None:
        """An event alone is nothing to learn from: what it is about comes into the transcript."""

    def grew(self, session: Session, growth: Growth) -> None:
        """What a person may have said is learned."""
        if growth.person:
            session.mark(time.monotonic())
            self._due.set()

    def ended(self, session: Session, reason: str) -> None:  # noqa: ARG002  (as all parts hear it)
        """What is new in it is learned, also what no line of it gave a reason for."""
        session.mark(time.monotonic() + ENDED_SECONDS)
        self._due.set()

    def swept(self, found: Sequence[Found]) -> None:  # noqa: ARG002
        """The sweep may have marked sessions that were never learned from."""
        self._due.set()

    async def run(self) -> None:
        """Learn from what is due, until cancelled."""
        sessions = self._given.sessions
        while True:
            due = self.pupil.next_due(sessions)
            try:
                async with asyncio.timeout(None if due is None else max(0.0, due - time.monotonic())):
                    await self._due.wait()
            except TimeoutError:
                await self.pupil.step(sessions)
            self._due.clear()

    async def _learned(self, answer: dict[str, Any]) -> None:
        changes = answer.get("changes", {})
        if not answer.get("turns") and not changes:
            return
        _LOG.info(
            "learned from %s sessions: %s turns, %s digests changed",
            answer.get("sessions"),
            answer.get("turns"),
            len(changes),
        )
        self._given.publish(map(Path, answer.get("projects", ())), bool(changes))


class Pupil:
    """Learns from sessions, one batch after the other. told: called with the answer of each job."""

    def __init__(
        self,
        home: Home,
        worker: Worker,
        told: Callable[[dict[str, Any]], Awaitable[None]],
        clock: Clock = time.monotonic,
    ) -> None:
        self._home, self._worker, self._told, self._clock = home, worker, told, clock
        self._paused = 0.0
        self.problem = ""
        self.learned = 0

    def next_due(self, sessions: Mapping[Path, Session]) -> float | None:
        """When there will be something to do."""
        dues = [due for one in sessions.values() if (due := one.due) is not None]
        return max(min(dues), self._paused) if dues else None

    async def step(self, sessions: Mapping[Path, Session]) -> None:
        """Learn from what is due."""
        now = self._clock()
        batch = self._batch(sessions, now) if now >= self._paused else []
        if not batch or not self._may():
            return
        marks = [(one, one.changed) for one in batch]
        for one in batch:
            one.changed = None
        try:
            answer = await self._worker.run(
                _job(batch), LEAST_SECONDS + sum(one.size for one in batch) / SLOWEST
            )
        except WorkerFailed as failed:
            self._failed(batch, marks, str(failed))
            return
        if "error" in answer:
            self._refused(marks, answer)
            return
        for one in batch:
            one.failures, one.alone = 0, False
        self.problem = ""
        self.learned += int(answer.get("turns", 0))
        for said in answer.get("problems", ()):
            _LOG.warning("learning: %s", said)
        await self._told(answer)

    def _batch(self, sessions: Mapping[Path, Session], now: float) -> list[Session]:
        due = sorted(
            (one for one in sessions.values() if one.due is not None and one.due <= now),
            key=lambda one: (one.failures, one.due),
        )
        batch: list[Session] = []
        size = 0
        for one in due:  # those that failed come last, each alone, so that they hold nobody up
            full = one.alone or size + one.size > LARGEST_AT_ONCE or len(batch) >= MOST_AT_ONCE
            if batch and (full or one.places != batch[0].places):
                break
            batch.append(one)
            size += one.size
            if one.alone:
                break
        return batch

    def _may(self) -> bool:
        """Whether the person lets the daemon learn by itself. Broken settings mean: not now."""
        try:
            auto = load(self._home).learn.auto
        except SettingsBroken as error:
            self._pause(REFUSED_SECONDS, str(error))
            return False
        if not auto:
            self._pause(REFUSED_SECONDS, "")
        return auto

    def _pause(self, seconds: float, why: str) -> None:
        self._paused = self._clock() + seconds
        if why and why != self.problem:
            _LOG.warning("learning waits: %s", why)
        self.problem = why

    def wake(self) -> None:
        """What was in the way may be gone."""
        self._paused = 0.0

    def _refused(self, marks: list[tuple[Session, float | None]], answer: Mapping[str, Any]) -> None:
        """Nothing is wrong with the sessions: they keep their turn."""
        for one, changed in marks:
            one.changed = changed if one.changed is None else min(one.changed, changed or one.changed)
        busy = answer.get("kind") in ("Busy", "FileMoved")
        self._pause(BUSY_SECONDS if busy else REFUSED_SECONDS, str(answer["error"]))

    def _failed(self, batch: list[Session], marks: list[tuple[Session, float | None]], why: str) -> None:
        """One of the sessions is too much for the worker: which one shows when each has a job of its own."""
        now = self._clock()
        for one, changed in marks:
            one.changed = changed
            one.alone = True
            if len(batch) == 1:
                wait = min(LONGEST_BACK_OFF, BACK_OFF * 2**one.failures)
                one.failures += 1
                one.not_before = now + wait
                _LOG.warning("%s can't be learned from: %s; again in %.0f s", one.path, why, wait)
        if len(batch) > 1:
            _LOG.warning("the worker failed with %d sessions: %s; each alone now", len(batch), why)


def _job(batch: list[Session]) -> dict[str, Any]:
    """A job for sessions that keep their files in the same places."""
    sessions = []
    for one in batch:
        one.followed = one.followed or peek(one.path)
        sessions.append(
            {
                "agent": one.agent,
                "id": one.path.stem,
                "path": str(one.path),
                "kind": MAIN,
                "size": one.size,
                "modified": 0.0,
            }
        )
    return {"job": "learn", "sessions": sessions, "environment": dict(batch[0].environment)}
