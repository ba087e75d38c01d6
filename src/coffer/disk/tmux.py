"""A pane of tmux from outside: what it shows, who types at it, and keys that are sent to it.

Each look is one run of `tmux`, and so one moment of its server. Nothing starts a server, and no shell is between.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coffer.core.look import Look
from coffer.core.regex import regex

_SECONDS = 5.0
_PANE = regex(r"%\d{1,9}")
_FLAGS = {
    "pane_in_mode": "the pane is in copy mode",
    "pane_synchronized": "what is typed goes to several panes at once",
    "pane_input_off": "the pane takes no keys",
    "pane_dead": "the pane's program has ended",
}
_NAMES = ("pane_id", "pane_tty", "pane_width", "cursor_x", "cursor_y", *_FLAGS)
_SAID = "\t".join(f"#{{{name}}}" for name in _NAMES)
_CLIENT = "#{pane_id} #{client_activity}"
_END = "end of clients"
_SEQUENCE = regex(r"\x1b\[(?P<numbers>[0-9;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[^\[\]]|[\x0e\x0f]")
_FAINT, _COLOURS = 2, (38, 48, 58)
_KEYS = {b"\r": "Enter", b"\x1b": "Escape", b"\x7f": "BSpace"}


@dataclass(frozen=True, slots=True)
class Seen:
    """One moment of a pane. why: what keeps keys from reaching the program alone, "" for nothing.

    typed_at: Unix time of the last key of a person who looks at this pane, rounded up to a second; 0 for nobody.
    """

    look: Look
    tty: str
    why: str
    typed_at: float


@dataclass(frozen=True, slots=True)
class Pane:
    """A pane of a server. socket: of the server. id: `%` and a number."""

    program: str
    socket: Path
    id: str

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Pane | None:
        """The pane that TMUX and TMUX_PANE name; None where they name none of this user's."""
        socket = Path(environment.get("TMUX", "").partition(",")[0])
        pane, program = environment.get("TMUX_PANE", ""), shutil.which("tmux")
        if program is None or _PANE.fullmatch(pane) is None or not socket.is_absolute():
            return None
        try:
            found = socket.stat()
        except (OSError, ValueError):
            return None
        ours = stat.S_ISSOCK(found.st_mode) and found.st_uid == os.geteuid()
        return cls(program, socket, pane) if ours else None

    def seen(self) -> Seen | None:
        """What it shows now; None where it is gone, or tmux does not answer."""
        target = ("-t", self.id)
        said = self._run(
            *("list-clients", "-F", _CLIENT, ";", "display-message", "-p", *target, _END, ";"),
            *("display-message", "-p", *target, _SAID, ";", "capture-pane", "-p", "-e", *target),
        )
        clients, _, rest = (said or "").partition(f"{_END}\n")
        first, _, screen = rest.partition("\n")
        fields = first.split("\t")
        if len(fields) != len(_NAMES) or fields[0] != self.id:
            return None
        _, tty, width, column, row, *flags = fields
        activity = [int(each.split()[1]) for each in clients.splitlines() if each.split()[:1] == [self.id]]
        lines = [_taken_apart(line) for line in screen.removesuffix("\n").split("\n")]
        rows, solid = tuple(line[0] for line in lines), tuple(line[1] for line in lines)
        look = Look(rows, solid, int(column), int(row), int(width))
        why = "; ".join(
            reason for flag, reason in zip(flags, _FLAGS.values(), strict=True) if flag not in ("", "0")
        )
        return Seen(look, tty, why, max(activity) + 1.0 if activity else 0.0)

    def press(self, keys: bytes) -> bool:
        """Send text as it is, or one key once or more often. False where tmux does not take it."""
        name = _KEYS.get(keys[:1])
        if name is None:
            text = re.sub(";$", r"\\;", keys.decode())  # at its end it would divide two commands
            return self._run("send-keys", "-t", self.id, "-l", "--", text) is not None
        return self._run("send-keys", "-t", self.id, "-N", str(len(keys)), name) is not None

    def enter(self, look: Look) -> bool:
        """Send Enter if the cursor still stands where it stood in this look; tmux's server decides at one moment."""
        free = "#{?#{||:#{pane_in_mode},#{pane_synchronized}},0,1}"
        there = f"#{{&&:#{{==:#{{cursor_x}},{look.column}}},#{{==:#{{cursor_y}},{look.row}}}}}"
        keys = f"send-keys -t {self.id} Enter ; display-message -p sent"
        return (
            self._run("if-shell", "-F", "-t", self.id, f"#{{&&:{free},{there}}}", keys) or ""
        ).strip() == "sent"

    def _run(self, *words: str) -> str | None:
        environment = {"PATH": os.defpath, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
        try:
            done = subprocess.run(
                [self.program, "-u", "-S", str(self.socket), *words],
                capture_output=True,
                env=environment,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def _taken_apart(line: str) -> tuple[str, str]:
    """A row as text, and once more with each faint character as a blank."""
    row, solid, faint, place = "", "", False, 0
    for found in _SEQUENCE.finditer(line):
        piece = line[place : found.start()]
        row, solid, place = row + piece, solid + (" " * len(piece) if faint else piece), found.end()
        if found["numbers"] is not None:
            faint = _is_faint(found["numbers"], faint)
    piece = line[place:]
    return (row + piece).rstrip(), (solid + (" " * len(piece) if faint else piece)).rstrip()


def _is_faint(numbers: str, before: bool) -> bool:  # noqa: FBT001  (a state, not an option)
    """Whether text is faint behind a change of style."""
    rest = [int(each.partition(":")[0] or 0) for each in numbers.split(";")]
    while rest:
        number = rest.pop(0)
        if number in _COLOURS and rest:
            del rest[: 2 if rest[0] == 5 else 4]
        elif number in (0, 22):
            before = False
        elif number == _FAINT:
            before = True
    return before
