"""What the launcher does besides carrying bytes: it follows the screen, answers at its door, and reloads.

Nothing here is needed for the session to go on. The screen is followed when nothing else is to be done, so a key
never waits for the emulator longer than for one small piece.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coffer.core.input_line import read_prompt
from coffer.core.last_words import is_shown
from coffer.core.typed_reload import (
    DRY,
    REFUSED,
    SETTLE_SECONDS,
    TYPED,
    Outcome,
    Reload,
    Sight,
    obstacles,
    restart_obstacles,
)
from coffer.disk.client_status import ClientStatus, client_status
from coffer.disk.places import Places
from coffer.launch.child import Child
from coffer.launch.door import Caller, Door
from coffer.launch.program import restarted
from coffer.launch.screen import Screen
from coffer.work.guarding.runs import RELOAD, RESTART, RESTART_SECONDS, STATE, UNSURE

_PIECE = 4096
_MOST_BEHIND = 2_000_000
"""Bytes of output that wait for the emulator at most; beyond, the screen is unknown until it is drawn anew."""
_SOON = 65_536
_MOST_HELD = 1_000_000
_RELEASE_SECONDS = 0.015
"""Between two held keys: a client takes keys that come in one piece for a paste, and their Enter for a line end."""
_STEP_SECONDS = 0.02
_LOOK_SECONDS = 0.0095
"""Between two looks at the screen: with each piece of a long output it would be read in vain."""
_ASK_AGAIN_SECONDS = 0.1
_LONGEST_WAIT = 600.0


@dataclass(frozen=True, slots=True)
class Run:
    """What is run, where. arguments: the agent's own."""

    name: str
    agent: str
    program: str
    arguments: tuple[str, ...]
    folder: Path
    places: Places


@dataclass(slots=True)
class _Wish:
    """A request that is being carried out. until: how long it may wait for a safe moment."""

    caller: Caller
    kind: str
    session: str
    settle: float
    until: float
    model: str = ""
    words: str = ""
    machine: Reload | None = None
    asked_at: float = 0.0


@dataclass(slots=True)
class Attendant:
    """One run's attendant. A loop calls it; it never blocks."""

    run: Run
    door: Door | None
    screen: Screen
    child: Child | None = None
    again: list[str] | None = None
    """Arguments with which the loop is to end the agent and start it anew."""
    redraw: bool = False
    """Whether the loop is to have the agent draw anew: its input line shows what nobody typed."""
    _behind: deque[bytes] = field(default_factory=deque)
    _behind_bytes: int = 0
    _held: deque[bytes] = field(default_factory=deque)
    _held_bytes: int = 0
    _key_at: float = 0.0
    _drawn_at: float = 0.0
    _released_at: float = 0.0
    _looked_at: float = 0.0
    _wish: _Wish | None = None
    _owed: Reload | None = None
    _restarting_until: float = 0.0
    _is_new: bool = False
    """Whether the screen is that of the successor."""

    @property
    def follows(self) -> bool:
        """Whether this agent's screen is read at all."""
        return self.run.agent == "claude"

    @property
    def held(self) -> int:
        """How many pieces of the person's typing wait."""
        return len(self._held)

    @property
    def full(self) -> bool:
        """Whether so many keys are held that no more should be read."""
        return self._held_bytes >= _MOST_HELD

    def output(self, data: bytes, now: float) -> None:
        """The agent has written something."""
        if not self.follows:
            return
        self._drawn_at = now
        self._behind.append(data)
        self._behind_bytes += len(data)
        if self._behind_bytes > _MOST_BEHIND:
            self._behind.clear()
            self._behind_bytes = 0
            self.screen.lose()

    def follow(self) -> bool:
        """Give the emulator one piece; False where there is nothing more."""
        if not self._behind:
            return False
        data = self._behind.popleft()
        if len(data) > _PIECE:
            self._behind.appendleft(data[_PIECE:])
        self.screen.feed(data[:_PIECE])
        self._behind_bytes -= min(len(data), _PIECE)
        return True

    def keys(self, data: bytes, now: float) -> bytes:
        """The person has pressed something: what of it goes on at once."""
        self._key_at = now
        if self._holds or self._held:
            self._held.append(data)
            self._held_bytes += len(data)
            return b""
        return data

    @property
    def _holds(self) -> bool:
        machine = self._machine
        return (machine is not None and machine.holds) or self._restarting_until > 0

    @property
    def _machine(self) -> Reload | None:
        return self._wish.machine if self._wish is not None and self._wish.machine is not None else self._owed

    def pause(self) -> float | None:
        """How long the loop may sleep; None: until something comes."""
        if self._behind:
            return 0.0
        if self._holds or self._held:
            return _STEP_SECONDS if not self._held else _RELEASE_SECONDS
        if self._owed is not None:
            return _ASK_AGAIN_SECONDS
        if self._wish is not None:
            return _STEP_SECONDS if self._wish.machine is not None else _ASK_AGAIN_SECONDS
        return None

    def serve(self, ready: set[int], now: float) -> None:
        """Answer at the door."""
        if self.door is None:
            return
        for caller, request in self.door.serve(ready):
            kind = request.get("do")
            if kind == STATE:
                self.door.answer(caller, self.state(now, _text(request.get("words"))))
            elif kind not in (RELOAD, RESTART):
                self.door.answer(caller, {"error": "no such request"})
            elif self._wish is not None or self._restarting_until > 0 or self.again is not None:
                self.door.answer(caller, {"kind": REFUSED, "why": "another reload is under way"})
            elif self._owed is not None:
                why = (
                    "text of an earlier reload still stands below a dialog"  # and is watched until it is gone
                )
                self.door.answer(caller, {"kind": REFUSED, "why": why})
            else:
                wait, settle = (
                    _seconds(request.get("wait"), 0.0),
                    _seconds(request.get("settle"), SETTLE_SECONDS),
                )
                self._wish = _Wish(
                    caller,
                    kind,
                    _text(request.get("session")),
                    settle,
                    now + wait,
                    _text(request.get("model")),
                    _text(request.get("words")),
                )

    def state(self, now: float, words: str = "") -> dict[str, Any]:
        """How it stands, and what would be in the way of a reload now; words: that must be on the screen."""
        found = self._standing()
        base = {
            "run": self.run.name,
            "agent": self.run.agent,
            "folder": str(self.run.folder),
            "pid": self.child.pid if self.child else 0,
            "leader": self.child.monitor if self.child else 0,
            "launcher": os.getpid(),
            "session": found.session,
            "status": found.status,
        }
        if not self.follows:
            return base | {"kind": DRY, "safe": False, "why": ["only Claude Code reloads a session in place"]}
        sight = self._sight(now, found, words)
        why = obstacles(sight, _line(found.session), SETTLE_SECONDS)
        vim = {"vim": found.is_vim, "restart": restart_obstacles(sight, SETTLE_SECONDS)}
        return base | {"kind": DRY, "safe": not why, "why": why, "prompt": read_prompt(sight.look).kind} | vim

    def step(self, now: float, *, busy: bool) -> bytes:
        """What is to be written to the agent now. busy: earlier keys are not all written yet."""
        if self._restarting_until > 0:
            self._watch_restart(now)
        machine = self._machine
        if busy:
            return b""
        if self._restarting_until > 0 or self.again is not None:
            return b""
        if self._wish is not None and self._wish.machine is None:
            return self._begin(self._wish, now)
        if machine is not None:
            if now - self._looked_at < _LOOK_SECONDS:
                return b""
            self._looked_at = now
            return self._advance(machine, now)
        return self._release(now)

    def _release(self, now: float) -> bytes:
        if not self._held or self._holds or now - self._released_at < _RELEASE_SECONDS:
            return b""
        self._released_at = now
        data = self._held.popleft()
        self._held_bytes -= len(data)
        return data

    def _begin(self, wish: _Wish, now: float) -> bytes:
        if now - wish.asked_at < _ASK_AGAIN_SECONDS:
            return b""
        wish.asked_at = now
        found = self._standing()
        sight = self._sight(now, found, wish.words)
        if not self.follows:
            why = ["only Claude Code reloads a session in place"]
        elif wish.session != found.session or not found.session:
            why = [found.why or "another session is on the screen by now"]
        elif wish.kind == RESTART:
            why = restart_obstacles(sight, wish.settle)
        else:
            why = obstacles(sight, _line(found.session), wish.settle)
        if why:
            if now >= wish.until:
                self._answer(Outcome(REFUSED, "; ".join(why)))
            return b""
        if wish.kind == RESTART:
            self._begin_restart(wish)
            return b""
        wish.machine = Reload(_line(found.session), wish.settle)
        return self._advance(wish.machine, now)

    def _advance(self, machine: Reload, now: float) -> bytes:
        written = machine.step(self._sight(now, self._standing()))
        wish = self._wish
        if wish is not None and machine.outcome is not None and wish.machine is machine:
            self._owed = None if machine.finished else machine
            self.redraw = machine.outcome.stale
            self._answer(machine.outcome)
        elif machine.finished:
            self._owed = None
        return written

    def _answer(self, outcome: Outcome) -> None:
        wish, self._wish = self._wish, None
        if wish is not None and self.door is not None:
            said = {"kind": outcome.kind, "why": outcome.why, "left": outcome.left, "said": outcome.said}
            self.door.answer(
                wish.caller, said | {"seconds": round(outcome.seconds, 3), "session": wish.session}
            )

    def _begin_restart(self, wish: _Wish) -> None:
        self.again = restarted(self.run.arguments, wish.session, wish.model)
        if self.again is None:
            why = "its arguments or its model are not known well enough to start it the same way again"
            self._answer(Outcome(REFUSED, why))

    def restarting(self, now: float) -> None:
        """The loop has asked the agent to end: keys are held until its successor shows an input line."""
        self._restarting_until, self._is_new = now + RESTART_SECONDS, False

    def attach(self, child: Child, screen: Screen) -> None:
        """A new agent is there."""
        self.child, self.screen, self._is_new = child, screen, True
        self._behind.clear()
        self._behind_bytes = 0

    def _watch_restart(self, now: float) -> None:
        if self.again is not None and now < self._restarting_until:
            return
        shows = self._is_new and read_prompt(self.screen.look()).why == "" and now - self._drawn_at > 0.3
        stays = not self._is_new  # it did not end, and is not told again
        if shows or stays or now >= self._restarting_until:
            late = not shows
            why = "the agent did not end, or its successor showed no input line" if late else ""
            took = now - self._restarting_until + RESTART_SECONDS
            self._restarting_until, self.again = 0.0, None
            self._answer(Outcome(UNSURE if late else TYPED, why, seconds=took))

    def _sight(self, now: float, found: ClientStatus, words: str = "") -> Sight:
        if self._behind_bytes <= _SOON:
            while self.follow():
                pass
        look = self.screen.look()
        if self._behind:
            look = replace(look, whole=False)
        vim = "vim mode is set, where characters are commands" if found.is_vim else ""
        shown = is_shown(words, look.rows)
        return Sight(
            now, look, self._key_at, self._drawn_at, bool(self._held), found.why, vim, rewound=not shown
        )

    def _standing(self) -> ClientStatus:
        if self.child is None or not self.follows:
            return ClientStatus("", "", "")
        return client_status(self.run.places, self.child.pid, self.child.monitor, self.run.folder)


def _line(session: str) -> str:
    return f"/resume {session}"


def _seconds(value: object, usual: float) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LONGEST_WAIT:
        return float(value)
    return usual


def _text(value: object) -> str:
    return value if isinstance(value, str) and value.isprintable() else ""
