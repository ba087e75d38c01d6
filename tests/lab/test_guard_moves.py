"""The guard moves sessions of the real client: pruned at idle, reloaded in place, and nothing in flight is touched."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from coffer.core.digest_text import MARKER
from coffer.disk.places import Places
from coffer.store.db import Receipt
from coffer.work.gate import judge_session
from coffer.work.move_story import moves_made, outcome
from tests.bundle.desk import HARD, times, write_rules
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome
from tests.lab.test_daemon import Installed, git
from tests.launch.pane import Pane

pytestmark = pytest.mark.lab
SOURCE = Path(__file__).parents[2] / "src"
WINDOW = 1_000_000
LARGE = 4_000
"""Lines that a command prints: about 20,000 characters, which a standard prune takes out."""
CTRL_U = "\x15"
FETCH = {"name": "WebFetch", "input": {"url": "http://x.invalid/", "prompt": "a"}}
HELPER = {
    "name": "Agent",
    "input": {
        "description": "help",
        "prompt": "be a slow helper",
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

    @property
    def path(self) -> Path:
        """Of the newest session."""
        return self.claude.transcripts()[-1]

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
        """A turn of the model, whose last answer counts `used` tokens; the word that the answer holds."""
        self.words += 1
        word = f"word{self.words}"
        self.scripts[f"do the {word} thing"] = [*turns, {"text": f"answered {word}", "usage": counted(used)}]
        self.server.play({"scripts": self.scripts, "after_script": {"text": "noted", "usage": counted(used)}})
        pane.submit(f"do the {word} thing")
        return word

    def grow(self, pane: Pane, used: int) -> None:
        """A turn with large results, and two small ones: a prune leaves the last ones alone."""
        commands = [f"seq {used + number} {used + number + LARGE}" for number in range(6)]
        self.ended(pane, self.say(pane, used - 2_000, *map(bash, commands)))
        for left in (1_000, 0):
            self.ended(pane, self.say(pane, used - left))

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

    def moves(self) -> list[Receipt]:
        return moves_made(self.home, self.path)

    def moved(self, count: int) -> bool:
        made = [one for one in self.moves() if one.status == "done"]
        return len(made) >= count and outcome(made[0]) == "reloaded"

    def sent(self) -> str:
        return json.dumps(self.server.messages_requests()[-1].messages)

    def window(self) -> tuple[str, bool]:
        last = self.server.messages_requests()[-1]
        return str((last.body or {}).get("model")), "context-1m" in last.headers.get("anthropic-beta", "")


def counted(used: int) -> dict[str, int]:
    return {
        "input_tokens": used,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 1,
    }


def bash(command: str, **more: Any) -> dict[str, Any]:
    return {"tools": [{"name": "Bash", "input": {"command": command, "description": "work", **more}}]}


@pytest.fixture
def stage(claude_home: ClaudeHome, anthropic_server: AnthropicServer) -> Iterator[Stage]:
    stage = Stage(claude_home, anthropic_server)
    git(claude_home.cwd)
    stage.put_in("claude", stage.places)
    stage.begin()
    yield stage
    stage.end()


def test_grown_over_the_tiers_it_is_pruned_at_idle_and_reloaded(stage: Stage) -> None:
    """Trim, then deep: the next request holds the expected view and the rules once; window and draft are kept."""
    write_rules(stage.claude.home, stage.home, HARD)
    with stage.pane() as pane:
        pane.wait("❯")
        stage.grow(pane, 300_000)
        before = stage.window()
        assert stage.moves() == []
        word = stage.say(pane, 600_000, bash(f"seq 1 {LARGE}"))
        stage.ended(pane, word)
        begin = time.monotonic()
        stage.until(pane, lambda: stage.moved(1))
        print(
            f"idle to reloaded, as seen here: {time.monotonic() - begin:.1f} s",
            stage.moves()[0].data["reload"],
        )
        data = stage.moves()[0].data
        assert (data["by"], data["tier"], data["reload"]["means"]) == ("guard", "trim", "typed")
        count = len(stage.server.messages_requests())
        for key in "a draft":
            pane.type(key)
            pane.read(0.02)
        pane.settle(0.5)
        assert any(row.replace("\xa0", " ").startswith("❯ a draft") for row in pane.look().rows)
        assert len(stage.server.messages_requests()) == count, "nothing was sent that nobody typed"
        pane.type(CTRL_U)
        pane.settle(0.3)
        after = data["tokens_after"]
        word = stage.say(pane, after)
        stage.ended(pane, word)
        sent = stage.sent()
        assert "coffer__restore" in sent or "restore" in sent
        assert "/resume" not in sent
        assert times(stage.server.messages_requests()[-1].messages, HARD) == 1
        assert sent.count(json.dumps(MARKER)[1:-1]) == 1
        assert stage.window() == before == ("claude-opus-4-8", True)
        stage.until(pane, lambda: "measured" in stage.moves()[0].data)
        closed = stage.moves()[0].data
        print({key: closed[key] for key in ("forecast", "measured", "left_out", "strategies")})
        pane.wait("takes it back")
        pane.type("/exit\r")
        pane.ended()
    assert stage.server.breaches == []


def test_work_in_flight_is_not_touched_and_then_it_is_done(stage: Stage) -> None:
    """A background shell, a permission prompt and a subagent, each at the moment when a tier fires."""
    headless = stage.claude.run("-p", "hello")
    untouched = stage.claude.transcript(headless.session_id)
    before = untouched.read_bytes()
    with stage.pane() as pane:
        pane.wait("❯")

        def held(kind: str) -> None:
            """Nothing is written and nothing typed for longer than an idle session is left; the verdict says why."""
            data, made, until = stage.path.read_bytes(), len(stage.moves()), time.monotonic() + 2.5
            while time.monotonic() < until:
                pane.read(0.05)
            verdict = judge_session(stage.path, stage.places, stage.home)
            assert kind in [each.kind for each in verdict.write.blockers]
            assert stage.path.read_bytes().startswith(data)  # what came is the client's own
            assert len(stage.moves()) == made

        stage.grow(pane, 500_000)
        stage.say(pane, 600_000, bash("sleep 5", run_in_background=True))
        stage.until(pane, lambda: stage.status() == "shell")
        held("shell")
        stage.until(pane, lambda: stage.moved(1))
        stage.grow(pane, 700_000)
        stage.say(pane, 820_000, {"tools": [FETCH], "usage": counted(820_000)})
        pane.wait("Do you want")
        held("dialog")
        pane.type("\x1b")
        stage.until(pane, lambda: stage.moved(2))
        stage.scripts["be a slow helper"] = [{"text": "helped", "delay_s": 4}]
        stage.say(pane, 920_000, {"tools": [HELPER], "usage": counted(920_000)})
        stage.until(pane, lambda: stage.status() == "busy" and stage.helped())
        held("turn")
        assert [one.data["tier"] for one in stage.moves()] == ["deep", "trim"]
        for one in stage.moves():
            print({key: one.data[key] for key in ("forecast", "left_out", "strategies", "reload")})
    assert "/resume" not in json.dumps([one.body for one in stage.server.messages_requests()])
    assert untouched.read_bytes() == before
    assert stage.server.breaches == []
