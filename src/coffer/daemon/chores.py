"""What the daemon does beside answering, in a thread of its own, one thing after the other."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from coffer.daemon.threads import in_thread
from coffer.disk.follow import Followed, Growth, follow, peek
from coffer.disk.places import Places
from coffer.disk.project import digest_file, user_digest
from coffer.disk.sessions import Found, find_sessions
from coffer.errors import CofferError
from coffer.store.db import database
from coffer.store.deliveries import Delivery
from coffer.store.home import Home
from coffer.store.sent import Outbox
from coffer.work.delivery.bundle_files import published
from coffer.work.delivery.bundles import NO_PROJECT, publish_all
from coffer.work.delivery.confirm import Progress, confirm
from coffer.work.delivery.deliver import World
from coffer.work.rules.effective import user_home
from coffer.work.rules.lane import lane_folder
from coffer.work.rules.trust import take
from coffer.work.sessions.holders import Holders

_LOG = logging.getLogger("coffer.daemon")
MOST_ROOTS = 300
"""Projects whose bundles lie ready for hooks without a daemon."""
LARGEST_MET = 8 << 20
"""Bytes of a transcript that was never looked at, up to which it is read through to tell whether it is worth a job."""
_Result = TypeVar("_Result")


@dataclass(slots=True)
class Context:
    """A context into which something was sent that is not confirmed. transcript: as deliveries name it."""

    agent: str
    transcript: Path
    child: str
    places: Places
    progress: Progress = field(default_factory=Progress)


class Chores:
    """One for a daemon. Every method but `run` and `close` is called in the thread, by `run`."""

    def __init__(self, home: Home, world: World, outbox: Outbox) -> None:
        self._home, self._world, self._outbox = home, world, outbox
        self._thread = ThreadPoolExecutor(1, "chores")
        self._stamp: object = None

    async def run(self, what: Callable[..., _Result], *arguments: object) -> _Result:
        """Do something in the thread. Raises what it raises, and ThreadFailed."""
        return await in_thread(self._thread, what, *arguments)

    def close(self) -> None:
        """Wait for what is being done, and write what was sent."""
        self._thread.shutdown(cancel_futures=True)
        with suppress(CofferError):  # it stays in the outbox's file, for the next daemon
            self._outbox.flush()

    def flush(self) -> int:
        """Write what was sent into the database. Raises StoreFailed."""
        return self._outbox.flush()

    def grown(self, agent: str, path: Path, before: Followed | None) -> tuple[Followed | None, Growth]:
        """What is new in a transcript. A large one that is met is not read through: it may hold a person's words."""
        try:
            now = peek(path) if before is None else None
            if now is not None and now.size > LARGEST_MET:
                return now, Growth(exists=True, grew=True, person=True)
            return follow(agent, path, before)
        except OSError as error:
            _LOG.warning("%s can't be followed: %s", path, error.strerror)
            return before, Growth()

    def confirmed(
        self,
        context: Context,
        settled: bool,  # noqa: FBT001  (called by `run`)
        ended: bool,  # noqa: FBT001
    ) -> list[Delivery]:
        """Judge what was sent into a context; what changed. Raises StoreFailed."""
        self._outbox.flush()
        holdings = self._world.holdings(context.places)
        context.progress, changed = confirm(
            self._home,
            holdings,
            context.agent,
            context.transcript,
            context.child,
            context.progress,
            settled=settled,
            ended=ended,
        )
        return changed

    def take(self, environment: Mapping[str, str]) -> None:
        """Settle what the person wrote into their own digest, while it can be told that no agent was there."""
        try:
            if take(self._home, environment) is not None:
                _LOG.info("what the person wrote into their own digest is trusted")
        except CofferError as error:
            _LOG.warning("the person's own digest can't be settled: %s", error)

    def publish(self, folders: Iterable[Path], force: bool) -> bool:  # noqa: FBT001  (called by `run`)
        """Write the files of hooks without a daemon, where what they come from changed; whether they were written."""
        roots = dict.fromkeys(Path(row.root) for row in published(self._home) if row.root != NO_PROJECT)
        roots |= dict.fromkeys(folders)
        chosen = list(roots)[-MOST_ROOTS:]
        stamp = self._stamped(chosen)
        if stamp == self._stamp and not force:
            return False
        try:
            publish_all(self._home, self._world.environment, chosen)
        except CofferError as error:
            _LOG.warning("bundle files can't be written: %s", error)
            return False
        self._stamp = stamp
        return True

    def _stamped(self, roots: list[Path]) -> object:
        user = user_home(self._world.environment)
        lanes = [lane_folder(self._home, None), *(lane_folder(self._home, root) for root in roots)]
        files = [user_digest(user), *map(digest_file, roots), self._home.database, *lanes]
        for lane in lanes:
            with suppress(OSError):
                files += sorted(lane.iterdir())
        return tuple(roots), tuple(map(_state_of, files))

    def sessions(self, places: Iterable[Places]) -> list[Found]:
        """All transcripts below these places, newest first."""
        return [found for each in places for found in find_sessions(each)]

    def heard(self) -> dict[str, tuple[int, int]]:
        """How far each transcript was learned from: path → inode and offset. Raises StoreFailed."""
        if not self._home.database.exists():
            return {}
        with database(self._home, write=False) as connection:
            rows = connection.execute("SELECT path, inode, offset FROM heard")
            return {str(path): (int(inode), int(offset)) for path, inode, offset in rows}

    def left(self, contexts: Iterable[Context]) -> list[Context]:
        """Those that no client has open any more."""
        held: dict[Places, Holders] = {}
        found = []
        for one in contexts:
            looked = held.setdefault(one.places, Holders(one.places))
            if not looked.of(one.agent, _session_of(one)):
                found.append(one)
        return found


def _session_of(context: Context) -> str:
    """The session's id in a transcript's name: Codex puts a time before it."""
    return context.transcript.stem[-36:] if context.agent == "codex" else context.transcript.stem


def _state_of(path: Path) -> tuple[int, ...]:
    try:
        found = os.stat(path)  # noqa: PTH116  (many at once)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
