"""What the file system tells of: transcripts, the spool, digests. It may tell late or not at all; the loop knows."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from watchfiles import Change, awatch

from coffer.disk.admitted import roots
from coffer.disk.places import Places
from coffer.disk.project import FOLDER, user_digest
from coffer.store.home import Home
from coffer.work.rules.effective import user_home

_LOG = logging.getLogger("coffer.daemon")
STEP = 250
"""Milliseconds between looks at what the system has told of transcripts. A process that rests is woken by these."""
STEP_FOR_DIGESTS = 1000
TIMEOUT = 60_000
_RETRY_SECONDS = 60.0
_AGENTS = ("claude", "codex")


class Watch:
    """Watches until it is ended. changed: called with a transcript; digest, spool: called when one changed."""

    def __init__(
        self, changed: Callable[[Path], None], digest: Callable[[], None], spool: Callable[[], None]
    ) -> None:
        self._changed, self._digest, self._spooled = changed, digest, spool
        self._spool = self._memory = Path("/")
        self._user = Path("/")
        self._places: list[Places] = []
        self._projects: set[Path] = set()
        self._real: dict[tuple[str, Places], tuple[Path, ...]] = {}
        self._sessions, self._digests = _Renewed(STEP), _Renewed(STEP_FOR_DIGESTS)

    def begin(self, home: Home, environment: Mapping[str, str], places: Iterable[Places]) -> None:
        """What to watch. Makes the spool's folder, since what is not there can't be watched."""
        self._spool, self._memory = home.make(home.root / "spool"), home.root / "memory"
        self._user = user_digest(user_home(environment)).parent
        self.below(places)
        self.digests_of(())

    def below(self, places: Iterable[Places]) -> None:
        """Watch the transcripts of these places, as far as their folders are there."""
        self._places = list(places)
        self._real.clear()
        below = {root for each in self._places for agent in _AGENTS for root in self.real_roots(agent, each)}
        self._sessions.renew({path for path in (*below, self._spool) if path.is_dir()})

    def missing(self) -> int:
        """How many folders of transcripts are not there."""
        return sum(
            not root.is_dir()
            for each in self._places
            for agent in _AGENTS
            for root in self.real_roots(agent, each)
        )

    def digests_of(self, projects: Iterable[Path]) -> None:
        """Watch the digests of these projects too, and lanes and the person's own."""
        self._projects |= set(projects)
        folders = {self._user, self._memory, *(root / FOLDER for root in self._projects)}
        self._digests.renew({path for path in folders if path.is_dir() and not path.is_symlink()})

    def real_roots(self, agent: str, places: Places) -> tuple[Path, ...]:
        """The folders of an agent's transcripts, links resolved, as the system names what changes in them."""
        key = agent, places
        if key not in self._real:
            self._real[key] = tuple(Path(os.path.realpath(root)) for root in roots(agent, places))
        return self._real[key]

    def whose(self, path: Path) -> tuple[str, Places | None]:
        """The agent of a session's own transcript, "" for a subagent's file and any other; and below which places."""
        for places in self._places:
            for agent in _AGENTS:
                for root in self.real_roots(agent, places):
                    if path.is_relative_to(root):
                        return (agent if _is_session(agent, root, path) else ""), places
        return "", None

    async def run(self) -> None:
        """Watch, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._sessions.run(self._on_sessions))
            group.create_task(self._digests.run(self._on_digests))

    def end(self) -> None:
        """Let the threads end that wait for the system."""
        self._sessions.stop.set()
        self._digests.stop.set()

    def _on_sessions(self, paths: set[str]) -> None:
        for said in paths:
            path = Path(said)
            if path.parent == self._spool:
                self._spooled()
            elif path.suffix == ".jsonl":
                self._changed(path)

    def _on_digests(self, paths: set[str]) -> None:
        if any(path.endswith(".md") for path in paths):
            self._digest()


class _Renewed:
    """A watch over folders that can be exchanged while it runs."""

    def __init__(self, step: int) -> None:
        self.stop = asyncio.Event()
        self._step = step
        self._folders: frozenset[Path] = frozenset()
        self._new = asyncio.Event()

    def renew(self, folders: set[Path]) -> None:
        """Watch these from now on."""
        if folders != self._folders:
            self._folders = frozenset(folders)
            self.stop.set()
            self._new.set()

    async def run(self, told: Callable[[set[str]], None]) -> None:
        """Watch, until cancelled."""
        while True:
            await self._new.wait()
            self._new.clear()
            self.stop = asyncio.Event()
            if not self._folders:
                continue
            try:
                async for changes in awatch(
                    *sorted(self._folders),
                    watch_filter=_wanted,
                    debounce=2 * self._step,
                    step=self._step,
                    rust_timeout=TIMEOUT,
                    stop_event=self.stop,
                    recursive=True,
                    ignore_permission_denied=True,
                ):
                    told({path for _, path in changes})
            except (OSError, RuntimeError) as error:
                # too many watches, or a folder that went: the rescan goes on finding what is new
                _LOG.warning("the file system can't be watched: %s", error)
                await asyncio.sleep(_RETRY_SECONDS)
                self._new.set()


def _is_session(agent: str, root: Path, path: Path) -> bool:
    """Whether it is a session's own: a subagent's file lies deeper, an old one's begins with "agent-"."""
    if path.suffix != ".jsonl":
        return False
    if agent == "codex":
        return path.name.startswith("rollout-")
    return path.parent.parent == root and not path.name.startswith("agent-")


def _wanted(change: Change, path: str) -> bool:
    """Transcripts and digests that were written, and whatever is in the spool."""
    return change != Change.deleted and (path.endswith((".jsonl", ".md")) or "/spool/" in path)
