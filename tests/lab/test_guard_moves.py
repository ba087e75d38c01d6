"""The guard moves sessions of the real client: pruned at idle, reloaded in place, and nothing in flight is touched."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pytest

from coffer.disk.places import Places
from coffer.store.db import Receipt
from coffer.work.guarding.gate import judge_session
from coffer.work.guarding.move_story import moves_made, outcome
from tests.bundle.desk import HARD, times, write_rules
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome
from tests.lab.conformance import PROBE, differences
from tests.lab.delivery_page import figure
from tests.lab.test_daemon import Installed, git
from tests.launch.pane import Pane

pytestmark = pytest.mark.lab
SOURCE = Path(__file__).parents[2] / "src"
LARGE = 4_000
"""Lines that a command prints: about 20,000 characters, which a standard prune takes out."""
CTRL_U = "\x15"
TRIED = 90.0
"""Seconds within which the guard looks again at a session that is due: it does so at least once a minute."""
FETCH = {"name": "WebFetch", "input": {"url": "http://x.invalid/", "prompt": "a"}}
HELPER = {
    "name": "Agent",
    "input": {
        "description": "help",
        "prompt": "be a helper",
        "subagent_type": "general-purpose",
        "run_in_background": True,
    },
}


class Stage(Installed):
    """A machine with Coffer's hooks and daemon, and Claude Code under `coffer run` on a terminal."""

    def __init__(self, home: ClaudeHome, server: AnthropicServer) -> None:
        super().__init__(home.home)
        self.claude, self.server = home, server
        self.words = 0
        self.scripts: dict[str, list[dict[str, Any]]] = {}
        programs = home.root / "bin"
        programs.mkdir(exist_ok=True)
        (programs / "claude").symlink_to(home.binary)
        self.env = home.env(
            {"PYTHONPATH": str(SOURCE), "PATH": f"{programs}:{Path(sys.executable).parent}:/usr/bin:/bin"}
        )

    @contextmanager
    def running(self) -> Iterator[Self]:
        """In a repository, with Coffer's hooks in place and its daemon up."""
        git(self.claude.cwd)
        self.put_in("claude", self.places)
        self.begin()
        try:
            yield self
        finally:
            self.end()

    @property
    def path(self) -> Path:
        """Of the session on the terminal: the largest."""
        return max(self.claude.transcripts(), key=lambda path: path.stat().st_size)

    @property
    def places(self) -> Places:
        return Places(self.claude.config, self.claude.home / ".codex")

    def status(self) -> str:
        return next((str(one.get("status")) for one in self.claude.registry()), "")

    def pane(self, *arguments: str) -> Pane:
        words = [
            sys.executable,
            "-m",
            "coffer.cli.main",
            "run",
            "claude",
            *self.claude.model_args,
            *arguments,
        ]
        return Pane(words, env=self.env, cwd=self.claude.cwd, rows=40, columns=130)

    def say(self, pane: Pane, used: int, *turns: dict[str, Any]) -> str:
        """A turn; the word that its answer holds. used: tokens that it counts too many, 0: as they are."""
        self.words += 1
        word = f"word{self.words}"
        usage = {"usage": {"input_tokens": used}} if used else {}
        self.scripts[f"do the {word} thing"] = [*turns, {"text": f"answered {word}", **usage}]
        self.server.play({"scripts": self.scripts, "after_script": {"text": "noted", **usage}})
        pane.submit(f"do the {word} thing")
        return word

    def grow(self, pane: Pane, used: int, calls: int = 6) -> None:
        """A turn with large results."""
        begin = 100_000 * (self.words + 1)
        commands = [f"seq {begin + number} {begin + number + LARGE}" for number in range(calls)]
        self.ended(pane, self.say(pane, used, *map(bash, commands)))

    def ended(self, pane: Pane, word: str) -> None:
        pane.wait(f"answered {word}")
        self.wait_idle(pane)

    def wait_idle(self, pane: Pane) -> None:
        self.until(pane, lambda: any(one.get("status") == "idle" for one in self.claude.registry()))

    def until(self, pane: Pane, true: Callable[[], Any], seconds: float = 40.0) -> Any:
        """Wait, while the terminal is read on."""
        end = time.monotonic() + seconds
        while not (found := true()):
            assert time.monotonic() < end, f"it did not happen\n{self.log()[-1500:]}\n" + "\n".join(
                pane.look().rows
            )
            pane.read(0.05)
        return found

    def helped(self) -> bool:
        """Whether a subagent has begun."""
        return any(self.path.with_suffix("").rglob("agent-*.jsonl"))

    def tried(self, pane: Pane) -> None:
        """Wait until the guard has made one whole attempt: it took the session's lock, and its worker has ended."""
        lock = self.home.locks / f"guard-{self.path.stem}.lock"

        def taken() -> int:
            return lock.stat().st_mtime_ns if lock.exists() else 0  # whoever takes it truncates it

        before = taken()
        self.until(pane, lambda: taken() != before, TRIED)
        self.until(pane, lambda: self.job() is None)

    def moves(self) -> list[Receipt]:
        return moves_made(self.home, self.path)

    def made(self) -> list[Receipt]:
        """Those that were made: one that failed met a busy screen in the last moment, and wrote nothing."""
        return [one for one in self.moves() if one.status != "failed"]

    def moved(self, count: int) -> bool:
        made = [one for one in self.moves() if one.status == "done"]
        return len(made) >= count and outcome(made[0]) == "reloaded"

    def sent(self) -> str:
        return json.dumps(self.server.messages_requests()[-1].messages)

    def window(self) -> tuple[str, bool]:
        last = self.server.messages_requests()[-1]
        return str((last.body or {}).get("model")), "context-1m" in last.headers.get("anthropic-beta", "")


def bash(command: str, **more: Any) -> dict[str, Any]:
    return {"tools": [{"name": "Bash", "input": {"command": command, "description": "work", **more}}]}


@pytest.fixture
def stage(claude_home: ClaudeHome, anthropic_server: AnthropicServer) -> Iterator[Stage]:
    with Stage(claude_home, anthropic_server).running() as stage:
        yield stage


def test_grown_over_a_tier_it_is_pruned_at_idle_and_reloaded(stage: Stage) -> None:
    """The next request holds the expected view, and the rules once; window and draft are kept; the saving is known."""
    write_rules(stage.claude.home, stage.home, HARD)
    stage.env["COZEMPIC_CONTEXT_WINDOW"] = "150000"
    with stage.pane() as pane:
        pane.wait("❯")
        stage.grow(pane, 0)
        before, made = stage.window(), len(stage.made())
        assert made == 0
        stage.grow(pane, 0, calls=2)
        stage.until(pane, lambda: stage.moved(1))
        receipt = stage.moves()[0]
        assert (receipt.data["by"], receipt.data["tier"]) == ("guard", "trim")
        reload = receipt.data["reload"]
        figure("guard-reload", f"{reload['since_idle']} s from idle, {reload['seconds']} s from Enter")
        count = len(stage.server.messages_requests())
        for key in "a draft":
            pane.type(key)
            pane.read(0.02)
        pane.settle(0.5)
        assert any(row.replace("\xa0", " ").startswith("❯ a draft") for row in pane.look().rows)
        assert len(stage.server.messages_requests()) == count, "nothing was sent that nobody typed"
        pane.type(CTRL_U)
        pane.settle(0.3)
        as_pruned = stage.claude.root / "as-pruned.jsonl"
        as_pruned.write_bytes(stage.path.read_bytes())
        stage.scripts[PROBE] = [{"text": "answered the probe"}]
        stage.server.play({"scripts": stage.scripts})
        pane.submit(PROBE)
        stage.ended(pane, "the probe")
        request = stage.server.messages_requests()[-1]
        assert differences(as_pruned, request.body or {}) == []
        sent = json.dumps(request.messages)
        assert "removed; coffer restore" in sent
        assert "/resume" not in sent
        assert times(request.messages, HARD) == 1
        assert stage.window() == before == ("claude-opus-4-8", True)
        pane.wait("takes it back")
        closed = stage.until(pane, lambda: (data := stage.moves()[0].data).get("measured") and data)
        figure("guard-saved", f"{closed['tokens_before']} tokens, {forecast(closed)}")
        assert abs(closed["measured"] - closed["forecast"]) < 0.25 * closed["forecast"]
        undone(stage, pane, receipt.id, closed)
    assert stage.server.breaches == []


def forecast(closed: dict[str, Any]) -> str:
    return f"{closed['forecast']} forecast, {closed['measured']} measured"


def undone(stage: Stage, pane: Pane, receipt: str, closed: dict[str, Any]) -> None:
    """From another terminal, while the session is open: the original is back, and what was said since stays."""
    appended = stage.path.read_bytes()[closed["bytes_after"] :]
    undo = [sys.executable, "-m", "coffer.cli.main", "undo", receipt, "--json"]
    with ThreadPoolExecutor(1) as beside:
        ran = beside.submit(subprocess.run, undo, env=stage.env, capture_output=True, check=False)
        stage.until(pane, ran.done)
    done = json.loads(ran.result().stdout)
    assert (done["kind"], done["reload"]["outcome"]) == ("reloaded", "reloaded")
    original = Path(closed["backup"]).read_bytes()
    assert stage.path.read_bytes().startswith(original)
    assert appended in stage.path.read_bytes()
    stage.ended(pane, stage.say(pane, 0))
    sent = json.dumps(stage.server.messages_requests()[-1].messages)
    assert "removed; coffer restore" not in sent
    assert "answered word1" in sent
    assert "answered the probe" in sent


def test_work_in_flight_is_not_touched_and_then_it_is_done(stage: Stage) -> None:
    """A background shell, a permission prompt and a subagent, each at the moment when a tier fires; then it is over."""
    go_on = stage.claude.root / "go-on"
    waits = f"until [ -e {go_on} ]; do sleep 0.05; done"
    with ThreadPoolExecutor(1) as beside, stage.pane() as pane:
        headless = beside.submit(stage.claude.run, "-p", "hello")
        pane.wait("❯")

        def held(kind: str) -> None:
            """Nothing is written and nothing typed for longer than an idle session is left; the verdict says why."""
            data, made, until = stage.path.read_bytes(), len(stage.made()), time.monotonic() + 2.0
            while time.monotonic() < until:
                pane.read(0.05)
            verdict = judge_session(stage.path, stage.places, stage.home)
            assert kind in [each.kind for each in verdict.write.blockers]
            assert stage.path.read_bytes().startswith(data)  # what came is the client's own
            assert len(stage.made()) == made

        stage.grow(pane, 400_000)
        stage.say(pane, 540_000, bash(waits, run_in_background=True))
        stage.until(pane, lambda: stage.status() == "shell")
        held("shell")
        go_on.touch()
        stage.until(pane, lambda: stage.moved(1))
        stage.grow(pane, 600_000)
        stage.say(pane, 720_000, {"tools": [FETCH], "usage": {"input_tokens": 720_000}})
        pane.wait("Do you want")
        held("dialog")
        pane.type("\x1b")
        stage.until(pane, lambda: stage.moved(2))
        stage.grow(pane, 600_000)
        go_on.unlink()
        stage.scripts["be a helper"] = [bash(waits), {"text": "helped"}]
        stage.say(pane, 920_000, {"tools": [HELPER], "usage": {"input_tokens": 920_000}})
        stage.until(pane, lambda: stage.status() == "busy" and stage.helped())
        held("turn")
        go_on.touch()
        stage.until(pane, lambda: stage.moved(3))
        assert [one.data["tier"] for one in stage.made()] == ["last call", "deep", "trim"]
    assert "/resume" not in json.dumps([one.body for one in stage.server.messages_requests()])
    program = stage.claude.transcript(headless.result().session_id)
    assert moves_made(stage.home, program) == []
    assert stage.server.breaches == []


def test_a_person_orders_it_in_the_session_and_reloads_by_hand(stage: Stage) -> None:
    """Without `coffer run`: the line that the nudge names, typed into the client, and then `/resume`."""
    words = [str(stage.claude.binary), *stage.claude.model_args]
    with Pane(words, env=stage.env, cwd=stage.claude.cwd, rows=40, columns=130) as pane:
        pane.wait("❯")
        stage.grow(pane, 0)
        stage.ended(pane, stage.say(pane, 0))
        pane.type("!")
        pane.settle(0.3)
        pane.submit("coffer guard now")
        pane.wait("Then type: /resume")
        stage.until(
            pane, lambda: [one.data["reload"]["outcome"] for one in stage.moves() if one.status == "done"]
        )
        (receipt,) = stage.made()
        assert (receipt.data["by"], outcome(receipt)) == ("person", "by hand")
        pane.submit(f"/resume {stage.path.stem}")
        pane.settle(1.5)
        stage.ended(pane, stage.say(pane, 0))
        assert "removed; coffer restore" in json.dumps(stage.server.messages_requests()[-1].messages)
        closed = stage.until(pane, lambda: (data := stage.moves()[0].data).get("measured") and data)
        assert closed["reload"]["outcome"] == "reloaded"
        figure("guard-ordered", forecast(closed))
    assert stage.server.breaches == []
