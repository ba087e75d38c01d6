"""What a compaction loses: when it is saved, and when it comes back. What it is stands in `work.keep`.

A client waits for the hook before it compacts, and its SessionStart comes when the model has written the summary. So a
small transcript is read while the hook waits, in a thread; a large one in the worker, since its summary takes longer.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from coffer.agents.table import CLAUDE
from coffer.core.tiers import TIERS
from coffer.daemon.errors import ThreadFailed
from coffer.daemon.part import Given
from coffer.daemon.threads import in_thread
from coffer.daemon.worker import WorkerFailed
from coffer.disk.follow import Growth
from coffer.disk.places import Places
from coffer.disk.sessions import Found
from coffer.errors import CofferError
from coffer.store.guard_state import mode_of
from coffer.work.delivery.deliver import REHEARSAL, Asked
from coffer.work.guarding.keep import COMPACTION, LAST_CALL, NAMED, Saved, due, give, keep, name_draft, settle

if TYPE_CHECKING:
    from coffer.daemon.session import Session
    from coffer.daemon.standing import Standing

_LOG = logging.getLogger("coffer.daemon")
SMALL = 8 << 20
"""Bytes of a transcript up to which it is read here."""
BEFORE, BEHIND = 2.0, 0.2
"""Seconds that the answers to both hooks wait for it. The hook itself waits 0.3: before a compaction it has nothing to
lose by that, behind it the rules."""
JOB_SECONDS = 120.0
FLUSHED_SECONDS = 1.2
"""After a Stop, its last message is written (facts/claude-code §2)."""


class Keeping:
    """One for a daemon."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._thread = ThreadPoolExecutor(1, "keeping")
        self._alone = threading.Lock()  # who changes what is saved does it alone
        self._saving: dict[str, asyncio.Task[None]] = {}
        self._drafting: set[asyncio.Future[None]] = set()
        self._last_called: set[Path] = set()

    # --- what answers to hooks ask

    async def compacting(self, asked: Asked) -> None:
        """A compaction may begin: save the state, and wait a moment for it."""
        if asked.transcript is None or not self._concerns(asked):
            return
        if asked.agent != CLAUDE.name:  # it has no team and no list of tasks, but something to hand over
            self._drafted(asked.transcript, asked.environment, "")
            return
        await asyncio.wait({self._save(asked.transcript, asked.environment, COMPACTION)}, timeout=BEFORE)

    async def behind(self, asked: Asked) -> Callable[[str], str] | None:
        """What makes the text that comes back with the answer to the SessionStart of a compaction; None for nothing.

        It notes that the text goes out, so that it never does twice; where that can't be noted, it makes none.
        """
        if asked.source != "compact" or asked.agent != CLAUDE.name or not self._concerns(asked):
            return None
        assert asked.transcript is not None
        home, transcript = self._given.home, asked.transcript
        saving = self._saving.get(transcript.stem)
        if saving is not None:
            await asyncio.wait({saving}, timeout=BEHIND)
        try:
            back = await in_thread(self._thread, due, home, transcript.stem)
        except (CofferError, OSError, ThreadFailed) as error:
            _LOG.warning("a session's state can't be brought back: %s", error)
            return None

        def made(before: str) -> str:
            try:
                with self._alone:
                    newest = due(home, transcript.stem)  # its handoff may have been drafted meanwhile
                    return give(home, newest, transcript, before) if newest is not None else ""
            except (CofferError, OSError) as error:
                _LOG.warning("a session's state is not brought back, since that can't be noted: %s", error)
                return ""

        return made if back is not None else None

    def _concerns(self, asked: Asked) -> bool:
        """Whether this is a session's own conversation, and the person lets us at it."""
        if asked.child or asked.transcript is None or asked.session == REHEARSAL:
            return False
        return mode_of(self._given.home, asked.transcript.stem) != "off"

    # --- what it hears as a part

    def heard(self, asked: Asked, event: str) -> None:
        """A turn has ended: what was brought back stands in the transcript, or never will."""
        transcript = asked.transcript if event == "Stop" and asked.agent == CLAUDE.name else None
        if transcript is not None and self._concerns(asked):
            asyncio.get_running_loop().call_later(FLUSHED_SECONDS, self._settle, transcript)

    def grew(self, session: Session, growth: Growth) -> None:
        """Nothing."""

    def ended(self, session: Session, reason: str) -> None:  # noqa: ARG002  (as all parts hear it)
        """Its last call is forgotten with it."""
        self._last_called.discard(session.path)

    def swept(self, found: Sequence[Found]) -> None:
        """Nothing."""

    def stands(self, standing: Standing) -> None:
        """A session has come to the last tier: the client may compact it at any moment."""
        last = standing.tier is not None and standing.tier.name == TIERS[-1].name
        if not last or not standing.holders:  # of one that nobody has open nothing can be lost
            self._last_called.discard(standing.path)
        elif standing.agent == CLAUDE.name and standing.path not in self._last_called:
            self._last_called.add(standing.path)
            followed = self._given.sessions.get(standing.path)
            environment = followed.environment if followed is not None else self._given.environment
            if mode_of(self._given.home, standing.session) != "off":
                self._save(standing.path, environment, LAST_CALL)

    async def run(self) -> None:
        """Until cancelled; then the thread ends."""
        try:
            await asyncio.Event().wait()
        finally:
            self._thread.shutdown(wait=False, cancel_futures=True)

    # --- what it does

    def _save(self, transcript: Path, environment: Mapping[str, str], why: str) -> asyncio.Task[None]:
        task = asyncio.ensure_future(self._saved(transcript, environment, why, time.time()))
        self._saving[transcript.stem] = task
        task.add_done_callback(lambda done: self._over(transcript.stem, done))
        return task

    def _over(self, session: str, done: asyncio.Task[None]) -> None:
        if self._saving.get(session) is done:
            del self._saving[session]

    async def _saved(self, transcript: Path, environment: Mapping[str, str], why: str, now: float) -> None:
        checkpoint = ""
        try:
            checkpoint = await self._kept(transcript, environment, why, now)
        except (CofferError, OSError, ThreadFailed, WorkerFailed) as error:
            _LOG.warning("the state of %s can't be saved: %s", transcript.stem, error)
        self._drafted(transcript, environment, checkpoint)

    def _drafted(self, transcript: Path, environment: Mapping[str, str], checkpoint: str) -> None:
        drafting = asyncio.ensure_future(self._draft(transcript, environment, checkpoint))
        self._drafting.add(drafting)
        drafting.add_done_callback(self._drafting.discard)

    async def _kept(self, transcript: Path, environment: Mapping[str, str], why: str, now: float) -> str:
        """Save the state; the id of its checkpoint, "" where there was nothing to save."""
        if await in_thread(self._thread, _size, transcript) <= SMALL:
            moment = datetime.fromtimestamp(now, UTC)
            done = await in_thread(self._thread, self._keep, transcript, Places.of(environment), why, moment)
            checkpoint, trouble = done.checkpoint.id if done.checkpoint is not None else "", done.trouble
        else:
            job = {"job": "keep", "path": str(transcript), "environment": dict(environment), "why": why}
            answer = await self._given.worker.run({**job, "time": now}, JOB_SECONDS)
            checkpoint = str(answer.get("checkpoint", ""))
            trouble = str(answer.get("error", "") or answer.get("trouble", ""))
        if trouble:
            _LOG.warning("the state of %s: %s", transcript.stem, trouble)
        return checkpoint

    async def _draft(self, transcript: Path, environment: Mapping[str, str], checkpoint: str) -> None:
        """Draft the handoff; where that takes longer than the compaction, it is there and not named."""
        job = {"job": "draft", "path": str(transcript), "environment": dict(environment)}
        try:
            answer = await self._given.worker.run(job, JOB_SECONDS)
            if answer.get("error"):
                _LOG.warning("the handoff of %s is not drafted: %s", transcript.stem, answer["error"])
            if checkpoint and answer.get("outcome") in NAMED:
                await in_thread(self._thread, self._name, transcript.stem, checkpoint)
        except (CofferError, OSError, ThreadFailed, WorkerFailed) as error:
            _LOG.warning("the handoff of %s can't be drafted: %s", transcript.stem, error)

    def _keep(self, transcript: Path, places: Places, why: str, moment: datetime) -> Saved:
        with self._alone:
            return keep(self._given.home, transcript, places, why, moment)

    def _name(self, session: str, checkpoint: str) -> None:
        with self._alone:
            name_draft(self._given.home, session, checkpoint)

    def _settle(self, transcript: Path) -> None:
        with suppress(RuntimeError):  # the thread has ended with the daemon
            self._thread.submit(self._settled, transcript)

    def _settled(self, transcript: Path) -> None:
        try:
            with self._alone:
                found = settle(self._given.home, transcript.stem, transcript)
        except (CofferError, OSError) as error:
            _LOG.warning("whether a state arrived can't be seen: %s", error)
            return
        if found:
            _LOG.info("the state of %s after its compaction: %s", transcript.stem, found)


def _size(path: Path) -> int:
    return path.stat().st_size
