"""A state is saved, comes back once behind the compaction that it was saved for, and the receipt tells of it."""

from __future__ import annotations

import json
import os
import shutil
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from coffer.cli.main import cli
from coffer.core.state_text import TASKS, TEAM
from coffer.disk.live import start_mark
from coffer.disk.places import Places
from coffer.store.checkpoints import MOST, Checkpoint, checkpoints, kept_path
from coffer.store.db import Receipt
from coffer.store.home import Home
from coffer.store.hook_events import keep as keep_event
from coffer.work.guarding.keep import (
    BY_HAND,
    COMPACTION,
    KIND,
    LAST_CALL,
    LONGEST_COMPACTION,
    due,
    give,
    keep,
    settle,
)
from coffer.work.receipts import all_receipts
from tests.transcripts import encode

CAPTURED = Path(__file__).parent.parent / "fixtures" / "harness" / "team-before-compaction"
SESSION = str(json.loads((CAPTURED / "proc.json").read_bytes())["session_id"])
AT = datetime.fromtimestamp(json.loads((CAPTURED / "proc.json").read_bytes())["captured_at"], UTC)


def after(seconds: float) -> datetime:
    return AT + timedelta(seconds=seconds)


class House:
    """A machine on which the captured session goes on; its client is the test's own process."""

    def __init__(self, root: Path) -> None:
        self.root, self.home = root, Home(root / ".coffer")
        self.places = Places(root / ".claude", root / ".codex")
        self.path = root / ".claude" / "projects" / "-x" / f"{SESSION}.jsonl"
        self.tasks = root / ".claude" / "tasks" / f"session-{SESSION[:8]}"
        shutil.copytree(CAPTURED / "tasks", self.tasks)
        self.path.parent.mkdir(parents=True)
        (root / "tide" / ".git").mkdir(parents=True)
        (root / "tide" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        captured = (CAPTURED / "transcript.jsonl").read_bytes()
        self.path.write_bytes(captured.replace(b"/home/dev/work", str(root / "tide").encode()))
        registry = root / ".claude" / "sessions" / f"{os.getpid()}.json"
        registry.parent.mkdir()
        said = json.loads((CAPTURED / "registry.json").read_bytes())
        registry.write_text(json.dumps({**said, "pid": os.getpid(), "procStart": start_mark(os.getpid())}))
        for line in (CAPTURED / "hooks.jsonl").read_text().splitlines():
            told = json.loads(line)
            keep_event(self.home, told["event"], told["stdin"], told["ts"])

    def keep(self, why: str = COMPACTION, seconds: float = 1) -> Checkpoint | None:
        return keep(self.home, self.path, self.places, why, after(seconds)).checkpoint

    def due(self, seconds: float = 20) -> Checkpoint | None:
        return due(self.home, SESSION, after(seconds))

    def event(self, event: str, seconds: float, **said: Any) -> None:
        keep_event(
            self.home,
            event,
            {"session_id": SESSION, "hook_event_name": event, **said},
            after(seconds).timestamp(),
        )

    def add(self, kind: str, **more: Any) -> None:
        record = {"type": kind, "uuid": "x", "timestamp": after(30).isoformat(), "sessionId": SESSION, **more}
        with self.path.open("ab") as file:
            file.write(encode(record) + b"\n")

    def answers(self) -> None:
        said = [{"type": "text", "text": "Well."}]
        self.add(
            "assistant", message={"id": "m", "role": "assistant", "model": "claude-opus-4-8", "content": said}
        )

    @property
    def receipts(self) -> list[Receipt]:
        return [one for one in all_receipts(self.home) if one.kind == KIND]

    def run(self, *words: str) -> Result:
        environment = {
            "HOME": str(self.root),
            "COFFER_HOME": None,
            "CLAUDE_CONFIG_DIR": None,
            "COLUMNS": "120",
        }
        done = CliRunner().invoke(cli, [*words], env=environment, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_it_comes_back_once_and_the_receipt_says_that_it_arrived(house: House) -> None:
    saved = house.keep()
    assert saved is not None
    one = house.due()
    assert one is not None
    text = give(house.home, one, house.path, "The rules.", after(20))
    assert TEAM in text
    assert "- #2 in progress: Test the parser" in text
    assert house.due(21) is None
    assert settle(house.home, SESSION, house.path) == ""
    context = {
        "type": "hook_additional_context",
        "content": [f"The rules.\n\n{text}"],
        "hookEvent": "SessionStart",
    }
    house.add("attachment", attachment=context)
    assert settle(house.home, SESSION, house.path) == "confirmed"
    assert settle(house.home, SESSION, house.path) == ""
    (receipt,) = house.receipts
    assert (receipt.id, receipt.data["returned"], receipt.data["verb"]) == (saved.id, "confirmed", COMPACTION)
    assert {name: receipt.data[name] for name in ("team", "tasks_open", "tasks_completed", "jobs")} == {
        "team": 1,
        "tasks_open": 2,
        "tasks_completed": 1,
        "jobs": 1,
    }
    assert house.keep(seconds=40) is not None
    assert house.due(50) is not None


def test_a_text_that_the_client_did_not_take_is_missing_and_not_sent_again(house: House) -> None:
    house.keep()
    one = house.due()
    assert one is not None
    give(house.home, one, house.path, "", after(20))
    house.answers()
    assert settle(house.home, SESSION, house.path) == "missing"
    assert house.receipts[0].data["returned"] == "missing"
    assert house.due(25) is None


def test_rules_that_leave_no_room_keep_it_back(house: House) -> None:
    house.keep()
    one = house.due()
    assert one is not None
    assert give(house.home, one, house.path, "x" * 9_400, after(20)) == ""
    assert settle(house.home, SESSION, house.path) == "no"
    assert house.receipts[0].data["left_out"] == 5


@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop", "StopFailure", "SessionEnd"])
def test_a_compaction_that_was_refused_brings_nothing_back_later(house: House, event: str) -> None:
    house.keep()
    house.event("PreCompact", 1)
    assert house.due() is not None
    house.event("PreToolUse", 5, agent_id="adocs-1")
    house.event("Stop", 6, agent_id="adocs-1")
    house.event("SubagentStop", 7, agent_type="")
    assert house.due() is not None
    house.event(event, 8)
    assert house.due() is None


def test_what_does_not_come_back(house: House) -> None:
    assert house.due() is None
    house.keep(LAST_CALL)
    house.keep(BY_HAND, 2)
    assert house.due() is None
    house.keep(COMPACTION, 3)
    assert house.due(4 + LONGEST_COMPACTION) is None
    assert due(house.home, "another-session", after(5)) is None
    assert house.due(5) is not None


def test_an_empty_state_takes_the_place_of_an_old_one_and_leaves_no_receipt(house: House) -> None:
    house.keep()
    shutil.rmtree(house.tasks)
    (house.root / ".claude" / "sessions" / f"{os.getpid()}.json").unlink()
    house.path.write_bytes(house.path.read_bytes().splitlines(keepends=True)[4])
    assert house.keep(seconds=9) is None
    assert house.due() is None
    assert len(house.receipts) == 1


def test_a_session_without_any_leaves_nothing(house: House) -> None:
    shutil.rmtree(house.tasks)
    house.path.write_bytes(house.path.read_bytes().splitlines(keepends=True)[4])
    (house.root / ".claude" / "sessions" / f"{os.getpid()}.json").unlink()
    assert house.keep() is None
    path = kept_path(house.home, SESSION)
    assert path is not None
    assert not path.exists()
    assert house.receipts == []


def test_the_file_is_small_private_and_without_secrets(house: House) -> None:
    (house.tasks / "4.json").write_text(
        json.dumps({"id": "4", "subject": "use api_key=sk-ant-api03-" + "a1B2c3D4" * 12, "status": "pending"})
    )
    (house.tasks / "5.json").write_text('{"id": "5", "subj')
    for second in range(MOST + 3):
        house.keep(seconds=second)
    path = kept_path(house.home, SESSION)
    assert path is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert b"a1B2c3D4" not in path.read_bytes()
    assert len(checkpoints(house.home, SESSION).checkpoints) == MOST


@pytest.mark.parametrize(
    "broken", [b"", b"{", b'{"version": 9}', b'{"version": 1, "checkpoints": [{"id": 3}]}', b"\xff\xfe"]
)
def test_a_broken_file_is_told_of_and_replaced(house: House, broken: bytes) -> None:
    house.keep()
    path = kept_path(house.home, SESSION)
    assert path is not None
    path.write_bytes(broken)
    assert house.due() is None
    assert settle(house.home, SESSION, house.path) == ""
    said = house.run("checkpoint", SESSION)
    assert "it is left out, and this takes its place" in said.stderr
    assert checkpoints(house.home, SESSION).trouble == ""
    assert house.run("checkpoint", SESSION).stderr == ""


def test_the_list_is_the_teams_only_where_the_team_is_the_sessions(house: House) -> None:
    config = house.root / ".claude" / "teams" / house.tasks.name / "config.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"leadSessionId": SESSION}))
    one = house.keep()
    assert one is not None
    assert len(one.state.tasks) == 3
    config.write_text(json.dumps({"leadSessionId": "another"}))
    one = house.keep(seconds=2)
    assert one is not None
    assert one.state.tasks == ()


def test_the_command_shows_what_it_saves(house: House) -> None:
    now = datetime.now(UTC).isoformat()
    house.add("user", timestamp=now, message={"role": "user", "content": "Go on."}, origin={"kind": "human"})
    dry = house.run("checkpoint", SESSION, "--dry-run")
    assert "Nothing was saved (--dry-run)." in dry.output
    assert not (house.home.root / "coffer.db").exists()
    done = house.run("checkpoint", SESSION[:8])
    for word in ("Team", "docs", "idle", "docs are fine", "Write the parser", "completed", "sleep 600"):
        assert word in done.output
    (receipt,) = house.receipts
    assert f"Saved with receipt {receipt.id}." in done.output
    assert "The branch's handoff: " in done.output
    assert "checkpoint by hand" in house.run("receipts").output
    said = json.loads(house.run("checkpoint", SESSION, "--json").output)
    assert [task["status"] for task in said["tasks"]] == ["pending", "in_progress", "completed"]
    assert said["receipt"] == house.receipts[0].id
    assert TASKS not in said
    shutil.rmtree(house.tasks)
    house.path.write_bytes(house.path.read_bytes().splitlines(keepends=True)[4])
    (house.root / ".claude" / "sessions" / f"{os.getpid()}.json").unlink()
    nothing = "There is nothing to save: no team, no tasks, nothing in the background."
    assert nothing in house.run("checkpoint", SESSION).output
