"""The loop between the person's terminal and the agent's: bytes as they come, signals, job control, the end.

Nothing here reads what it carries. Whatever fails beside the two terminals costs the session nothing.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from coffer.launch.attend import Attendant
from coffer.launch.child import ENDED, STOPPED, Child
from coffer.launch.screen import Screen
from coffer.launch.terminal import KEYBOARDS_LEFT_ON, LEFT_ON, Terminal

Starter = Callable[[list[str] | None], Child]
"""Starts the agent; with other arguments than the first time, where some are given. Raises OSError."""

_CHUNK = 65_536
_MOST_TYPED = 65_536
_PASSED_ON = (
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGTSTP,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
_OWN = (signal.SIGWINCH, signal.SIGCONT)
_HANG_UP_SECONDS = 5.0
_DRAIN_SECONDS = 0.1
"""Without output, after the end: something in the background may have the terminal open for ever."""
_GONE_SECONDS = 0.02
"""Between two looks at a terminal that no agent has open just now."""
_RESTART_SECONDS = 10.0
_SMALLER_SECONDS = 0.5
"""For the agent to see that its terminal has a row less: of two changes at once it would see none."""
_FEWEST_ROWS = 4


class Session:
    """One run of one agent."""

    def __init__(self, terminal: Terminal, attendant: Attendant, start: Starter) -> None:
        self._terminal = terminal
        self._attendant = attendant
        self._start = start
        self._child = start(None)
        self._attach(self._child)
        self._typed = bytearray()
        self._open = True
        """Whether the agent's terminal can be read just now."""
        self._hung_up = 0.0
        self._asked_to_end = 0.0
        self._smaller_until = 0.0

    def run(self) -> int:
        """Until the agent's end; its status as of waitpid. Raises OSError where it could not be started."""
        with _signals() as wake, self._terminal.in_raw_mode():
            self._resize()
            while self._turn(wake):
                pass
            if os.WIFSIGNALED(self._child.status or 0):
                self._tidy()
            self._finish_writing()
        failed, status = self._child.failed, self._child.status
        self._child.close()
        if failed:
            raise OSError(failed, os.strerror(failed))
        return status or 0

    def _attach(self, child: Child) -> None:
        rows, columns, *_ = self._terminal.size()
        self._attendant.attach(child, Screen(columns, rows))

    def _turn(self, wake: int) -> bool:
        """Wait once, and do what came up; False at the end."""
        terminal, child, attendant = self._terminal, self._child, self._attendant
        door = attendant.door
        reading = [wake, child.news, *(door.readers() if door else ())]
        if not terminal.gone and not self._hung_up and len(self._typed) < _MOST_TYPED and not attendant.full:
            reading.append(terminal.source)
        if self._open and not terminal.full:
            reading.append(child.master)
        writing = [*(door.writers() if door else ())]
        if self._typed and self._open:
            writing.append(child.master)
        if terminal.waits:
            writing.append(terminal.out)
        ready, free, _ = select.select(reading, writing, [], self._pause())
        if wake in ready:
            self._heed(os.read(wake, 64))
        if terminal.out in free:
            terminal.flush()
        if terminal.source in ready:
            self._take_keys()
        if child.master in free:
            self._type()
        if not self._open or child.master in ready:
            self._take_output()
        if door is not None:
            door.flush(set(free))
            attendant.serve(set(ready), time.monotonic())
        if not ready and not free:
            attendant.follow()
        self._attend()
        return self._heed_agent()

    def _pause(self) -> float | None:
        waits = [self._attendant.pause()]
        if not self._open or self._hung_up or self._asked_to_end or self._smaller_until:
            waits.append(_GONE_SECONDS)
        return min((seconds for seconds in waits if seconds is not None), default=None)

    def _take_keys(self) -> None:
        try:
            data = os.read(self._terminal.source, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._typed += self._attendant.keys(data, time.monotonic())
            self._type()
        else:
            self._hang_up()

    def _hang_up(self) -> None:
        """The person's terminal is gone: the agent hears of it, as it would from its own."""
        if not self._hung_up:
            self._hung_up = time.monotonic() + _HANG_UP_SECONDS
            self._terminal.gone = True
            self._child.signal(signal.SIGHUP)
            self._child.wake()

    def _type(self) -> None:
        while self._typed:
            try:
                done = os.write(self._child.master, self._typed[:_CHUNK])
            except OSError:  # full, or nobody has it open: when that changes
                return
            del self._typed[:done]

    def _take_output(self) -> bool:
        try:
            data = os.read(self._child.master, _CHUNK)
        except BlockingIOError:
            self._open = True
            return False
        except OSError:
            self._open = False  # nobody has it open: at the end, or between two programs
            return False
        self._open = bool(data)
        if data:
            self._attendant.output(data, time.monotonic())
            self._terminal.write(data)
        return bool(data)

    def _attend(self) -> None:
        """Let the attendant act. Before it looks, what the agent has written by now is taken."""
        attendant = self._attendant
        if attendant.pause() is not None and not self._terminal.full:
            self._take_output()
        written = attendant.step(time.monotonic(), busy=bool(self._typed))
        if written:
            self._typed += written
            self._type()
        now = time.monotonic()
        if attendant.again is not None and not self._asked_to_end:
            self._asked_to_end = now + _RESTART_SECONDS
            attendant.restarting(now)
            self._child.signal(signal.SIGTERM)
        elif self._asked_to_end and now > self._asked_to_end:
            self._asked_to_end, attendant.again = 0.0, None  # it stays: never a harder signal
        self._redraw(now)

    def _redraw(self, now: float) -> None:
        """Have the agent draw its whole screen, by a row less for a moment: no key is sent for it."""
        if self._attendant.redraw:
            self._attendant.redraw = False
            self._smaller_until = now + _SMALLER_SECONDS
            self._resize()
        elif self._smaller_until and now > self._smaller_until:
            self._smaller_until = 0.0
            self._resize()

    def _heed(self, numbers: bytes) -> None:
        for number in numbers:
            if number == signal.SIGWINCH:
                self._resize()
            elif number == signal.SIGCONT:
                self._terminal.make_raw()
                self._resize()
            elif number == signal.SIGHUP:
                self._hang_up()
            elif number in _PASSED_ON:
                self._child.signal(number)

    def _resize(self) -> None:
        rows, columns, wide, high = self._terminal.size()
        less = 1 if self._smaller_until and rows > _FEWEST_ROWS else 0
        self._child.resize((rows - less, columns, wide, high))
        self._attendant.screen.resize(columns, rows)  # as the person's terminal, which keeps its size

    def _heed_agent(self) -> bool:
        for event in self._child.hear():
            if event == STOPPED:
                self._stop()
            elif event == ENDED:
                return self._ended()
        if self._hung_up and time.monotonic() > self._hung_up:
            self._child.status = self._child.status or signal.SIGHUP
            return False
        return True

    def _stop(self) -> None:
        """The agent was suspended (Ctrl-Z): so are we, with all of our job, and go on together."""
        while self._take_output() and not self._terminal.full:
            pass
        self._finish_writing()
        self._terminal.put_back()
        ours = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        try:
            os.kill(
                0, signal.SIGTSTP
            )  # without a shell above us the system ignores it, and so we go on at once
        finally:
            signal.signal(signal.SIGTSTP, ours)
        self._terminal.make_raw()
        self._resize()
        self._child.wake()

    def _ended(self) -> bool:
        self._drain()
        if self._attendant.again is None or not self._asked_to_end or self._child.failed:
            return False
        arguments, self._asked_to_end = self._attendant.again, 0.0
        self._child.close()
        self._child = self._start(arguments)
        self._attendant.again = None
        self._attach(self._child)
        self._open = True
        return True

    def _drain(self) -> None:
        """What the agent wrote last is still on its way through the kernel when its end is known."""
        until = time.monotonic() + _DRAIN_SECONDS
        while self._open and time.monotonic() < until and not self._terminal.gone:
            if self._terminal.full:
                self._finish_writing()
            if self._take_output():
                until = time.monotonic() + _DRAIN_SECONDS
            else:
                select.select([self._child.master], [], [], _GONE_SECONDS)

    def _tidy(self) -> None:
        """A killed agent leaves its modes on; a shell is no use while the mouse types into it."""
        screen = self._attendant.screen
        while self._attendant.follow():
            pass
        left = "".join(off for mode, off in LEFT_ON.items() if mode in screen.private_modes)
        left += "".join(off for way, off in KEYBOARDS_LEFT_ON.items() if way in screen.keyboards)
        self._terminal.write(left.encode() + (b"\x1b[?25h" if left else b""))

    def _finish_writing(self) -> None:
        until = time.monotonic() + _HANG_UP_SECONDS
        while self._terminal.waits and time.monotonic() < until:
            select.select([], [self._terminal.out], [], _GONE_SECONDS)
            self._terminal.flush()


@contextmanager
def _signals() -> Iterator[int]:
    """Signals come as bytes on the descriptor that is given; before and after, they do what they did."""
    wake, tell = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(tell, False)
    before_fd = signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    before = {number: signal.signal(number, _noticed) for number in (*_PASSED_ON, *_OWN)}
    try:
        yield wake
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(before_fd)
        os.close(wake)
        os.close(tell)


def _noticed(*_: object) -> None:
    """The wakeup descriptor tells the loop."""


def leave_as(status: int) -> int:
    """End as the agent did: its exit code, or the signal that killed it (then this does not return)."""
    if not os.WIFSIGNALED(status):
        return os.waitstatus_to_exitcode(status)
    number = os.WTERMSIG(status)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the agent's core is enough
    with contextlib.suppress(OSError, ValueError):  # SIGKILL has no handler
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number
