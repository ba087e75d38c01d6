"""The person's terminal: raw while the agent runs, put back whatever happens, never waited for."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import struct
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

from coffer.launch.child import Attributes, Guarded, Size

_USUAL: Size = (24, 80, 0, 0)
MOST_WAITING = 65_536
"""Bytes for the terminal that wait at most; the agent is then not read, so it waits as it would for a terminal."""

LEFT_ON = {
    1000: "\x1b[?1000l",
    1002: "\x1b[?1002l",
    1003: "\x1b[?1003l",
    1006: "\x1b[?1006l",
    1004: "\x1b[?1004l",
    2004: "\x1b[?2004l",
    1049: "\x1b[?1049l",
}
"""Modes that a killed agent leaves behind, and that make a shell unusable: mouse, focus, paste, other screen."""
KEYBOARDS_LEFT_ON = {"u": "\x1b[<u", "m": "\x1b[>4m"}
"""The same for ways to send keys."""


class Terminal:
    """The terminal on two descriptors. Raises termios.error where they are none."""

    def __init__(self, source: int = 0, sink: int = 1) -> None:
        self.source = source
        self._sink = sink
        self.before: Attributes = termios.tcgetattr(source)
        self.raw: Attributes = _raw(self.before)
        self._waiting = bytearray()
        self.out = _reopened(sink)
        self.gone = False

    @property
    def guarded(self) -> Guarded:
        """What a monitor needs to put this terminal back."""
        return Guarded(self.source, self.before, self.raw)

    @contextmanager
    def in_raw_mode(self) -> Iterator[None]:
        """Raw inside, as it was before outside, also after an error."""
        try:
            self.make_raw()
            yield
        finally:
            self.put_back()

    def make_raw(self) -> None:
        """Let every key through. Waits, stopped, where we are in the background, as any program would."""
        with contextlib.suppress(termios.error):  # hung up: reading it says so
            termios.tcsetattr(self.source, termios.TCSADRAIN, self.raw)
            # as tcgetattr gives it back, so that the monitor knows it again
            self.raw = termios.tcgetattr(self.source)

    def put_back(self) -> None:
        """As it was before. From the background too: a stop by SIGTTOU would leave it raw."""
        kept = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        try:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self.source, termios.TCSADRAIN, self.before)
        finally:
            signal.signal(signal.SIGTTOU, kept)

    def size(self) -> Size:
        """Rows, columns, pixels; a usual size where the terminal has none."""
        for descriptor in (self._sink, self.source):
            with contextlib.suppress(OSError):
                rows, columns, wide, high = struct.unpack(
                    "HHHH", fcntl.ioctl(descriptor, termios.TIOCGWINSZ, b"\0" * 8)
                )
                return rows, columns, wide, high
        return _USUAL

    @property
    def waits(self) -> bool:
        """Whether something is still to be written."""
        return bool(self._waiting)

    @property
    def full(self) -> bool:
        """Whether the agent should not be read for now."""
        return len(self._waiting) >= MOST_WAITING

    def write(self, data: bytes) -> None:
        """Write what goes, keep the rest for `flush`."""
        if not self.gone:
            self._waiting += data
            self.flush()

    def flush(self) -> None:
        """Write on. A terminal that is gone takes everything."""
        while self._waiting:
            try:
                done = os.write(self.out, self._waiting[:MOST_WAITING])
            except BlockingIOError:
                return
            except OSError:
                self.gone = True
                self._waiting.clear()
                return
            del self._waiting[:done]
            if self.out == self._sink:
                return  # it may block: back to the loop after each piece

    def close(self) -> None:
        """Let go of our own descriptor."""
        if self.out != self._sink:
            os.close(self.out)


def _raw(before: Attributes) -> Attributes:
    raw = list(before)
    raw[6] = list(before[6])
    tty.cfmakeraw(raw) if hasattr(tty, "cfmakeraw") else _make_raw(raw)
    return raw


def _make_raw(mode: Attributes) -> None:
    """cfmakeraw(3): Python has it from 3.12 on."""
    mode[0] &= ~(
        termios.IGNBRK
        | termios.BRKINT
        | termios.PARMRK
        | termios.ISTRIP
        | termios.INLCR
        | termios.IGNCR
        | termios.ICRNL
        | termios.IXON
    )
    mode[1] &= ~termios.OPOST
    mode[2] &= ~(termios.CSIZE | termios.PARENB)
    mode[2] |= termios.CS8
    mode[3] &= ~(termios.ECHO | termios.ECHONL | termios.ICANON | termios.ISIG | termios.IEXTEN)
    mode[6][termios.VMIN] = 1
    mode[6][termios.VTIME] = 0


def _reopened(descriptor: int) -> int:
    """The terminal opened once more: O_NONBLOCK on the one that we got would hold for the shell too."""
    try:
        return os.open(os.ttyname(descriptor), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return descriptor
