"""The daemon saves a session's state before a compaction and gives it back behind it: with real hooks, and once."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from coffer.core.bundle import LIMITS, units_of
from coffer.core.state_text import HANDOFF, HEADINGS, TASKS
from coffer.daemon import keeping
from coffer.disk.live import start_mark
from coffer.store.checkpoints import checkpoints
from coffer.store.guard_state import keep_state
from coffer.store.windows import merge_report
from coffer.work.guarding.keep import COMPACTION, KIND, LAST_CALL
from coffer.work.receipts import all_receipts
from tests.bundle.desk import HARD, write_rules
from tests.daemon.rig import Rig, eventually
from tests.transcripts import THREAD, Claude, Codex, encode, text, usage
from tests.work.test_keep import CAPTURED, SESSION


class Team:
    """A session with a team on the rig's machine."""

    def __init__(self, rig: Rig, name: str = SESSION) -> None:
        self.rig, self.name = rig, name
        self.folder = rig.project()
        claude = rig.desktop.places.claude
        self.path = claude / "projects" / "-x" / f"{name}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        captured = (CAPTURED / "transcript.jsonl").read_bytes()
        self.path.write_bytes(captured.replace(b"/home/dev/work", str(self.folder).encode()))
        shutil.copytree(CAPTURED / "tasks", claude / "tasks" / name)
        (claude / "sessions").mkdir(exist_ok=True)
        said = json.loads((CAPTURED / "registry.json").read_bytes())
        said |= {"pid": os.getpid(), "procStart": start_mark(os.getpid()), "sessionId": name}
        (claude / "sessions" / f"{os.getpid()}.json").write_text(json.dumps(said))

    def hook(self, event: str, **said: Any) -> str:
        told = {"session_id": self.name, "transcript_path": str(self.path), **said}
        return self.rig.hook("claude", event, self.folder, **told)

    def compacted(self, **said: Any) -> str:
        return self.hook("SessionStart", source="compact", **said)

    @property
    def returned(self) -> list[str]:
        found = [one for one in all_receipts(self.rig.home) if one.kind == KIND and one.session == self.name]
        return [str(one.data["returned"]) for one in reversed(found)]

    def add(self, kind: str, **more: Any) -> None:
        record = {
            "type": kind,
            "uuid": "x",
            "timestamp": "2026-12-30T00:00:00Z",
            "sessionId": self.name,
            **more,
        }
        with self.path.open("ab") as file:
            file.write(encode(record) + b"\n")


@pytest.fixture
def team(rig: Rig) -> Iterator[Team]:
    rig.install()
    write_rules(rig.house, rig.home, HARD)
    with rig.daemon():
        yield Team(rig)


def test_what_is_open_comes_back_behind_the_rules_once(team: Team) -> None:
    assert TASKS not in team.hook("SessionStart", source="resume")
    assert team.compacted().count(TASKS) == 0  # nothing said that it would begin
    team.add(
        "user", message={"role": "user", "content": "Go on."}, origin={"kind": "human"}, cwd=str(team.folder)
    )
    assert team.hook("PreCompact", trigger="manual") == ""
    eventually(lambda: (one := checkpoints(team.rig.home, team.name).newest) is not None and one.draft)
    said = team.compacted()
    assert [said.count(word) for word in (HARD, *HEADINGS, HANDOFF, "Test the parser", "docs@session-")] == [
        1
    ] * 7
    assert said.index(HARD) < said.index("[End of behavioral contract") < said.index(HEADINGS[0])
    assert len(said.encode()) <= LIMITS.bytes
    assert units_of(said) <= LIMITS.units
    assert TASKS not in team.compacted()
    assert TASKS not in team.hook("SessionStart", source="resume")
    context = {"type": "hook_additional_context", "content": [said], "hookEvent": "SessionStart"}
    team.add("attachment", attachment=context)
    team.hook("Stop", last_assistant_message="Well.")
    eventually(lambda: team.returned == ["confirmed"])


def test_a_refused_compaction_a_child_a_fork_and_another_agent_get_nothing(team: Team) -> None:
    team.hook("PreCompact", trigger="manual")
    assert TASKS not in team.compacted(agent_id="adocs-1")
    fork = team.path.with_name("99999999-1111-4222-8333-444444444444.jsonl")
    shutil.copy(team.path, fork)
    assert TASKS not in team.compacted(session_id=fork.stem, transcript_path=str(fork))
    assert TASKS not in team.rig.hook(
        "codex", "SessionStart", team.folder, source="compact", session_id=team.name
    )
    team.hook("UserPromptSubmit", prompt="go on")
    assert TASKS not in team.compacted()
    team.hook("PreCompact", trigger="auto")
    keep_state(team.rig.home, team.name, mode="off")
    assert TASKS not in team.compacted()
    keep_state(team.rig.home, team.name, mode="paused")
    assert TASKS in team.compacted()


def test_a_daemon_that_begins_in_between_brings_it_back_too(team: Team) -> None:
    team.hook("PreCompact", trigger="auto")
    team.rig.kill()
    team.rig.begin()
    assert team.compacted().count(TASKS) == 1


def test_a_large_transcript_is_read_by_the_worker(team: Team) -> None:
    for _ in range(9):
        team.add("progress", data={"output": "x" * (1 << 20)})
    assert team.path.stat().st_size > keeping.SMALL
    team.hook("PreCompact", trigger="auto")
    eventually(lambda: checkpoints(team.rig.home, team.name).newest)
    assert team.compacted().count(TASKS) == 1


def test_the_last_tier_saves_it_as_well_and_gives_nothing(team: Team) -> None:
    full = Claude()
    full.user("go on", origin={"kind": "human"})
    full.answer(text("Well."), counts=usage(950_000))
    merge_report(
        team.rig.home.root,
        team.name,
        {"window": 1_000_000, "source": "statusline", "model": "claude-opus-4-8"},
    )
    team.hook("UserPromptSubmit", prompt="go on")
    with team.path.open("ab") as file:
        file.write(full.data)
    team.hook("Stop", last_assistant_message="Well.")

    def saved() -> list[str]:
        return [one.why for one in checkpoints(team.rig.home, team.name).checkpoints]

    eventually(lambda: saved() == [LAST_CALL])
    assert TASKS not in team.compacted()
    team.hook("PreCompact", trigger="auto")
    assert saved() == [LAST_CALL, COMPACTION]
    assert TASKS in team.compacted()


def test_a_compaction_of_codex_only_drafts_the_handoff(team: Team) -> None:
    made = Codex(clock=(datetime.now(UTC) - datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)).total_seconds() - 600)
    made.add(
        "session_meta",
        id=THREAD,
        timestamp="2026-11-30T00:00:00Z",
        cwd=str(team.folder),
        cli_version="0.171.0",
    )
    made.add("turn_context", cwd=str(team.folder), model="gpt-5.2-codex")
    made.message("user", "Please write the parser in src/parse.py.")
    made.message("assistant", "It is written; the tests are still to come.")
    day = team.rig.desktop.places.codex / "sessions" / "2026" / "11" / "30"
    path = day / f"rollout-2026-11-30T00-00-00-{THREAD}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(made.data)
    told = {"session_id": THREAD, "transcript_path": str(path), "trigger": "auto"}
    assert team.rig.hook("codex", "PreCompact", team.folder, **told) == ""
    lane = team.rig.home.root / "memory" / "projects"
    (handoff,) = eventually(lambda: list(lane.glob("*/handoff/*.md")))
    assert "parser" in eventually(handoff.read_text)
    assert checkpoints(team.rig.home, THREAD).checkpoints == ()
