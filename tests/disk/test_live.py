"""Which sessions a running client holds: asked of real processes."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coffer.disk.live import codex_holder, holders, start_mark
from coffer.disk.places import Places
from tests.transcripts import SESSION, THREAD, Json


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "claude", tmp_path / "codex")


@pytest.fixture
def child() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process.pid


def register(places: Places, pid: int, start: object = "right", **more: object) -> Path:
    said: Json = {
        "pid": pid,
        "procStart": start_mark(pid) if start == "right" else start,
        "sessionId": SESSION,
        "status": "idle",
        **more,
    }
    path = places.claude / "sessions" / f"{pid}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(said))
    return path


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


# --- what is not live


def test_no_registry_nobody(places: Places) -> None:
    assert holders(places) == {}


@pytest.mark.parametrize("start", ["1", "", None, 12, "Thu Jan  1 00:00:00 1970"])
def test_a_pid_that_now_belongs_to_another_process(places: Places, child: int, start: object) -> None:
    # kill -9 leaves the file, and the system gives the number away again
    register(places, child, start)
    assert holders(places) == {}


def test_a_dead_process(places: Places) -> None:
    pid = dead_pid()
    assert start_mark(pid) is None
    register(places, pid, "12345")
    assert holders(places) == {}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b'{"pid":',
        b"null",
        b"[]",
        b'{"pid":"1"}',
        b'{"pid":1}',
        b"\0" * 40,
        b"\xff",
        b'{"pid":-1,"procStart":"x"}',
    ],
)
def test_a_half_written_or_foreign_file(places: Places, child: int, data: bytes) -> None:
    register(places, child).write_bytes(data)
    assert holders(places) == {}


def test_a_file_that_cannot_be_read_hides_no_other(places: Places, child: int) -> None:
    path = register(places, child)
    path.with_name("1.json").mkdir()
    path.with_name("2.json").symlink_to("gone")
    path.with_name("3.json").write_bytes(b"[" * 100_000)
    assert list(holders(places)) == [SESSION]


# --- what is


def test_a_living_process_with_its_start(places: Places, child: int) -> None:
    register(places, child, status="waiting", waitingFor="permission prompt")
    (holder,) = holders(places)[SESSION]
    assert (holder.pid, holder.status, holder.waiting_for) == (child, "waiting", "permission prompt")


def test_a_headless_client_states_no_status(places: Places, child: int) -> None:
    register(places, child, status=None)
    (holder,) = holders(places)[SESSION]
    assert holder.status == ""


def test_two_clients_on_one_session(places: Places, child: int) -> None:
    register(places, child)
    register(places, os.getpid())
    assert len(holders(places)[SESSION]) == 2


def test_the_start_of_a_process_does_not_change(child: int) -> None:
    first = start_mark(child)
    assert first is not None
    assert first == start_mark(child)


@pytest.mark.skipif(sys.platform != "linux", reason="macOS writes another form")
@pytest.mark.parametrize("name", ["a) R 1 1 1 1 1 1 1", "a b (c) d", "))) ((("])
def test_the_name_of_a_process_does_not_disturb(name: str, tmp_path: Path) -> None:
    program = tmp_path / name[:15]
    program.symlink_to(sys.executable)
    with subprocess.Popen([program, "-c", "input()"], stdin=subprocess.PIPE) as process:
        mark = start_mark(process.pid)
    assert mark is not None
    assert int(mark) > 100


# --- Codex


@pytest.fixture
def _impatient() -> Iterator[None]:
    """Five seconds, then an error in place of a test run that stands still."""

    def give_up(_number: int, _frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(5)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@contextmanager
def holding(places: Places, thread: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that holds a thread's lock as the client does."""
    path = places.codex / "thread-writer-locks" / f"{thread}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    program = (
        "import fcntl, sys\n"
        "file = open(sys.argv[1], 'w')\n"
        "fcntl.flock(file, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\n"
        "sys.stdin.readline()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process


def test_no_lock_nobody(places: Places) -> None:
    assert codex_holder(places, THREAD) is None


def test_a_held_lock(places: Places) -> None:
    with holding(places, THREAD) as process:
        holder = codex_holder(places, THREAD)
        assert holder is not None
        assert holder.pid in (process.pid, 0)
        assert codex_holder(places, "another") is None


def test_a_lock_is_free_after_a_kill(places: Places) -> None:
    with holding(places, THREAD) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert codex_holder(places, THREAD) is None


def test_a_lock_file_that_nobody_holds(places: Places) -> None:
    with holding(places, THREAD):
        pass
    assert (places.codex / "thread-writer-locks" / f"{THREAD}.lock").exists()
    assert codex_holder(places, THREAD) is None


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere looking takes the lock for a moment")
def test_looking_takes_no_lock(places: Places) -> None:
    # a client that starts in the same moment would find its thread taken
    path = places.codex / "thread-writer-locks" / f"{THREAD}.lock"
    path.parent.mkdir(parents=True)
    path.touch()
    with path.open() as file:
        for _ in range(50):
            assert codex_holder(places, THREAD) is None
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(file, fcntl.LOCK_UN)


@pytest.mark.usefixtures("_impatient")
def test_odd_lock_files_are_no_error(places: Places) -> None:
    # a pipe with that name would hold the command for ever
    folder = places.codex / "thread-writer-locks"
    folder.mkdir(parents=True)
    (folder / "a.lock").mkdir()
    (folder / "b.lock").symlink_to("nowhere")
    os.mkfifo(folder / "c.lock")
    for name in ("a", "b", "c", "x" * 300, "a\0b", "../a"):
        assert codex_holder(places, name) is None


def held(places: Places) -> list[int]:
    return [one.pid for found in holders(places).values() for one in found]


def test_one_that_nobody_buried_is_dead(places: Places) -> None:
    """Killed, and its parent never asks: it keeps its pid and its start."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        register(places, process.pid)
        assert held(places) == [process.pid]
        os.kill(process.pid, signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # dead by now, and not reaped
        assert start_mark(process.pid) is None
        assert held(places) == []
    finally:
        process.communicate()
