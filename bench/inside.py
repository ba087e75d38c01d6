"""What the daemon costs while it watches: its own numbers, not those of a command.

Run as `python -m bench.inside LARGE TWENTY HOME`: a transcript of 200 MB, one of 20 MB, and a home of its own, in which
rules were written before. Prints a JSON object, row → number, in the units of `bench.rows.INSIDE`.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import psutil

from bench.vault import recalls
from coffer.daemon import client, life
from coffer.daemon.answers import Answers
from coffer.daemon.errors import DaemonSilent
from coffer.daemon.listen import Link
from coffer.daemon.loop import Loop
from coffer.daemon.standing import Due
from coffer.daemon.worker import Worker
from coffer.disk.follow import peek
from coffer.store.home import Home
from coffer.work.agent_settings.hook_files import DAEMON_ARGUMENTS

ANSWERS = 400
TICKS = 9
NEW = 1 << 20
SESSIONS = 10
SETTLE, IDLE = 15.0, 65.0
"""Seconds: for what the daemon does after the last event, and of rest that are measured, with one rescan in them."""
MEGABYTE = 1_000_000


def environment(house: Path) -> dict[str, str]:
    return {"HOME": str(house), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


def place(house: Path, source: Path, name: str) -> Path:
    """A copy of a transcript, where its client would have written it."""
    path = house / ".claude" / "projects" / "-home-dev-work" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, path)
    return path


def event(path: Path, **said: str) -> bytes:
    return json.dumps({"session_id": path.stem, "transcript_path": str(path), "cwd": "/", **said}).encode()


def answers(house: Path) -> dict[str, float]:
    """The answer to SessionStart, in its thread: the 99th of a hundred, of the processor's and of the wall's time."""
    home = Home(house / ".coffer")
    found = Answers(home, environment(house))
    spent, lasted, size = [], [], 0
    for number in range(ANSWERS):
        path = house / ".claude" / "projects" / "-home-dev-work" / f"s{number}.jsonl"
        body = event(path, source="startup")
        wall, began = time.perf_counter(), time.thread_time()
        said, asked = found._asked("claude", "SessionStart", body, {})  # noqa: SLF001
        reply = found._reply("claude", "SessionStart", said, {}, asked)  # noqa: SLF001
        spent.append((time.thread_time() - began) * 1000)
        lasted.append((time.perf_counter() - wall) * 1000)
        size = len(reply.body)
    found.close()
    assert size > 500, "there are no rules in the answer"
    last = ANSWERS * 99 // 100
    return {"answer, CPU": sorted(spent)[last], "answer, wall": sorted(lasted)[last]}


def ticks(house: Path, large: Path) -> dict[str, float]:
    """What a look at 1 MB of new records in a large transcript takes, with everything that hears of it."""
    path = place(house, large, "large")
    new = _records(large, NEW)

    async def measured() -> list[float]:
        loop = Loop(Home(house / ".coffer"), environment(house), Worker(environment(house), ("/bin/false",)))
        standings = loop.parts.standings
        due, followed = Due("claude", path, environment(house)), peek(path)
        standings._looked([due])  # noqa: SLF001
        spent = []
        for _ in range(TICKS):
            with path.open("ab") as file:
                file.write(new)
            began = time.process_time()
            followed, _ = loop.chores.grown("claude", path, followed)
            (standing,) = standings._looked([due])  # noqa: SLF001
            spent.append((time.process_time() - began) * 1000)
            assert standing.size == path.stat().st_size
        await loop.close()
        return spent

    spent = asyncio.run(measured())
    path.unlink()
    return {"guard tick, CPU": median(spent)}


def _records(path: Path, size: int) -> bytes:
    """Whole lines from the middle of a transcript."""
    with path.open("rb") as file:
        file.seek(path.stat().st_size // 2)
        file.readline()
        data = file.read(size)
    return data[: data.rfind(b"\n") + 1]


def watched(house: Path, twenty: Path) -> dict[str, float]:
    """A daemon that watches ten open sessions: its memory, and what it takes while nothing happens."""
    home = Home(house / ".coffer")
    paths = [place(house, twenty, f"session-{number}") for number in range(SESSIONS)]
    new = _records(twenty, NEW // 16)
    with _daemon(home, house) as process:
        for path in paths:
            _post(home, "SessionStart", event(path, source="resume"))
        for path in paths:
            _post(home, "UserPromptSubmit", event(path, prompt="go on"))
            with path.open("ab") as file:
                file.write(new)
            _post(home, "Stop", event(path, last_assistant_message="done"))
        time.sleep(SETTLE)
        said = client.ask(home, "/api/v1/status")
        known = [one for one in said["sessions"] if one["standing"] and one["standing"]["tokens"]]
        assert len(known) == SESSIONS, f"{len(known)} sessions are known"
        before, began = _spent(process), time.monotonic()
        time.sleep(IDLE)
        idle = (_spent(process) - before) / (time.monotonic() - began) * 100
        memory = process.memory_info().rss / MEGABYTE
    return {"watched, memory": memory, "watched, idle CPU": idle}


def _spent(process: psutil.Process) -> float:
    """CPU seconds of the process itself, as exactly as the system tells."""
    try:
        return int(Path(f"/proc/{process.pid}/schedstat").read_text("ascii").split()[0]) / 1e9
    except OSError:
        times = process.cpu_times()
        return float(times.user + times.system)


@contextmanager
def _daemon(home: Home, house: Path) -> Iterator[psutil.Process]:
    words = [sys.executable, *DAEMON_ARGUMENTS]
    null = subprocess.DEVNULL
    with subprocess.Popen(words, env=environment(house), cwd="/", stdout=null, stderr=null) as started:
        try:
            _wait(lambda: _answers(home))
            yield psutil.Process(started.pid)
        finally:
            started.terminate()


def _answers(home: Home) -> bool:
    try:
        return life.running(home) is not None and client.ask(home, "/api/v1/health") is not None
    except DaemonSilent:
        return False


def _wait(true: Callable[[], bool]) -> None:
    while not true():
        time.sleep(0.05)


def _post(home: Home, name: str, body: bytes) -> None:
    link = Link(home, 30.0)
    try:
        link.request("POST", f"/api/v1/agents/claude/events/{name}", body, {})
        link.getresponse().read()
    finally:
        link.close()


def main(large: Path, twenty: Path, house: Path) -> None:
    os.environ.clear()  # what is measured must not be told of this machine's own sessions
    os.environ.update(environment(house))
    print(json.dumps({**answers(house), **ticks(house, large), **watched(house, twenty), **recalls()}))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
