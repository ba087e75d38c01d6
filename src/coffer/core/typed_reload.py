"""`/resume <own id>`, typed at an idle prompt: one step at a time, each read back before the next.

A machine without clock, terminal or file: whoever has the terminal (the launcher, `work.tmux`) gives it what it
sees, and it says what to write. Between its first byte and the end the launcher holds the person's keys back, so
nothing of theirs can get into our line, nor Enter of ours behind a line of theirs. Before Enter the first key of
theirs ends it: what was typed is deleted, then they have the line. It deletes only what it can read on the screen as
its own.

It types one character first, for two reasons. An input line in vim's NORMAL mode looks empty: there "/" opens a
search, which shows, and is closed again. And "/" opens the menu of commands, which the client works out later than it
shows the line: on a busy machine Enter behind the whole line still took the menu's first choice (`/add-dir`, seen
with 2.1.197). So the menu must have come for "/", and have gone for the line.
"""

from __future__ import annotations

from dataclasses import dataclass

from coffer.core.input_line import DRAFT, EMPTY, INDENT, SEARCH, VIM, holds_exactly, read_prompt
from coffer.core.look import Look

SETTLE_SECONDS = 2.0
"""How long no key may have come before anything is typed."""
_ECHO_SECONDS = 3.0
"""For the client to show what was typed."""
_QUIET_SECONDS = 0.08
"""A row counts as read when nothing has been drawn for this long: a frame comes in pieces."""
_SURE_SECONDS = 0.25
"""The same before Enter."""
_RELOAD_SECONDS = 20.0
"""For the client to be back at an empty prompt; then held keys are let go whatever shows."""
_BACK_SECONDS = 0.4
_LEFT_SECONDS = 1.5
_ERASE = b"\x7f"
_ENTER = b"\r"
_ESCAPE = b"\x1b"

REWOUND = "the end of the conversation is not on the screen: a reload would bring back what a rewind took off"

TYPED, DRY, REFUSED, GAVE_UP = "typed", "dry", "refused", "gave_up"


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen at a moment. Times: seconds of one clock.

    key_at, drawn_at: when the last key and the last output came. held: whether keys of the person wait.
    standing: what the client's registry says is in the way, "" for nothing; vim: likewise its settings. rewound:
    whether the end of the conversation is missing on the screen (`core.last_words`).
    """

    now: float
    look: Look
    key_at: float
    drawn_at: float
    held: bool
    standing: str
    vim: str = ""
    rewound: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended. kind: typed, refused, gave_up. left: what of ours still stands in the line, "" for nothing.

    said: what the client answered below the line. seconds: from Enter to the empty prompt. stale: whether the client
    left cells in the row that are no text, until it draws anew.
    """

    kind: str
    why: str = ""
    left: str = ""
    said: str = ""
    seconds: float = 0.0
    stale: bool = False


def obstacles(sight: Sight, line: str, settle: float) -> list[str]:
    """Everything that is in the way of typing now."""
    found = _unsettled(sight, settle)
    if sight.vim:
        found.append(sight.vim)
    prompt = read_prompt(sight.look)
    if not prompt.is_empty and not (prompt.kind == VIM and sight.vim):
        found.append(prompt.why)
    if sight.look.columns < INDENT + len(line) + 2:
        found.append("the terminal is too narrow to read the line back")
    return found


def restart_obstacles(sight: Sight, settle: float) -> list[str]:
    """Everything that is in the way of ending the agent now: a draft would be lost. vim is no matter here."""
    prompt = read_prompt(sight.look)
    empty = prompt.is_empty or (prompt.kind == VIM and not prompt.text and sight.look.column == INDENT)
    return [*_unsettled(sight, settle), *([] if empty else [prompt.why])]


def _unsettled(sight: Sight, settle: float) -> list[str]:
    found = [sight.standing] if sight.standing else []
    if sight.held or sight.now - sight.key_at < settle:
        found.append(f"a key was pressed less than {settle:g} seconds ago")
    if sight.now - sight.drawn_at < _QUIET_SECONDS:
        found.append("the screen is being drawn")
    if sight.rewound:
        found.append(REWOUND)
    return found


@dataclass(slots=True)
class Reload:
    """One attempt. `step` until `outcome` is set; while `holds`, the person's keys are kept back."""

    line: str
    settle: float = SETTLE_SECONDS
    outcome: Outcome | None = None
    holds: bool = False
    """Whether keys are held back now."""
    _stage: str = "ask"
    _typed: str = ""
    _since: float = 0.0
    _why: str = ""
    _erased: bool = False

    @property
    def finished(self) -> bool:
        """Whether nothing more is to be done. After the outcome, text of ours may still stand under a dialog."""
        return self._stage == "done"

    def step(self, sight: Sight) -> bytes:
        """What to write to the agent now."""
        written = {
            "ask": self._ask,
            "first": self._first,
            "rest": self._rest,
            "erase": self._erase,
            "sent": self._sent,
            "owed": self._owed,
            "done": _nothing,
        }[self._stage](sight)
        if self._stage == "owed":
            self.holds = holds_exactly(sight.look, self._typed) or self._erased
        else:
            self.holds = self._stage not in ("ask", "done")
        return written

    def unsent(self, why: str, now: float) -> None:
        """The Enter of the last step was not pressed after all: delete the line."""
        self._why, self._stage, self._since, self.holds = why, "erase", now, True

    def _end(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self._stage, self._erased = ("owed" if outcome.left else "done"), False

    def _ask(self, sight: Sight) -> bytes:
        found = obstacles(sight, self.line, self.settle)
        if found:
            self._end(Outcome(REFUSED, "; ".join(found)))
            return b""
        return self._type("first", self.line[0], sight)

    def _first(self, sight: Sight) -> bytes:
        if self._disturbed(sight):
            return self._erase(sight)
        if self._shows(sight, self.line[0], _QUIET_SECONDS, menu=True):
            return self._type("rest", self.line[1:], sight)
        return b""

    def _rest(self, sight: Sight) -> bytes:
        if self._disturbed(sight):
            return self._erase(sight)
        if self._shows(sight, self.line, _SURE_SECONDS, menu=False):
            self._stage, self._since = "sent", sight.now
            return _ENTER
        return b""

    def _type(self, stage: str, text: str, sight: Sight) -> bytes:
        self._stage, self._since = stage, sight.now
        self._typed += text
        return text.encode()

    @staticmethod
    def _shows(sight: Sight, text: str, quiet: float, *, menu: bool) -> bool:
        rests = sight.now - sight.drawn_at >= quiet
        return rests and holds_exactly(sight.look, text) and read_prompt(sight.look).menu == menu

    def _disturbed(self, sight: Sight) -> bool:
        """Whether to stop before Enter; the stage is then `erase`."""
        why = ""
        if sight.held:
            why = "a key was pressed meanwhile"
        elif sight.standing:
            why = sight.standing
        elif read_prompt(sight.look).kind == SEARCH:
            why = "the input line takes characters as commands"
        elif sight.now - self._since > _ECHO_SECONDS:
            why = "the input line did not show what was typed"
        if why:
            self._why, self._stage, self._since = why, "erase", sight.now
        return bool(why)

    def _erase(self, sight: Sight) -> bytes:
        """Delete our own text, and only that; wait until the screen shows that it is gone."""
        prompt = read_prompt(sight.look)
        late = sight.now - self._since > _ECHO_SECONDS
        quiet = sight.now - sight.drawn_at >= _QUIET_SECONDS
        ours = self._is_ours(sight.look, part=late)
        if prompt.kind == EMPTY and quiet and (self._erased or late):
            self._end(Outcome(GAVE_UP, self._why))
        elif late and (self._erased or not ours):
            self._end(Outcome(GAVE_UP, self._why, left=self._typed))
        elif self._erased or not quiet:
            return b""
        elif prompt.kind == SEARCH and self._typed == self.line[0]:
            self._erased, self._since = True, sight.now
            return _ESCAPE  # our "/" opened it: vim's NORMAL mode
        elif ours:
            self._erased, self._since = True, sight.now
            return _ERASE * len(prompt.text)
        return b""

    def _is_ours(self, look: Look, *, part: bool) -> bool:
        """Whether the line holds what was typed; part: or, when no more of it comes, its beginning."""
        text = read_prompt(look).text
        return holds_exactly(look, self._typed) or (
            part and bool(text) and self._typed.startswith(text) and holds_exactly(look, text)
        )

    def _owed(self, sight: Sight) -> bytes:
        """A dialog stood over our text: delete it when it can be seen again, before any key gets behind it."""
        quiet = sight.now - sight.drawn_at >= _QUIET_SECONDS
        if self._erased:
            if read_prompt(sight.look).is_empty or sight.now - self._since > _ECHO_SECONDS:
                self._stage = "done"
        elif read_prompt(sight.look).is_empty and quiet:
            self._stage = "done"
        elif quiet and holds_exactly(sight.look, self._typed):
            self._erased, self._since = True, sight.now
            return _ERASE * len(self._typed)
        return b""

    def _sent(self, sight: Sight) -> bytes:
        """Until the client is back at an empty prompt: a key that came earlier would be lost in its reload."""
        passed = sight.now - self._since
        prompt, rests = read_prompt(sight.look), sight.now - sight.drawn_at
        # 2.1.197 may leave cells of its spinner in the row. No key went there: text would have the cursor behind it
        left = prompt.kind == DRAFT and prompt.at_start and rests >= _LEFT_SECONDS
        back = (prompt.is_empty and rests >= _BACK_SECONDS) or left
        if passed >= _BACK_SECONDS and back and not sight.standing:
            self._end(Outcome(TYPED, said=_said(sight.look, self.line), seconds=passed, stale=left))
        elif passed > _RELOAD_SECONDS:
            why = sight.standing or read_prompt(sight.look).why or "the screen did not come to rest"
            self._end(Outcome(TYPED, why, said=_said(sight.look, self.line), seconds=passed))
        return b""


def _nothing(_sight: Sight) -> bytes:
    return b""


def _said(look: Look, line: str) -> str:
    """What stands below the line in the conversation, where the client shows it."""
    rows = [row.strip() for row in look.rows]
    places = [y for y, row in enumerate(rows) if row.removeprefix("❯").strip() == line]
    answer = rows[places[-1] + 1] if places and places[-1] + 1 < len(rows) else ""
    return answer.removeprefix("⎿").strip() if answer.startswith("⎿") else ""
