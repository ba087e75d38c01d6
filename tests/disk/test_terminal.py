"""Processes at real terminals, some of which are opened long after the first was asked about."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from coffer.disk import terminal
from coffer.disk.terminal import is_at, is_in_front
from tests.daemon.rig import eventually

AT_A_TERMINAL = """
import fcntl, os, sys, termios, time
os.setsid()
fcntl.ioctl(int(sys.argv[1]), termios.TIOCSCTTY, 0)
print(flush=True)
if os.fork() == 0:
    os.setpgid(0, 0)
    print(os.getpid(), flush=True)
time.sleep(60)
"""
"""A leader in front, and a child in a group behind."""


@pytest.fixture(params=["proc", "ps"], autouse=True)
def asked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system is asked by its files, and as where there are none."""
    if request.param == "proc" and sys.platform != "linux":
        pytest.skip("no /proc here")
    if request.param == "ps" and not Path("/bin/ps").exists():
        pytest.skip("no ps here")
    monkeypatch.setattr(terminal, "_LINUX", request.param == "proc")


@contextmanager
def at_a_terminal() -> Iterator[tuple[str, int, int]]:
    """The path of a terminal, the process in front of it, and one behind."""
    outer, inner = pty.openpty()
    words = [sys.executable, "-c", AT_A_TERMINAL, str(inner)]
    with subprocess.Popen(words, pass_fds=[inner], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            behind = int(process.stdout.readline())
            yield os.ttyname(inner), process.pid, behind
            os.kill(behind, 9)
        finally:
            process.kill()
            os.close(outer)
            os.close(inner)


def test_a_terminal_that_was_opened_after_the_first_look() -> None:
    with ExitStack() as all_of_them:
        made = [all_of_them.enter_context(at_a_terminal())]
        for _ in range(3):
            for name, front, behind in made:
                at = [(is_at(pid, name), is_in_front(pid)) for pid in (front, behind)]
                assert at == [(True, True), (True, False)]
                assert not any(is_at(front, other) for other, *_ in made if other != name)
            made.append(all_of_them.enter_context(at_a_terminal()))


def test_what_has_no_terminal_or_is_gone() -> None:
    with at_a_terminal() as (name, front, _):
        assert not is_at(front, "/dev/null")
        assert not is_at(front, "/dev/pts/none")
        with subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True
        ) as other:
            assert not is_at(other.pid, name)
            assert not is_in_front(other.pid)
            other.communicate(b"\n")
        assert not is_at(other.pid, name)
        assert not is_in_front(other.pid)
    assert eventually(lambda: not is_in_front(front))
