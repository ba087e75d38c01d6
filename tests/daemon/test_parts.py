"""What the parts of the daemon hear, and that a broken one costs nobody else anything."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from coffer.daemon import part as door
from coffer.daemon.learning import Learning
from coffer.daemon.loop import Loop
from coffer.daemon.part import Given
from coffer.daemon.parts import Parts
from coffer.daemon.session import Session
from coffer.daemon.standing import Standings
from coffer.daemon.worker import Worker
from coffer.disk.follow import Growth
from coffer.disk.sessions import Found
from coffer.store.home import Home
from coffer.work.delivery.deliver import Asked
from tests.daemon.rig import LONG, Rig


@dataclass
class Ear:
    """A part that notes what it hears. broken: and fails each time."""

    broken: bool = False
    noted: list[tuple[str, str]] = field(default_factory=list)
    runs: int = 0

    def heard(self, asked: Asked, event: str) -> None:
        self.note(event, asked.session)

    def grew(self, session: Session, growth: Growth) -> None:
        self.note("replaced" if growth.replaced else "grew", session.path.stem)

    def ended(self, session: Session, reason: str) -> None:
        self.note(f"ended {session.path.stem}", reason)

    def swept(self, found: Sequence[Found]) -> None:
        self.note("swept", ",".join(sorted(one.path.stem for one in found)))

    async def run(self) -> None:
        self.runs += 1
        if self.broken:
            raise IndexError("run")
        await asyncio.Event().wait()

    def note(self, what: str, said: str) -> None:
        self.noted.append((what, said))
        if self.broken:
            raise IndexError(what)


def event(name: str, path: Path, **said: str) -> bytes:
    more = {"session_id": path.stem, "transcript_path": str(path), "cwd": "/", "hook_event_name": name}
    return json.dumps(more | said).encode()


def test_every_part_hears_all_though_one_is_broken(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(door, "AGAIN_SECONDS", 0.05)
    session = rig.session("one", rig.project())
    session.says("fix the parser")
    broken, whole = Ear(broken=True), Ear()

    async def live() -> None:
        def made(given: Given) -> Parts:
            return Parts(Learning(given), Standings(given), (broken, whole))

        loop = Loop(Home(rig.home.root), rig.environment, Worker(rig.environment, ("/bin/false",)), made)
        stopping = asyncio.Event()
        running = asyncio.create_task(loop.run(stopping))
        for name, reason in (("SessionStart", ""), ("PreCompact", ""), ("SessionEnd", "clear")):
            answered = await loop.event("claude", name, event(name, session.path, reason=reason), {})
            assert answered.asked is not None
        until = time.monotonic() + LONG
        while broken.runs < 2 or not {"grew", "swept", "ended one"} <= {what for what, _ in whole.noted}:
            session.says("and on")  # a sweep that came first has seen what was there
            await asyncio.sleep(0.1)
            assert time.monotonic() < until, whole.noted
        assert not running.done()
        stopping.set()
        await running
        await loop.close()

    asyncio.run(live())
    assert whole.noted == broken.noted
    assert whole.runs == 1
    hooks = [one for one in whole.noted if one[1] == "one" and one[0] not in ("grew", "swept")]
    assert hooks == [("SessionStart", "one"), ("PreCompact", "one"), ("SessionEnd", "one")]
    assert ("ended one", "clear") in whole.noted
    assert ("swept", "one") in whole.noted
    assert "Ear failed" in caplog.text
