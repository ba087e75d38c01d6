"""`coffer guard`: the live view, and what a person says to it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from coffer.cli.main import cli
from coffer.disk.live import start_mark
from coffer.store.guard_state import EVERYONE, guard_state, mode_of
from coffer.store.home import Home
from coffer.store.windows import read_report
from tests.transcripts import Claude, call, text, usage

SESSION = "11111111-2222-4333-8444-555555555555"


class House:
    def __init__(self, root: Path) -> None:
        self.root, self.home = root, Home(root / ".coffer")
        registry = root / ".claude" / "sessions"
        registry.mkdir(parents=True)
        said = {"pid": os.getpid(), "procStart": start_mark(os.getpid()), "sessionId": SESSION}
        (registry / f"{os.getpid()}.json").write_text(json.dumps({**said, "status": "busy"}))
        self.path = root / ".claude" / "projects" / "-x" / f"{SESSION}.jsonl"
        self.path.parent.mkdir(parents=True)

    def holds(self, tokens: int, *blocks: Any) -> None:
        made = Claude()
        for number in range(12):
            made.user("question")
            made.answer(call(f"c{number}"), counts=usage(tokens * number // 12 + 10))
            made.result(f"c{number}", "line of output\n" * 2000)
        made.answer(*(blocks or (text("answer"),)), counts=usage(tokens))
        self.path.write_bytes(made.data)

    def run(self, *words: str, code: int = 0) -> Result:
        environment = {
            "HOME": str(self.root),
            "COFFER_HOME": None,
            "CLAUDE_CONFIG_DIR": None,
            "COLUMNS": "160",
        }
        done = CliRunner().invoke(cli, ["guard", *words], env=environment, catch_exceptions=False)
        assert done.exit_code == code, done.output
        return done

    def row(self) -> dict[str, Any]:
        (row,) = json.loads(self.run("--json").output)
        return dict(row)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_nothing_is_open(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["guard"], env={"HOME": str(tmp_path), "COFFER_HOME": None})
    assert done.output == "No session is open.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_full_session(house: House) -> None:
    house.holds(120_000)
    before = house.path.read_bytes()
    row = house.row()
    assert (row["tier"], row["mode"], row["window"], row["tokens"]) == ("trim", "on", 200_000, 120_000)
    assert row["write"]["safe"] is False
    assert row["saves"] > 12_000
    assert row["futile"] == ""
    assert row["next"] == "once it is idle, type in it: ! coffer guard now"
    assert row["last_move"] is None
    assert read_report(house.home.root, SESSION)["saves"] == row["saves"]
    assert house.row()["saves"] == row["saves"]
    assert house.path.read_bytes() == before
    said = house.run().output
    assert "60%" in said
    assert "trim" in said
    assert "no: " in said


def test_a_lean_session_is_left_in_peace(house: House) -> None:
    house.holds(20_000)
    row = house.row()
    assert (row["tier"], row["saves"], row["next"]) == (None, None, "nothing yet")


def test_pause_resume_and_off(house: House) -> None:
    house.holds(120_000)
    assert "is only watched" in house.run("pause", SESSION[:8]).output
    assert (house.row()["mode"], house.row()["next"]) == ("paused", "nothing: paused by you")
    assert "Every session is left alone" in house.run("off").output
    assert (house.row()["mode"], house.row()["write"]) == ("off", None)
    house.run("resume")
    assert guard_state(house.home, EVERYONE).mode == "on"
    assert mode_of(house.home, SESSION) == "paused"
    house.run("resume", SESSION)
    assert house.row()["mode"] == "on"


def test_clear_takes_a_blocker_for_over(house: House) -> None:
    house.holds(1000, call("wedge"))
    said = house.run("why", SESSION).output
    assert "call wedge of" in said
    assert "Taken for over: tool" in house.run("clear", SESSION, "wedge").output
    assert "call wedge of" not in house.run("why", SESSION).output
    assert (
        "No blocker of this session has the id 'other'" in house.run("clear", SESSION, "other", code=2).output
    )
    assert guard_state(house.home, SESSION).cleared == ("wedge",)
