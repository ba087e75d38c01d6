"""The worker: one at a time, with a deadline, and a death of it costs a job."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from coffer.daemon.learning import BACK_OFF, LONGEST_BACK_OFF, Pupil
from coffer.daemon.session import Session
from coffer.daemon.worker import Worker, WorkerFailed
from coffer.disk.follow import Followed
from coffer.store.home import Home
from tests.daemon.rig import eventually, gone

LISTENS = "import sys,json; job=json.load(sys.stdin); "


def worker(code: str, **environment: str) -> Worker:
    return Worker({"PATH": "/usr/bin:/bin", **environment}, (sys.executable, "-c", LISTENS + code))


def test_a_job_and_its_answer() -> None:
    one = worker(
        "import os; print(json.dumps({'job': job, 'child': os.environ['COFFER_CHILD'], 'cwd': os.getcwd()}))"
    )
    assert asyncio.run(one.run({"job": "x"}, 30)) == {
        "job": {"job": "x", "seconds": 30},
        "child": "1",
        "cwd": "/",
    }
    assert (one.jobs, one.failures, one.pid) == (1, 0, None)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import os; os.kill(os.getpid(), 9)", "signal 9"),
        ("sys.exit(3)", "ended with 3"),
        ("print('[]')", "no answer"),
        ("print('{')", "no answer"),
        ("raise ValueError('api_key=sk-ant-api03-" + "A" * 90 + "')", "ended with 1"),
    ],
)
def test_what_is_no_answer(code: str, why: str, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(WorkerFailed, match=why):
        asyncio.run(worker(code).run({}, 30))
    assert "sk-ant-api03-AAA" not in caplog.text


def test_what_fails_again_and_again_is_told_and_what_fails_once_is_not() -> None:
    one = worker(
        "kind = job['kind']; "
        "kind or sys.exit(3); print(json.dumps({} if kind == 'well' else {'error': 'No.', 'kind': kind}))"
    )

    async def told(name: str, kind: str) -> str:
        with suppress(WorkerFailed):
            await one.run({"job": name, "kind": kind}, 30)
        return one.problem

    async def all_of_it() -> list[str]:
        steps = [("learn", "")] * 2 + [("distil", "well"), ("learn", "StoreFailed"), ("learn", "Busy")]
        return [await told(*step) for step in [*steps, ("learn", "well")]]

    assert asyncio.run(all_of_it()) == [
        "",
        "",
        "",
        *["“learn” came to nothing 3 times in a row: No."] * 2,
        "",
    ]


def test_one_that_hangs_is_killed_with_what_it_started(tmp_path: Path) -> None:
    code = (
        "import subprocess, time; p = subprocess.Popen(['sleep', '300']); "
        "open(job['file'], 'w').write(str(p.pid)); time.sleep(300)"
    )

    async def hang(file: Path) -> None:
        with pytest.raises(WorkerFailed, match="within 1 seconds"):
            await worker(code).run({"file": str(file)}, 1)

    file = tmp_path / "pid"
    began = time.monotonic()
    asyncio.run(hang(file))
    assert time.monotonic() - began < 30
    if file.exists():
        eventually(lambda: gone(int(file.read_text())))


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(WorkerFailed, match="can't be started"):
        asyncio.run(Worker({}, ("/no/such/program",)).run({}, 5))


def test_it_inherits_no_descriptor(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        code = (
            "import os; folder = '/proc/self/fd'; found = [f'{folder}/{n}' for n in os.listdir(folder)]; "
            "print(json.dumps({'open': [os.readlink(n) for n in found if os.path.lexists(n)]}))"
        )
        said = asyncio.run(worker(code).run({}, 30))
    assert not [path for path in said["open"] if str(tmp_path) in path]


class Fake(Worker):
    """Fails with the sessions that are poisoned."""

    def __init__(self, *poisoned: str) -> None:
        super().__init__({})
        self.poisoned = set(poisoned)
        self.asked: list[list[str]] = []

    async def run(self, job: Any, seconds: float) -> dict[str, Any]:
        assert seconds > 0
        names = [one["id"] for one in job["sessions"]]
        self.asked.append(names)
        if self.poisoned & set(names):
            raise WorkerFailed("it did not end")
        return {"turns": len(names)}


class Class:
    """A pupil with a clock that the test turns."""

    def __init__(self, home: Path, *poisoned: str) -> None:
        self.now = 1000.0
        self.worker = Fake(*poisoned)
        self.pupil = Pupil(Home(home), self.worker, self.told, lambda: self.now)
        self.sessions: dict[Path, Session] = {}

    async def told(self, answer: dict[str, Any]) -> None:
        assert answer

    def grow(self, name: str, size: int = 10) -> None:
        path = Path("/t") / f"{name}.jsonl"
        session = self.sessions.setdefault(path, Session("claude", path, {"HOME": "/h"}))
        session.followed = Followed((1, 1), size, size)
        session.mark(self.now)

    def step(self) -> None:
        due = self.pupil.next_due(self.sessions)
        if due is not None:
            self.now = max(self.now, due)
        asyncio.run(self.pupil.step(self.sessions))


def test_a_poisoned_session_backs_off_and_holds_nobody_up(tmp_path: Path) -> None:
    lesson = Class(tmp_path, "bad")
    for name in ("a", "bad", "b"):
        lesson.grow(name)
    for _ in range(4):
        lesson.step()
    assert lesson.worker.asked[0] == ["a", "bad", "b"]
    assert sorted(names[0] for names in lesson.worker.asked[1:]) == ["a", "b", "bad"]
    began = lesson.now
    for number in range(5):
        lesson.grow(f"good{number}")
        lesson.step()
    assert lesson.now - began < BACK_OFF
    assert [names for names in lesson.worker.asked[4:] if "bad" in names] == []
    for _ in range(20):
        lesson.step()
    waits = lesson.sessions[Path("/t/bad.jsonl")].not_before - lesson.now
    assert waits == LONGEST_BACK_OFF
    lesson.worker.poisoned.clear()
    lesson.step()
    assert lesson.sessions[Path("/t/bad.jsonl")].failures == 0
    assert lesson.pupil.next_due(lesson.sessions) is None


def test_large_sessions_do_not_share_a_job(tmp_path: Path) -> None:
    lesson = Class(tmp_path)
    for number in range(4):
        lesson.grow(f"s{number}", 40 << 20)
    for number in range(40):
        lesson.grow(f"t{number}", 10)
    for _ in range(10):
        lesson.step()
    assert max(map(len, lesson.worker.asked)) <= 16
    assert sorted(chain.from_iterable(lesson.worker.asked)) == sorted(path.stem for path in lesson.sessions)
