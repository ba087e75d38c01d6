"""The nudge: once a tier, for a person at Claude Code only, and never for the model."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coffer.agents.hook_envelope import with_system_message
from coffer.core.settings import Guard
from coffer.disk.live import start_mark
from coffer.store.guard_moves import keep_moves
from coffer.store.guard_state import EVERYONE, Mode, guard_state, keep_state, state_path
from coffer.store.home import Home
from coffer.store.windows import merge_report
from coffer.work.delivery.deliver import REHEARSAL, Asked
from coffer.work.guarding.guard import Wish, act
from coffer.work.guarding.nudge import last_answer, nudge
from tests.transcripts import MODEL, Claude, text, usage
from tests.work.open_session import Client

LATER = 4e9
"""Unix seconds after every record of these transcripts."""


class Stage:
    def __init__(self, root: Path) -> None:
        self.root, self.home = root, Home(root / ".coffer")
        self.path = root / "s1.jsonl"
        self.made = Claude()

    def answers(self, tokens: int, **fields: Any) -> None:
        self.made.user("question")
        self.made.answer(text("answer"), counts=usage(tokens), **fields)
        self.path.write_bytes(self.made.data)

    def asked(self, agent: str = "claude", child: str = "", session: str = "s1", **more: str) -> Asked:
        environment = {"HOME": str(self.root), **more}
        return Asked(agent, "UserPromptSubmit", "", self.root, session, self.path, child, 1, environment)

    def nudge(self, **asked: Any) -> str:
        return nudge(self.asked(**asked), self.home)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_once_a_tier(stage: Stage) -> None:
    said = []
    for tokens in (10_000, 60_000, 112_000, 115_000, 165_000, 166_000, 181_000, 60_000, 112_000):
        stage.answers(tokens)
        said.append(stage.nudge())
    assert [bool(words) for words in said] == [False, False, True, False, True, False, True, False, True]
    assert said[2] == (
        "Coffer: 56% of 200,000 tokens are used (trim): a standard prune is worth it. "
        "At a quiet point type: ! coffer guard now"
    )
    assert "(deep): an aggressive prune is worth it" in said[4]


def test_it_names_the_saving_where_it_is_known(stage: Stage) -> None:
    stage.answers(600_000)
    report = {"model": f"{MODEL}[1m]", "window": 1_000_000, "source": "statusline", "time": LATER}
    merge_report(stage.home.root, "s1", {**report, "saves": 200_000, "planned": "590000 trim"})
    words = stage.nudge()
    assert "60% of 1,000,000" in words
    assert "it would save about 200,000 tokens" in words


def test_where_the_guard_prunes_by_itself_no_prune_is_to_be_ordered(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.answers(120_000)
    monkeypatch.chdir(stage.root)
    (stage.root / "tmux").touch(0o755)
    monkeypatch.setenv("PATH", str(stage.root))
    pane = {"TMUX": f"{stage.root}/socket,1,0", "TMUX_PANE": "%1"}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
    for said, more in (("write = 'idle'", {}), ("tmux = true", pane)):
        stage.home.make(stage.home.root)
        (stage.home.root / "config.toml").write_text(f"[guard]\n{said}\n")
        assert stage.nudge(**more) == ""
        keep_state(stage.home, "s1", fired=())
    assert "! coffer guard now" in stage.nudge()


def test_who_resumes_with_a_prompt_is_not_told_to_resume(tmp_path: Path) -> None:
    client = Client(tmp_path)
    client.grow()
    assert act(client.guarded, Wish("standard"), Guard(write="idle"), client.hands(None)).kind == "by hand"
    asked = Stage(tmp_path).asked(session=client.session)
    asked = replace(asked, transcript=client.transcript)
    client.hook("SessionStart", source="resume")
    assert "/resume" not in nudge(asked, client.home)


def test_where_the_guard_reloads_by_itself_nothing_is_to_be_typed(stage: Stage) -> None:
    stage.answers(120_000)
    assert stage.nudge(COFFER_RUN="a1b2") == ""
    stage.answers(170_000)
    (stage.home.root / "config.toml").write_text("[guard]\nact = false\n")
    assert "(deep)" in stage.nudge(COFFER_RUN="a1b2")


def test_where_two_clients_have_it_open_the_person_is_told_to_close_one(stage: Stage) -> None:
    """The guard prunes none of them, and an order would wait for the same."""
    sessions = stage.root / ".claude" / "sessions"
    sessions.mkdir(parents=True)
    for pid in (1, os.getpid()):
        row = {"pid": pid, "procStart": start_mark(pid), "sessionId": "s1", "status": "idle"}
        (sessions / f"{pid}.json").write_text(json.dumps(row))
    stage.answers(120_000)
    said = "Coffer: 60% of 200,000 tokens are used (trim). 2 clients have this session open, so it is not pruned: "
    assert stage.nudge(COFFER_RUN="a1b2") == f"{said}close all but one"
    assert stage.nudge(COFFER_RUN="a1b2") == "", "once a tier"
    stage.answers(170_000)
    assert stage.nudge().endswith("close all but one, then type: ! coffer guard now")
    stage.answers(190_000)
    (sessions / "1.json").unlink()
    assert stage.nudge(COFFER_RUN="a1b2") == ""


def test_what_became_of_a_move_is_told_once(stage: Stage) -> None:
    stage.answers(120_000)
    for receipt in ("r1", "r2"):
        keep_moves(stage.home, "s1", 1.0, tell=f"pruned, {receipt}", tell_of=receipt)
        assert stage.nudge() == f"pruned, {receipt}"
    assert "trim" in stage.nudge()
    assert stage.nudge() == ""


def test_a_project_may_have_its_own_tiers_and_its_quiet(stage: Stage) -> None:
    (stage.root / "work" / ".git").mkdir(parents=True)
    (stage.root / "work" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    stage.home.make(stage.home.root)
    name = os.path.realpath(stage.root / "work")
    stage.answers(120_000)
    (stage.home.root / "config.toml").write_text(f"[projects.'{name}'.guard.tiers]\ntrim = 70\n")
    asked = replace(stage.asked(), folder=stage.root / "work")
    assert nudge(asked, stage.home) == ""
    stage.answers(145_000)
    assert "(trim)" in nudge(asked, stage.home)


def test_a_futile_prune_is_not_named(stage: Stage) -> None:
    stage.answers(120_000)
    merge_report(stage.home.root, "s1", {"futile": "it would save 2%", "planned": "120001 trim"})
    assert stage.nudge() == ""


@pytest.mark.parametrize("planned", ["90000 trim", "120000 watch", "", "x trim", 5])
def test_what_was_futile_in_another_context_is_no_reason(stage: Stage, planned: object) -> None:
    stage.answers(120_000)
    merge_report(stage.home.root, "s1", {"futile": "it would save 2%", "saves": 9_999, "planned": planned})
    assert "trim" in (words := stage.nudge())
    assert "9,999" not in words


@pytest.mark.parametrize(
    "asked",
    [
        {"agent": "codex"},
        {"child": "a1"},
        {"session": REHEARSAL},
        {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"},
    ],
)
def test_who_is_not_nudged(stage: Stage, asked: dict[str, str]) -> None:
    stage.answers(120_000)
    assert stage.nudge(**asked) == ""
    assert stage.nudge()


@pytest.mark.parametrize("mode", ["paused", "off"])
@pytest.mark.parametrize("session", ["s1", EVERYONE])
def test_a_person_can_have_quiet(stage: Stage, mode: Mode, session: str) -> None:
    stage.answers(120_000)
    keep_state(stage.home, session, mode=mode)
    assert stage.nudge() == ""
    keep_state(stage.home, session, mode="on")
    assert stage.nudge()


@pytest.mark.parametrize("setting", ["nudge = false", "nudge = 5", "[guard"])
def test_the_setting(stage: Stage, setting: str) -> None:
    stage.answers(120_000)
    stage.home.make(stage.home.root)
    (stage.home.root / "config.toml").write_text(f"[guard]\n{setting}\n")
    assert stage.nudge() == ""


@pytest.mark.parametrize("kept", [b"", b"[]", b'{"mode": "loud"}', b"\xff"])
def test_a_broken_state_is_quiet(stage: Stage, kept: bytes) -> None:
    stage.answers(120_000)
    path = state_path(stage.home, "s1")
    assert path is not None
    stage.home.make(path.parent)
    path.write_bytes(kept)
    assert stage.nudge() == ""
    assert guard_state(stage.home, "s1").mode == "paused"


def test_the_last_answer_is_the_sessions_own(stage: Stage) -> None:
    stage.answers(120_000)
    stage.answers(5_000, isSidechain=True)
    found = last_answer(stage.path)
    assert found is not None
    assert found.usage is not None
    assert found.usage.context >= 120_000
    with stage.path.open("ab") as file:
        file.write(b'{"type":"assistant","message":{"usage"')
    assert last_answer(stage.path) == found
    assert last_answer(stage.root / "none.jsonl") is None


def test_the_answer_to_the_hook_is_otherwise_the_same() -> None:
    for_model = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "rule"}}
    body = json.dumps(for_model).encode()
    assert with_system_message(body, "") == body
    assert json.loads(with_system_message(body, "hello")) == {**for_model, "systemMessage": "hello"}
    assert json.loads(with_system_message(b"", "a \ud800")) == {"systemMessage": "a \ufffd"}
