"""When the daemon does what: what it hears from hooks, from the file system and from the clock, and nothing else.

What is done stands elsewhere: `answers` (hooks), `chores` (a thread), `parts` (all that lives beside the answers).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coffer.daemon.answers import Answered, Answers
from coffer.daemon.chores import Chores, Context
from coffer.daemon.errors import ThreadFailed
from coffer.daemon.part import Given, live, tell
from coffer.daemon.parts import Parts, every_part
from coffer.daemon.session import Session
from coffer.daemon.sweep import Sweep
from coffer.daemon.times import (
    AFTER_EVENT,
    FIRST_SECONDS,
    MOST_FOLDERS,
    MOST_SESSIONS,
    PUBLISH_SECONDS,
    RESCAN_SECONDS,
    RETRY_SECONDS,
    TAKE_SECONDS,
    UNCONFIRMED,
    Look,
)
from coffer.daemon.watch import Watch
from coffer.daemon.worker import Worker
from coffer.disk.follow import peek
from coffer.disk.places import Places
from coffer.disk.project import project_of
from coffer.errors import CofferError
from coffer.store.deliveries import Delivery
from coffer.store.home import Home
from coffer.work.delivery.deliver import REHEARSAL, Asked
from coffer.work.delivery.held import child_file
from coffer.work.rules.effective import user_home

_LOG = logging.getLogger("coffer.daemon")


class Loop:
    """One for a daemon. Everything in it happens on the event loop."""

    def __init__(
        self,
        home: Home,
        environment: Mapping[str, str],
        worker: Worker,
        made: Callable[[Given], Parts] = every_part,
    ) -> None:
        self._home, self._environment = home, environment
        self.worker = worker
        self.answers = Answers(home, environment)
        self.chores = Chores(home, self.answers.world, self.answers.outbox)
        self.sweep = Sweep(home, self.chores)
        self.sessions: dict[Path, Session] = {}
        self.contexts: dict[Path, Context] = {}
        self._folders: dict[Path, None] = {}
        self._taking: set[Places] = set()
        self._places = {Places.of(environment): dict(environment)}
        self._looks: dict[Path, Look] = {}
        self._looked, self._publish, self._sent, self._spool = (asyncio.Event() for _ in range(4))
        self._force = False
        self.watch = Watch(self._look, self._publish.set, self._spool.set)
        world = self.answers.world
        self.parts = made(
            Given(home, environment, worker, self.chores, world, self.sessions, self._republish)
        )
        self.answers.keeping = self.parts.keeping

    # --- what it hears

    async def event(self, agent: str, event: str, body: bytes, headers: dict[str, str]) -> Answered:
        """A hook's event; the answer to it."""
        answered = await self.answers.reply(agent, event, body, headers)
        if answered.asked is not None:
            self._hear(answered.asked, event, answered)
        return answered

    async def context(self, agent: str, folder: Path) -> dict[str, Any]:
        """What a session in a folder would be sent."""
        return await self.answers.context(agent, folder)

    async def ended(self, agent: str, session: str) -> bool:
        """A session is over."""
        known = self.sessions.values()
        mine = [one for one in known if one.agent == agent and session in (one.session, one.path.stem)]
        for one in mine:
            self._end(one, one.environment, "")
        return bool(mine)

    def _hear(self, asked: Asked, event: str, answered: Answered) -> None:
        if answered.deliveries:
            self._sent.set()
        for one in answered.deliveries:
            self._open(one, asked.places)
        if event in ("SessionStart", "UserPromptSubmit"):
            self._settle_in(asked.folder)
        if event == "SessionStart":
            self._take(asked.places, asked.environment)
        self._know(asked.environment)
        if asked.transcript is not None and event in AFTER_EVENT:
            self._follow(asked, asked.transcript, event, answered.source)
        if asked.session != REHEARSAL:
            tell(self.parts, lambda part: part.heard(asked, event))

    def _follow(self, asked: Asked, transcript: Path, event: str, reason: str) -> None:
        session = self._session(asked.agent, transcript, asked.environment)
        session.folder, session.session = str(asked.folder), asked.session
        session.event, session.heard = event, time.time()
        if event == "SessionEnd":
            self._end(session, asked.environment, reason)
            return
        for delay in AFTER_EVENT[event]:
            settled = event == "Stop" and delay == AFTER_EVENT[event][-1]
            self._later(delay, transcript, Look(settled=settled))

    def _know(self, environment: Mapping[str, str]) -> None:
        """Sessions with this environment keep their files in folders that are followed from now on."""
        places = Places.of(environment)
        if places not in self._places:
            self._places[places] = dict(environment)
            self.watch.below(self._places)

    def _end(self, session: Session, environment: Mapping[str, str], reason: str) -> None:
        self._take(Places.of(environment), environment)
        for delay in AFTER_EVENT["SessionEnd"]:
            self._later(delay, session.path, Look(settled=True, ended=True))
        tell(self.parts, lambda part: part.ended(session, reason))

    def _take(self, places: Places, environment: Mapping[str, str]) -> None:
        """Settle the person's own digest: once for all sessions that begin or end in this moment."""
        if places not in self._taking:
            self._taking.add(places)
            self._soon(self._taken(places, environment))

    async def _taken(self, places: Places, environment: Mapping[str, str]) -> None:
        await asyncio.sleep(TAKE_SECONDS)
        self._taking.discard(places)
        await self.chores.run(self.chores.take, environment)

    def _session(self, agent: str, path: Path, environment: Mapping[str, str]) -> Session:
        known = self.sessions.get(path)
        if known is None:
            while len(self.sessions) >= MOST_SESSIONS:
                del self.sessions[next(iter(self.sessions))]
            known = self.sessions[path] = Session(agent, path, dict(environment))
        return known

    def _settle_in(self, folder: Path) -> None:
        """A session works in a folder: its bundle is to lie ready, and its digest is watched."""
        if folder in self._folders:
            return
        while len(self._folders) >= MOST_FOLDERS:
            del self._folders[next(iter(self._folders))]
        self._folders[folder] = None
        self._force = True
        self._publish.set()

    def _republish(self, projects: Iterable[Path], changed: bool) -> None:  # noqa: FBT001  (of a part)
        for project in projects:
            self._settle_in(project)
        if changed:
            self._force = True
            self._publish.set()

    def _open(self, delivery: Delivery, places: Places) -> None:
        if delivery.state != "sent" or not delivery.transcript:
            return
        path = Path(delivery.transcript)
        file = child_file(delivery.agent, path, delivery.child)
        self.contexts.setdefault(file, Context(delivery.agent, path, delivery.child, places))

    def _later(self, delay: float, path: Path, look: Look) -> None:
        asyncio.get_running_loop().call_later(delay, self._look, path, look)

    def _look(self, path: Path, look: Look = Look()) -> None:  # noqa: B008  (a frozen value)
        before = self._looks.get(path, Look())
        self._looks[path] = Look(before.settled or look.settled, before.ended or look.ended)
        self._looked.set()

    def _soon(self, what: Awaitable[Any]) -> None:
        async def done() -> None:
            try:
                await what
            except (CofferError, OSError) as error:
                _LOG.warning("%s", error)

        task = asyncio.ensure_future(done())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    _tasks: set[asyncio.Future[Any]]

    # --- what it does

    async def run(self, stopping: asyncio.Event) -> None:
        """Until the daemon stops."""
        self._tasks = set()
        with suppress(ThreadFailed):  # what can't be taken over is not worth a daemon
            await self.chores.run(self.answers.begin)
        for one in self.answers.world.recent:
            self._open(one, Places.of(self._environment))
        self.watch.begin(self._home, self._environment, self._places)
        for event in (self._spool, self._publish):
            event.set()
        self._force = True
        async with asyncio.TaskGroup() as group:
            steps = (
                self._looking,
                self._publishing,
                self._saving,
                self._spooling,
                self._rescanning,
                self.watch.run,
            )
            tasks = [group.create_task(step()) for step in steps]
            tasks += [group.create_task(live(part)) for part in self.parts]
            await stopping.wait()
            for task in tasks:
                task.cancel()

    async def close(self) -> None:
        """Let go of everything; what was sent is written."""
        self.watch.end()
        await self.worker.finish()
        await asyncio.get_running_loop().run_in_executor(None, self._close)

    def _close(self) -> None:
        self.answers.close()
        self.chores.close()

    async def _looking(self) -> None:
        """Look at transcripts that may have grown."""
        while True:
            await self._looked.wait()
            self._looked.clear()
            looks, self._looks = self._looks, {}
            for path, look in looks.items():
                try:
                    await self._grown(path, look)
                except ThreadFailed:
                    self.contexts.pop(
                        path, None
                    )  # the same look would fail again: it is not looked for any more

    async def _grown(self, path: Path, look: Look) -> None:
        context = self.contexts.get(path)
        agent, _ = self.watch.whose(path)
        if agent:
            session = self._session(agent, path, self._environment_of(path))
            session.agent = agent
            session.followed, growth = await self.chores.run(self.chores.grown, agent, path, session.followed)
            if growth.grew or growth.replaced:
                tell(self.parts, lambda part: part.grew(session, growth))
        if context is not None:
            await self._confirm(path, context, look)

    async def _confirm(self, path: Path, context: Context, look: Look) -> None:
        try:
            changed = await self.chores.run(self.chores.confirmed, context, look.settled, look.ended)
        except ThreadFailed:
            raise
        except (CofferError, OSError) as error:
            _LOG.warning("deliveries can't be judged: %s", error)
            self._later(RETRY_SECONDS, path, look)
            return
        if changed:
            await self.answers.note(changed)
            for one in changed:
                _LOG.info("%s of %s: %s", one.event, one.session or "a session", one.state)
        left = [
            one
            for one in self.answers.world.recent
            if one.state == "sent"
            and one.transcript == str(context.transcript)
            and one.child == context.child
        ]
        if not left:
            self.contexts.pop(path, None)

    def _environment_of(self, path: Path) -> Mapping[str, str]:
        """The environment of the sessions that keep their files there."""
        _, places = self.watch.whose(path)
        return self._places.get(places, self._environment) if places is not None else self._environment

    async def _publishing(self) -> None:
        """Bring the files of hooks without a daemon up to date."""
        while True:
            await self._publish.wait()
            await asyncio.sleep(PUBLISH_SECONDS)
            self._publish.clear()
            force, self._force = self._force, False
            try:
                written = await self.chores.run(self.chores.publish, list(self._folders), force)
            except ThreadFailed:
                continue
            if written:
                user = user_home(self._environment)
                projects = {project_of(folder, user) for folder in self._folders}
                self.watch.digests_of(root for root in projects if root is not None)

    async def _saving(self) -> None:
        """Write what was sent into the database."""
        while True:
            await self._sent.wait()
            self._sent.clear()
            try:
                await self.chores.run(self.chores.flush)
            except CofferError as error:
                _LOG.warning("deliveries can't be saved: %s", error)
                await asyncio.sleep(RETRY_SECONDS)
                self._sent.set()

    async def _spooling(self) -> None:
        """Take in what hooks answered without us."""
        while True:
            await self._spool.wait()
            self._spool.clear()
            try:
                taken = await self.answers.spooled()
            except ThreadFailed:
                continue  # the next sweep tries again
            except CofferError as error:
                _LOG.warning("the spool can't be taken in: %s", error)
                await asyncio.sleep(RETRY_SECONDS)
                self._spool.set()
                continue
            for one, environment in taken:
                self._know(environment)
                self._open(one, Places.of(environment))
                if one.project:
                    self._settle_in(Path(one.project))
                if one.transcript:
                    self._look(Path(one.transcript))
            if taken:
                self._soon(self._unheld())  # of sessions that are over nothing else will tell

    async def _rescanning(self) -> None:
        """Look at everything once in a while: the guarantee where events and watches are not."""
        while True:
            missing = self.watch.missing()  # before the sweep: what comes during it is not passed over
            try:
                await self._sweep()
            except (CofferError, OSError) as error:
                _LOG.warning("not all sessions can be looked at: %s", error)
            self._spool.set()
            self._publish.set()
            until = time.monotonic() + RESCAN_SECONDS
            while time.monotonic() < until:
                await asyncio.sleep(FIRST_SECONDS if missing else RESCAN_SECONDS)
                if missing != self.watch.missing():  # an agent's very first session makes the folder
                    break

    async def _sweep(self) -> None:
        swept = await self.sweep.step(list(self._places), self.sessions)
        for path in swept.grown:
            self._look(path)
        for one in swept.new:
            session = self._session(one.agent, one.path, self._environment_of(one.path))
            session.followed = peek(one.path)
            session.mark(time.monotonic())
        tell(self.parts, lambda part: part.swept(swept.found))
        self._forget()
        self.watch.below(self._places)

    def _forget(self) -> None:
        """What was sent a day ago and never arrived is not looked for any more."""
        old = (datetime.now(UTC) - UNCONFIRMED).timestamp()
        recent = {one.transcript for one in self.answers.world.recent if one.moment > old}
        for path, context in list(self.contexts.items()):
            if str(context.transcript) not in recent:
                del self.contexts[path]
        self._soon(self._unheld())

    async def _unheld(self) -> None:
        """What was sent to clients that have gone without a word is judged by what they left."""
        contexts = list(self.contexts.items())
        gone = await self.chores.run(self.chores.left, [one for _, one in contexts])
        for path, context in contexts:
            if any(one is context for one in gone):
                self._look(path, Look(settled=True, ended=True))
