"""Whether a file changed while no agent session was open."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coffer.disk.live import start_mark
from coffer.disk.places import Places
from coffer.work.rules import quiet
from coffer.work.rules.quiet import BEFORE_SECONDS, changed_alone

HOUR = 3600.0


class Agents:
    """A home with sessions; the machine's own agents are not looked at."""

    def __init__(self, home: Path) -> None:
        self.places = Places(home / ".claude", home / ".codex")
        self.now = time.time()

    def session(self, began: float | None, written: float, name: str = "s1", agent: str = "claude") -> Path:
        folder = self.places.claude / "projects" / "-x"
        if agent == "codex":
            folder = self.places.codex / "sessions" / "2026" / "01" / "02"
            name = "rollout-2026-01-02T03-04-05-01234567-89ab-7def-8123-456789abcdef"
        folder.mkdir(parents=True, exist_ok=True)
        said = {} if began is None else {"timestamp": datetime.fromtimestamp(began, UTC).isoformat()}
        path = folder / f"{name}.jsonl"
        path.write_text(json.dumps({"type": "user"} | said) + "\n")
        os.utime(path, (written, written))
        return path

    def alone(self, changed: float) -> bool:
        return changed_alone(changed, self.places, self.now)


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Agents:
    monkeypatch.setattr(quiet, "running_agents", list)
    return Agents(tmp_path)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


def test_where_no_agent_ever_was(agents: Agents) -> None:
    assert agents.alone(agents.now - HOUR)


def test_a_change_in_the_future_can_not_be_told(agents: Agents) -> None:
    assert not agents.alone(agents.now + HOUR)


@pytest.mark.parametrize("agent", ["claude", "codex"])
@pytest.mark.parametrize(
    ("began", "written", "alone"),
    [
        (-5, 1, False),  # written after the change
        (-5, -0.1, False),  # shortly before it
        (-5, -1, True),  # long before it
        (0.5, 1, True),  # began afterwards
        (None, 1, False),  # nobody knows when it began
        (None, -1, True),
    ],
)
def test_sessions_around_the_change(
    agents: Agents,
    agent: str,
    began: float | None,
    written: float,
    alone: bool,  # noqa: FBT001
) -> None:
    """Hours after the change at which a session began and was last written."""
    change = agents.now - 2 * HOUR
    agents.session(None if began is None else change + began * HOUR, change + written * HOUR, agent=agent)
    assert agents.alone(change) == alone


def test_the_ten_minutes_before(agents: Agents) -> None:
    change = agents.now - HOUR
    agents.session(change - 2 * HOUR, change - BEFORE_SECONDS - 5)
    assert agents.alone(change)
    agents.session(change - 2 * HOUR, change - BEFORE_SECONDS + 5)
    assert not agents.alone(change)


def test_an_agent_that_was_running_then(agents: Agents, monkeypatch: pytest.MonkeyPatch) -> None:
    change = agents.now - HOUR
    monkeypatch.setattr(quiet, "running_agents", lambda: [("Claude Code", change - 60)])
    assert not agents.alone(change)
    monkeypatch.setattr(quiet, "running_agents", lambda: [("Claude Code", change + 60)])
    assert agents.alone(change), "a session that began afterwards can't have made it"


def test_a_client_in_the_registry_by_whatever_name(agents: Agents, sleeper: subprocess.Popen[bytes]) -> None:
    folder = agents.places.claude / "sessions"
    folder.mkdir(parents=True)
    said = {"pid": sleeper.pid, "sessionId": "s1", "procStart": start_mark(sleeper.pid), "status": "idle"}
    (folder / f"{sleeper.pid}.json").write_text(json.dumps(said))
    agents.now = time.time() + 10
    assert not agents.alone(time.time() + 5), "it was running then"
    assert agents.alone(time.time() - HOUR)


def test_a_held_codex_thread(agents: Agents) -> None:
    import fcntl  # noqa: PLC0415  (only here a lock is taken)

    lock = agents.places.codex / "thread-writer-locks" / "t1.lock"
    lock.parent.mkdir(parents=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        agents.now = time.time() + 10
        assert not agents.alone(time.time() + 5)
    assert agents.alone(time.time() + 5)
