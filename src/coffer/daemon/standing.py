"""How every followed session stands: a part that reads what is new in each, and the end of one that it meets.

A transcript is never read whole here: of one that is met, or that grew by more than MOST at once, only the end is.
What the clients' registry and the last Stop say is read again at each event and each sweep.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coffer.agents.table import AGENTS, CLAUDE
from coffer.core.evidence import Call
from coffer.core.record import Record
from coffer.core.settings import Settings
from coffer.core.standing import Tally
from coffer.core.tiers import Tier, tier_of
from coffer.core.usage import WindowMeasure
from coffer.daemon.errors import ThreadFailed
from coffer.daemon.part import Given
from coffer.daemon.session import Session
from coffer.disk.admitted import opened_unlinked
from coffer.disk.follow import Followed, Growth, goes_on, stand
from coffer.disk.live import Holder
from coffer.disk.places import Places
from coffer.disk.sessions import MAIN, Found
from coffer.disk.tail_lines import TailLines, last_lines
from coffer.errors import SettingsBroken
from coffer.store.hook_events import last_stop
from coffer.work.delivery.deliver import Asked
from coffer.work.rules.effective import guard_at
from coffer.work.sessions.holders import Holders
from coffer.work.sessions.window import report_of
from coffer.work.settings import load

_LOG = logging.getLogger("coffer.daemon")
MOST = 4 << 20
"""New bytes that are read at once; of more than that only the end is."""
TAILS = (1 << 18, MOST)
"""Bytes of a transcript's end that are read when it is met: more where the first hold no answer that counts."""
HEAD = 1 << 14
KEPT_SECONDS = 0.3
"""After an event, what is kept of it has been written."""
MOST_KEPT = 500
_EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "SubagentStop", "Notification")


@dataclass(frozen=True, slots=True)
class Standing:
    """A session at one moment. used: tokens in its context, None where nothing says so. size: bytes that were seen.

    unsure: a person rewound since; whole: all of the file was read, not only its end. open: calls without result, in
    what was read. turning, ended: whether a turn goes on by what was written, and when the last one ended. stopped,
    background: when the client said so last, and what it listed as going on then. holders: the living clients that have
    it open. rules: how many rule lines its context holds; None where nobody looked. Times: Unix seconds.
    """

    agent: str
    session: str
    path: Path
    folder: str
    model: str
    used: int | None
    window: WindowMeasure
    tier: Tier | None
    size: int
    unsure: bool
    whole: bool
    open: tuple[Call, ...] = ()
    turning: bool = False
    ended: float | None = None
    stopped: float | None = None
    background: tuple[Mapping[str, Any], ...] = ()
    holders: tuple[Holder, ...] = ()
    rules: int | None = None

    @property
    def share(self) -> float:
        """Part of the window that is used."""
        return (self.used or 0) / self.window.tokens if self.window.tokens else 0.0

    @property
    def idle(self) -> bool:
        """A hint, no verdict: every client that has it open says idle, and nothing that was read says otherwise."""
        said = {holder.status for holder in self.holders}
        quiet = (
            said == {"idle"} if self.agent == CLAUDE.name else bool(self.holders)
        )  # Codex says nothing of it
        return quiet and not self.open and not self.turning


@dataclass(slots=True)
class _State:
    """How far a transcript was read, and what was read of it."""

    tally: Tally
    followed: Followed | None = None
    whole: bool = False
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Due:
    """A session to be looked at."""

    agent: str
    path: Path
    environment: Mapping[str, str] = field(repr=False)


class Standings:
    """The part. Its answers are those of the last look, at most a second behind the file."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._states: dict[Path, _State] = {}  # this and the next: in the thread of the chores alone
        self._seen: dict[Path, Due] = {}
        self._known: dict[Path, Standing] = {}
        self._due: dict[Path, Due] = {}
        self._open: tuple[Found, ...] = ()
        self._woken = asyncio.Event()
        self._told: list[Callable[[Standing], None]] = []

    # --- what it is asked

    def standing_of(self, path: Path) -> Standing | None:
        """How a session stands; None for one that was never looked at."""
        return self._known.get(path)

    def every(self) -> list[Standing]:
        """All of them."""
        return list(self._known.values())

    def listen(self, told: Callable[[Standing], None]) -> None:
        """Have something called with each new standing, on the event loop."""
        self._told.append(told)

    # --- what it hears

    def heard(self, asked: Asked, event: str) -> None:
        """The client says where a turn is."""
        if asked.transcript is not None and not asked.child and event in _EVENTS:
            due = Due(asked.agent, asked.transcript, asked.environment)
            asyncio.get_running_loop().call_later(KEPT_SECONDS, self._look, due)

    def grew(self, session: Session, growth: Growth) -> None:  # noqa: ARG002  (as all parts hear it)
        """There is something to read."""
        self._look(Due(session.agent, session.path, session.environment))

    def ended(self, session: Session, reason: str) -> None:  # noqa: ARG002
        """Nobody holds it in a moment."""
        due = Due(session.agent, session.path, session.environment)
        asyncio.get_running_loop().call_later(KEPT_SECONDS, self._look, due)

    def swept(self, found: Sequence[Found]) -> None:
        """Every session that a client has open is looked at, also one that nothing was heard of."""
        self._open = tuple(one for one in found if one.kind == MAIN)
        self._woken.set()

    async def run(self) -> None:
        """Look at what is due, until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            due, self._due = self._due, {}
            found, self._open = self._open, ()
            with suppress(ThreadFailed):  # it is in the log; the next growth is another look
                if found:
                    sessions = list(self._given.sessions.values())
                    due |= await self._given.chores.run(self._held, found, sessions)
                for standing in await self._given.chores.run(self._looked, list(due.values())):
                    self._keep(standing)

    def _look(self, due: Due) -> None:
        if due.agent in AGENTS:
            self._due[due.path] = due
            self._woken.set()

    def _keep(self, standing: Standing) -> None:
        before = self._known.pop(standing.path, None)
        self._known[standing.path] = standing
        while len(self._known) > MOST_KEPT:
            del self._known[next(iter(self._known))]
        for told in self._told if standing != before else ():
            told(standing)

    # --- in the thread of the chores

    def _held(self, found: Sequence[Found], sessions: Sequence[Session]) -> dict[Path, Due]:
        """Those that a client has open, and those that were looked at before."""
        environments = {one.places: one.environment for one in sessions}
        environments.setdefault(Places.of(self._given.environment), self._given.environment)
        due = {one.path: one for one in self._seen.values()}
        for places, environment in environments.items():
            held = Holders(places)
            for one in found:
                path = Path(os.path.realpath(one.path.parent)) / one.path.name
                if path not in due and held.of(one.agent, one.id):
                    due[path] = Due(one.agent, path, environment)
        return due

    def _looked(self, due: Iterable[Due]) -> list[Standing]:
        settings = Settings()
        with suppress(SettingsBroken):  # the defaults stay; every command tells what is wrong
            settings = load(self._given.home)
        held: dict[Places, Holders] = {}
        found = []
        for one in due:
            state = self._read(one)
            if state is None:
                continue
            places = Places.of(one.environment)
            found.append(self._stands(one, state, held.setdefault(places, Holders(places)), settings))
        return found

    def _read(self, due: Due) -> _State | None:
        """Read what is new; None where there is no such file."""
        state = self._states.pop(due.path, None) or _State(Tally(due.agent))
        with opened_unlinked(due.path) as descriptor:
            if descriptor is None:
                self._seen.pop(due.path, None)
                return None
            size = os.fstat(descriptor).st_size
            on = state.followed is not None and goes_on(descriptor, state.followed)
            if on and state.followed is not None and size - state.followed.offset <= MOST:
                self._on(state, descriptor, size)
            else:
                state = _met(due.agent, descriptor, size)
        self._states[due.path], self._seen[due.path] = state, due
        while len(self._states) > MOST_KEPT:
            oldest = next(iter(self._states))
            del self._states[oldest], self._seen[oldest]
        return state

    def _on(self, state: _State, descriptor: int, size: int) -> None:
        assert state.followed is not None
        if size == state.followed.size:
            return
        lines = TailLines(descriptor, state.followed.offset, size)
        for offset, line in lines:
            _hear(state.tally, line, offset)
        state.followed = stand(descriptor, lines.end, size)

    def _stands(self, due: Due, state: _State, held: Holders, settings: Settings) -> Standing:
        tally, path = state.tally, due.path
        session = path.stem if due.agent == CLAUDE.name else path.stem[-36:]
        reported = report_of(session, due.environment) if due.agent == CLAUDE.name else None
        window = tally.window(reported, due.environment)
        used = tally.tokens
        stop = last_stop(self._given.home, session) if due.agent == CLAUDE.name else None
        context = self._given.world.holdings(Places.of(due.environment)).known(due.agent, path)
        followed = self._given.sessions.get(path)
        folder = (followed.folder if followed is not None else "") or state.folder
        tiers = guard_at(settings, folder, due.environment).tiers
        return Standing(
            agent=due.agent,
            session=session,
            path=path,
            folder=folder,
            model=tally.model,
            used=used,
            window=window,
            tier=tier_of(used / window.tokens * 100, tiers) if used else None,
            size=state.followed.size if state.followed is not None else 0,
            unsure=tally.unsure,
            whole=state.whole,
            open=tally.open,
            turning=tally.turning,
            ended=tally.ended,
            stopped=stop[0] if stop is not None else None,
            background=stop[1] if stop is not None else (),
            holders=tuple(held.of(due.agent, session)),
            rules=len(context.rules) if context is not None else None,
        )


def _met(agent: str, descriptor: int, size: int) -> _State:
    """The end of a transcript that was not read before."""
    state = _State(Tally(agent))
    for most in TAILS:
        lines = list(last_lines(descriptor, size, most))
        state.tally, state.whole = Tally(agent), size <= most
        for offset, line in reversed(lines):
            _hear(state.tally, line, offset)
        if state.tally.tokens is not None or state.whole:
            break
    end = lines[0][0] + len(lines[0][1]) if lines else 0
    state.followed = stand(descriptor, end, size)
    head, tail = os.pread(descriptor, HEAD, 0), os.pread(descriptor, HEAD, max(0, size - HEAD))
    state.folder = AGENTS[agent].about(head, tail).cwd
    return state


def _hear(tally: Tally, line: bytes, offset: int) -> None:
    for found in AGENTS[tally.agent].translate(line, offset):
        if isinstance(found, Record):
            tally.hear(found)


def as_json(standing: Standing) -> dict[str, Any]:
    """A standing for programs (docs/formats.md)."""
    return {
        "model": standing.model,
        "tokens": standing.used,
        "window": standing.window.tokens,
        "window_source": standing.window.source,
        "window_used": round(standing.share, 4),
        "tier": standing.tier.name if standing.tier is not None else None,
        "size": standing.size,
        "unsure": standing.unsure,
        "whole": standing.whole,
        "open_calls": [{"tool": call.tool, "id": call.id, "time": call.time} for call in standing.open],
        "turning": standing.turning,
        "turn_ended": standing.ended,
        "stopped": standing.stopped,
        "background": [dict(task) for task in standing.background],
        "live": [
            {"pid": one.pid, "status": one.status, "waiting_for": one.waiting_for} for one in standing.holders
        ],
        "idle": standing.idle,
        "rules_held": standing.rules,
    }
