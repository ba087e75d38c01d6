"""The agent on a pseudo-terminal of its own, under a monitor that leads its session.

The monitor is what makes Ctrl-Z work: the kernel drops SIGTSTP to a group whose parents are all outside its session,
so an agent that led the session itself could never be suspended. It waits for the agent and says on a pipe what became
of it. Where the launcher is killed, the kernel hangs the terminal up: the monitor puts the person's terminal back
and ends, and with it the agent gets the SIGHUP that it would have got from the person's own terminal.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import signal
import struct
import sys
import termios
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Attributes = list[Any]
"""What `termios.tcgetattr` gives."""
Size = tuple[int, int, int, int]
"""Rows, columns, and the same in pixels."""
_RECORD = struct.Struct("=Bi")
_STARTED, _STOPPED, _CONTINUED, _ENDED, _FAILED = range(5)
STOPPED, CONTINUED, ENDED = "stopped", "continued", "ended"


@dataclass(frozen=True, slots=True)
class Guarded:
    """The person's terminal, for the monitor: put `before` back if it still stands as `raw`."""

    descriptor: int
    before: Attributes
    raw: Attributes


class Child:
    """A started agent. master: its terminal's other side. monitor: the pid of its session's leader."""

    def __init__(self, master: int, monitor: int, news: int) -> None:
        self.master = master
        self.monitor = monitor
        self.news = news
        self.pid = 0
        self.status: int | None = None
        """As of waitpid, once it has ended."""
        self.failed = 0
        """errno, where it could not be started at all."""

    @classmethod
    def start(
        cls,
        command: Sequence[str],
        environment: Mapping[str, str],
        size: Size,
        *,
        guarded: Guarded | None = None,
        stderr: int | None = None,
    ) -> Child:
        """Start a program (an absolute path first). stderr: where that isn't the terminal. Raises OSError."""
        master, slave = pty.openpty()
        news, tell = os.pipe()
        try:
            _set_size(slave, size)
            if guarded is not None:
                termios.tcsetattr(slave, termios.TCSANOW, guarded.before)
            monitor = os.fork()
        except BaseException:
            for descriptor in (master, slave, news, tell):
                os.close(descriptor)
            raise
        if monitor == 0:
            _be_monitor(_Start(list(command), dict(environment), slave, tell, guarded, stderr))
        os.close(slave)
        os.close(tell)
        os.set_blocking(master, False)
        os.set_blocking(news, False)
        return cls(master, monitor, news)

    def hear(self) -> list[str]:
        """What became of the agent since the last time: stopped, continued, ended."""
        said: list[str] = []
        while True:
            try:
                data = os.read(self.news, _RECORD.size)
            except BlockingIOError:
                return said
            if len(data) < _RECORD.size:  # the monitor is gone: nobody will ever say more
                if self.status is None:
                    self.status = signal.SIGKILL
                    said.append(ENDED)
                return said
            kind, value = _RECORD.unpack(data)
            if kind == _STARTED:
                self.pid = value
            elif kind == _STOPPED:
                said.append(STOPPED)
            elif kind == _CONTINUED:
                said.append(CONTINUED)
            elif self.status is None:
                self.status, self.failed = (value, 0) if kind == _ENDED else (127 << 8, value)
                said.append(ENDED)

    def resize(self, size: Size) -> None:
        """Give the agent's terminal a size; the kernel sends it SIGWINCH where that is new."""
        with contextlib.suppress(OSError):
            _set_size(self.master, size)

    def signal(self, number: int) -> None:
        """Send a signal to the agent alone, as it would have come to it without us."""
        if self.pid > 0 and self.status is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, number)

    def wake(self) -> None:
        """Let the agent's whole group go on, as a shell does with `fg`."""
        if self.pid > 0 and self.status is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGCONT)

    def close(self) -> None:
        """Let go of the terminal (whoever still has it gets SIGHUP) and of the monitor."""
        os.close(self.master)
        os.close(self.news)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.monitor, 0)


def _set_size(descriptor: int, size: Size) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", *size))


@dataclass(frozen=True, slots=True)
class _Start:
    command: list[str]
    environment: dict[str, str]
    slave: int
    tell: int
    guarded: Guarded | None
    stderr: int | None


def _be_monitor(start: _Start) -> None:
    """Lead the session, start the agent, wait for it. Never returns; a fork of us must not run on."""
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGWINCH, signal.SIGCONT, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
            signal.signal(number, signal.SIG_IGN)  # they are for the agent, which sets its own
        for number in (signal.SIGTTOU, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        fcntl.ioctl(start.slave, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGHUP, lambda *_: _hung_up(start.guarded))
        agent = os.fork()
        if agent == 0:
            _be_agent(start)
        with contextlib.suppress(OSError):  # the agent has done it, or has run by now
            os.setpgid(agent, agent)
        _close_others({start.tell, *(() if start.guarded is None else (start.guarded.descriptor,))})
        _tell(start.tell, _STARTED, agent)
        _wait(agent, start.tell)
    finally:
        os._exit(0)


def _be_agent(start: _Start) -> None:
    """Become the agent, with the signals of a program that a shell has started."""
    try:
        os.setpgid(0, 0)
        os.tcsetpgrp(start.slave, os.getpid())  # SIGTTOU is ignored here: we are not in the foreground yet
        keep = os.dup(start.stderr) if start.stderr is not None else start.slave
        for target in (0, 1):
            os.dup2(start.slave, target)
        os.dup2(keep, 2)
        os.set_inheritable(start.tell, False)
        os.closerange(3, start.tell)
        os.closerange(start.tell + 1, _most_descriptors())
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execve(start.command[0], start.command, start.environment)  # noqa: S606  (the agent that the person named)
    except OSError as error:
        _tell(start.tell, _FAILED, error.errno or -1)
    finally:
        os._exit(127)


def _wait(agent: int, tell: int) -> None:
    while True:
        _pid, status = os.waitpid(agent, os.WUNTRACED | getattr(os, "WCONTINUED", 0))
        if os.WIFSTOPPED(status):
            _tell(tell, _STOPPED, os.WSTOPSIG(status))
        elif hasattr(os, "WIFCONTINUED") and os.WIFCONTINUED(status):
            _tell(tell, _CONTINUED, 0)
        else:
            # from here on the launcher may let go of the agent's terminal, to start another: that is no hang-up,
            # and taking its own terminal out of raw mode would turn the person's Enter into a new line
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            _tell(tell, _ENDED, status)
            return


def _hung_up(guarded: Guarded | None) -> None:
    """The launcher is gone. Its raw mode must not stay behind; what someone has set since is left alone."""
    if guarded is not None:
        with contextlib.suppress(termios.error, OSError):
            if termios.tcgetattr(guarded.descriptor) == guarded.raw:
                termios.tcsetattr(guarded.descriptor, termios.TCSANOW, guarded.before)
    os._exit(0)


def _tell(descriptor: int, kind: int, value: int) -> None:
    with contextlib.suppress(OSError):
        os.write(descriptor, _RECORD.pack(kind, value))


def _close_others(keep: set[int]) -> None:
    """The monitor must hold neither the agent's terminal nor the launcher's sockets, or their ends go unseen."""
    for descriptor in range(3, _most_descriptors()):
        if descriptor not in keep:
            with contextlib.suppress(OSError):
                os.close(descriptor)
    null = os.open(os.devnull, os.O_RDWR)
    for target in (0, 1, 2):
        if target not in keep:
            os.dup2(null, target)


def _most_descriptors() -> int:
    """One more than the highest descriptor that we have."""
    folder = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
    try:
        return max((int(name) for name in os.listdir(folder)), default=256) + 1  # noqa: PTH208  (bare numbers)
    except OSError:
        return 1024
