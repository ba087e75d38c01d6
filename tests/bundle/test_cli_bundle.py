"""`coffer bundle`: what would be sent, its size, and what is left out."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from coffer.cli.bundle import command
from coffer.core.digest import new_digest
from coffer.core.rule import Rule, Rules
from coffer.store.home import Home
from coffer.work.rules.lane import lane_folder
from tests.bundle.desk import HARD, SOFT, write_rules


def run(house: Path, *arguments: str) -> Result:
    done = CliRunner(env={"HOME": str(house), "COFFER_HOME": None, "NO_COLOR": "1"}).invoke(
        command, arguments
    )
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


@pytest.fixture
def house(tmp_path: Path) -> Path:
    house = Path(os.path.realpath(tmp_path)) / "house"
    house.mkdir()
    home = Home(house / ".coffer")
    home.make(home.root)
    write_rules(house, home, HARD, SOFT)
    lane = lane_folder(home, None)
    lane.mkdir(parents=True)
    (lane / "rules.md").write_text("- Use metric units.\n- bad <!-- hidden -->\n")
    return house


def test_what_is_sent_and_what_is_left_out(house: Path) -> None:
    done = run(house, "--cwd", str(house))
    assert done.exit_code == 0
    assert HARD in done.output
    assert "Use metric units." in done.output
    assert "of 9,500 bytes" in done.output
    assert "3 rules of yours, 2 of Coffer's own, project: none" in done.output
    assert "left out: global/rules.md:2: it holds the beginning of a comment" in done.output


def test_for_programs(house: Path) -> None:
    project = house / "project"
    (project / ".cozempic").mkdir(parents=True)
    made = new_digest(str(project), datetime(2026, 11, 1, tzinfo=UTC))
    rule = Rule("R001", "No", "Do not deploy.", "hard", "active")
    (project / ".cozempic/behavioral-digest.md").write_text(made.with_rules(Rules((rule,))).render())
    said = json.loads(run(house, "--json", "--cwd", str(project), "--agent", "codex").output)
    assert said["project"] == str(project)
    assert [rule["id"] for rule in said["rules"]] == [
        "global/R001",
        "global/R002",
        "global/rules.md:1",
        "seeded/resume",
        "seeded/memory",
    ]
    assert said["bytes"] == len(said["context"].encode())
    assert {"id": "project/R001", "reason": "not trusted; `coffer trust` shows it"} in said["left_out"]
    assert json.loads(said["hook_prints"])["hookSpecificOutput"]["additionalContext"] == said["context"]


def test_an_event_that_takes_no_text(house: Path) -> None:
    assert "Nothing: claude takes no text at PostCompact." in run(house, "--event", "PostCompact").output


def test_without_rules_of_the_persons_there_are_coffers_own_two(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert "coffer__resume()" in done.output
    assert "coffer__recall" in done.output
    assert not (tmp_path / ".coffer").exists()
