"""An error of our own in a thread ends what was being done, and not the daemon."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coffer.daemon.errors import ThreadFailed
from coffer.daemon.loop import Loop
from coffer.daemon.threads import in_thread
from coffer.daemon.worker import Worker
from coffer.errors import Busy
from coffer.store.home import Home
from tests.daemon.rig import LONG, Rig


def refuse() -> None:
    raise Busy("x")


def test_what_a_thread_raises() -> None:
    with ThreadPoolExecutor(1) as thread:
        assert asyncio.run(in_thread(thread, divmod, 7, 2)) == (3, 1)
        with pytest.raises(ThreadFailed, match="ZeroDivisionError"):
            asyncio.run(in_thread(thread, divmod, 7, 0))
        with pytest.raises(Busy):
            asyncio.run(in_thread(thread, refuse))


def test_a_transcript_on_which_a_look_fails_ends_no_daemon(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Both sessions are looked at, the first of them in vain."""
    bad, good = rig.session("bad", rig.project()), rig.session("good", rig.project())
    for session in (bad, good):
        session.says("fix the parser")

    async def live() -> None:
        loop = Loop(Home(rig.home.root), rig.environment, Worker(rig.environment, ("/bin/false",)))
        grown = loop.chores.grown

        def fail(agent: str, path: Path, before: object) -> object:
            if path == bad.path:
                raise IndexError(path)
            return grown(agent, path, before)  # type: ignore[arg-type]

        monkeypatch.setattr(loop.chores, "grown", fail)
        stopping = asyncio.Event()
        running = asyncio.create_task(loop.run(stopping))
        until = time.monotonic() + LONG
        while not ("IndexError" in caplog.text and good.path in loop.sessions and loop.worker.failures):
            for session in (bad, good):
                loop._look(session.path)  # noqa: SLF001
            await asyncio.sleep(0.1)
            assert time.monotonic() < until
        assert not running.done()
        stopping.set()
        await running
        await loop.close()

    asyncio.run(live())
