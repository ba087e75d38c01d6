"""A reload typed into a pane of tmux: the launcher's machine, with tmux for its terminal.

tmux holds no keys back: what a person types meanwhile goes to the client. Before Enter it is seen by the time of
their last key, and ends it. So nothing is typed while anyone who looks at the pane has pressed a key just now.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from coffer.core.input_line import DRAFT, holds_exactly, read_prompt
from coffer.core.last_words import is_shown
from coffer.core.typed_reload import GAVE_UP, REFUSED, SETTLE_SECONDS, Outcome, Reload, Sight, obstacles
from coffer.disk.client_status import client_status
from coffer.disk.live import holders
from coffer.disk.places import Places
from coffer.disk.terminal import is_at, is_in_front
from coffer.disk.tmux import Pane, Seen

_LOOK_SECONDS = 0.03
_ASK_AGAIN_SECONDS = 0.2
_FIRST_SECONDS = 0.12
"""Between the first two looks: a screen of which only one was seen may be drawn just now."""
_ECHO_SECONDS = 0.5
"""For a person's key to show: a deletion that came before it would take their character for ours."""
_OWED_SECONDS = 20.0
"""How long to wait for text of ours that a dialog hides."""


@dataclass(slots=True)
class TmuxClient:
    """A client that shows one session in a pane. pid: the client's."""

    session: str
    places: Places
    pane: Pane
    pid: int
    words: str = ""
    settle: float = SETTLE_SECONDS
    _last: Seen | None = None
    _drawn_at: float = 0.0
    _typed_before: float | None = None
    """When a person last typed, as of the moment before our first key; None: that is still to come."""

    def obstacles(self) -> list[str]:
        """Everything that is in the way of typing now."""
        self._sight()
        time.sleep(_FIRST_SECONDS)
        sight = self._sight()
        return ["the pane is gone"] if sight is None else obstacles(sight, self._line, self.settle)

    def reload(self, wait: float) -> Outcome:
        """Type it, at a safe moment within this many seconds. Takes as long again as the client needs to read."""
        until, self._typed_before = time.monotonic() + wait, None
        while why := self.obstacles():
            if time.monotonic() >= until:
                return Outcome(REFUSED, "; ".join(why))
            time.sleep(_ASK_AGAIN_SECONDS)
        self._typed_before = self._last.typed_at if self._last is not None else 0.0
        return self._typed(Reload(self._line, self.settle))

    @property
    def _line(self) -> str:
        return f"/resume {self.session}"

    def _typed(self, machine: Reload) -> Outcome:
        owed_until = 0.0
        while True:
            sight = self._sight()
            if sight is None:
                return machine.outcome or Outcome(GAVE_UP, "the pane is gone")
            keys = machine.step(sight)
            if keys == b"\r":
                if not self.pane.enter(sight.look):
                    machine.unsent("the screen changed in the last moment", time.time())
            elif keys:
                self.pane.press(keys)
            if (done := machine.outcome) is not None:
                owed_until = owed_until or time.monotonic() + _OWED_SECONDS
                theirs = read_prompt(sight.look).kind == DRAFT and not holds_exactly(sight.look, done.left)
                if machine.finished or theirs or time.monotonic() > owed_until:
                    return done
            time.sleep(_LOOK_SECONDS)

    def _sight(self) -> Sight | None:
        seen, now = self.pane.seen(), time.time()
        if seen is None:
            return None
        if self._last is None or self._last.look != seen.look:
            self._drawn_at = now
        self._last = seen
        before = self._typed_before
        pressed = before is not None and seen.typed_at > before
        rests_at = seen.typed_at + _ECHO_SECONDS if pressed else 0.0  # what they pressed may still not show
        status = client_status(self.places, self.pid, _leader(self.pid), _folder(self.pid))
        why = status.why or seen.why or self._moved(seen, status.session)
        vim = "vim mode is set, where characters are commands" if status.is_vim else ""
        missing = before is None and not is_shown(self.words, seen.look.rows)
        drawn_at = max(self._drawn_at, rests_at)
        return Sight(now, seen.look, seen.typed_at, drawn_at, pressed, why, vim, rewound=missing)

    def _moved(self, seen: Seen, session: str) -> str:
        if session != self.session:
            return "another session is on the screen by now"
        if not is_at(self.pid, seen.tty):
            return "the agent is not in its pane any more"
        return "" if is_in_front(self.pid) else "the agent is not in the foreground of its pane"


def find_client(session: str, places: Places, pane: Pane, words: str = "") -> TmuxClient | None:
    """The client of a session in this pane, by its terminal; None where there is none, or several."""
    seen = pane.seen()
    if seen is None:
        return None
    found = [each.pid for each in holders(places).get(session, ()) if is_at(each.pid, seen.tty)]
    return TmuxClient(session, places, pane, found[0], words) if len(found) == 1 else None


def _folder(pid: int) -> Path:
    """Where it works; its settings are looked for from there upwards."""
    import psutil  # noqa: PLC0415

    try:
        return Path(psutil.Process(pid).cwd())
    except psutil.Error:
        return Path("/")


def _leader(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0
