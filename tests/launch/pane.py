"""A program on a pseudo-terminal that a test types at: its screen is read through our own emulator."""

from __future__ import annotations

import os
import re
import select
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from coffer.core.look import Look
from coffer.launch.child import Child
from coffer.launch.screen import Screen

LONG = 30.0
_SEEN = 12
"""Characters of a line's end by which it is found on the screen, also where it is wrapped."""


class Pane:
    """`with Pane(command, env=…, cwd=…) as pane:` type, wait, look."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path | None = None,
        columns: int = 120,
        rows: int = 40,
    ) -> None:
        words = [str(word) for word in command]
        if cwd is not None:
            words = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', str(cwd), *words]
        self.screen = Screen(columns, rows)
        self.bytes = bytearray()
        self.follows = True
        """Off: what comes is not drawn."""
        self._columns, self._rows = columns, rows
        self._command, self._env = words, dict(env)

    def __enter__(self) -> Self:
        self.child = Child.start(self._command, self._env, (self._rows, self._columns, 0, 0))
        return self

    def __exit__(self, *_: object) -> None:
        self.child.signal(15)
        until = time.monotonic() + 5
        while self.child.status is None and time.monotonic() < until:
            self.read(0.05)
        self.child.signal(9)
        self.child.close()

    def read(self, seconds: float) -> bytes:
        """Take what comes within a time."""
        got = b""
        if select.select([self.child.master], [], [], seconds)[0]:
            try:
                got = os.read(self.child.master, 65536)
            except OSError:  # nobody has the other side any more
                time.sleep(min(seconds, 0.01))
        self.bytes += got
        if self.follows:
            self.screen.feed(got)
        self.child.hear()
        return got

    def type(self, keys: str | bytes) -> None:
        """Press keys, at once."""
        rest = keys.encode() if isinstance(keys, str) else keys
        while rest:
            try:
                rest = rest[os.write(self.child.master, rest) :]
            except BlockingIOError:
                self.read(0.01)

    def submit(self, line: str) -> None:
        """Type a line, and Enter when it is no paste any more: the screen shows it, where it shows anything."""
        self.type(line)
        with suppress(TimeoutError):
            self.wait(lambda look: any(line[-_SEEN:] in row for row in look.rows), 2)
        self.settle(0.4)
        self.type("\r")

    def leave(self) -> None:
        """End the shell that runs here: it does not end by the signal that ends a program."""
        self.settle()
        self.submit("exit")
        self.ended()

    def wait(self, wanted: str | Callable[[Look], bool], seconds: float = LONG) -> Look:
        """Wait until the screen matches; TimeoutError with the screen in it."""
        until = time.monotonic() + seconds
        while True:
            look = self.look()
            if wanted(look) if callable(wanted) else re.search(wanted, "\n".join(look.rows)):
                return look
            if time.monotonic() > until:
                shown = "\n".join(row for row in look.rows if row)
                raise TimeoutError(f"{wanted!r} did not come:\n{shown}")
            self.read(0.05)

    def settle(self, seconds: float = 0.3) -> Look:
        """Read until nothing has come for a time."""
        while self.read(seconds):
            pass
        return self.look()

    def look(self) -> Look:
        """The screen."""
        return self.screen.look()

    def ended(self, seconds: float = LONG) -> int:
        """Wait for the end; the status as of waitpid."""
        until = time.monotonic() + seconds
        while self.child.status is None:
            if time.monotonic() > until:
                raise TimeoutError("the program did not end")
            self.read(0.05)
        return self.child.status
