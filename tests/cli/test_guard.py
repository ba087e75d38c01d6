"""`coffer guard judge`, `capture` and `why` as a person and a program call them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from coffer.cli.main import cli
from coffer.work.guarding.guard_errors import LeftAlone

HARNESS = Path(__file__).parents[1] / "fixtures" / "harness"


def run(*words: str, home: Path | None = None) -> str:
    environment = {"HOME": str(home or "/nonexistent"), "COFFER_HOME": None, "CLAUDE_CONFIG_DIR": None}
    done = CliRunner().invoke(cli, ["guard", *words], env=environment, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_judge_names_every_blocker_for_a_program() -> None:
    told = json.loads(run("judge", str(HARNESS / "permission-prompt"), "--json"))
    assert told["safe"] is False
    assert {"dialog", "tool"} <= {each["kind"] for each in told["blockers"]}
    assert all(each["evidence"] for each in told["blockers"])
    assert json.loads(run("judge", str(HARNESS / "idle"), "--json")) == {"safe": True, "blockers": []}


def test_judge_has_two_questions() -> None:
    assert "may be written: yes" in run("judge", str(HARNESS / "vim-normal"))
    typed = run("judge", str(HARNESS / "vim-normal"), "--typed")
    assert "may be typed: no" in typed
    assert "editor:" in typed


def test_why_and_capture_of_a_session_that_nobody_holds(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "-home-dev-work"
    folder.mkdir(parents=True)
    session = json.loads((HARNESS / "idle" / "proc.json").read_bytes())["session_id"]
    (folder / f"{session}.jsonl").write_bytes((HARNESS / "idle" / "transcript.jsonl").read_bytes())
    said = run("why", session, home=tmp_path)
    assert said.startswith(f"Session {session}\n")
    assert "no hook evidence" in said
    assert "no registry file names this session" in said
    told = json.loads(run("why", session, "--json", home=tmp_path))
    assert told["write"]["safe"] is False
    target = tmp_path / "kept"
    assert "Kept in" in run("capture", session, "--to", str(target), home=tmp_path)
    assert not json.loads(run("judge", str(target), "--json"))["safe"]


def test_without_a_name_it_is_claudes_newest_session_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer one of Codex is none of the guard's: it would be refused, and the open one not be found."""
    records = (HARNESS / "idle" / "transcript.jsonl").read_text().splitlines()
    there = next(said["cwd"] for said in map(json.loads, records) if said.get("cwd"))
    work = tmp_path / "work"
    work.mkdir()
    session = json.loads((HARNESS / "idle" / "proc.json").read_bytes())["session_id"]
    claude = tmp_path / ".claude" / "projects" / "-work" / f"{session}.jsonl"
    claude.parent.mkdir(parents=True)
    claude.write_text("".join(f"{line}\n" for line in records).replace(there, str(work)))
    os.utime(claude, (1, 1))
    thread = "01a22eba-68e2-78f0-8d36-bd6160b2e815"
    first = {
        "timestamp": "2026-01-02T03:04:05.000Z",
        "type": "session_meta",
        "payload": {"id": thread, "cwd": str(work)},
    }
    codex = (
        tmp_path
        / ".codex"
        / "sessions"
        / "2026"
        / "01"
        / "02"
        / f"rollout-2026-01-02T03-04-05-{thread}.jsonl"
    )
    codex.parent.mkdir(parents=True)
    codex.write_text(json.dumps(first) + "\n")
    monkeypatch.chdir(work)
    assert run("why", home=tmp_path).startswith(f"Session {session}\n")


def test_why_says_that_a_codex_session_is_none_of_the_guards(tmp_path: Path) -> None:
    folder = tmp_path / ".codex" / "sessions" / "2026" / "01" / "02"
    folder.mkdir(parents=True)
    thread = "01a22eba-68e2-78f0-8d36-bd6160b2e815"
    first = {
        "timestamp": "2026-01-02T03:04:05.000Z",
        "type": "session_meta",
        "payload": {"id": thread, "cwd": "/w"},
    }
    (folder / f"rollout-2026-01-02T03-04-05-{thread}.jsonl").write_text(json.dumps(first) + "\n")
    environment = {"HOME": str(tmp_path), "COFFER_HOME": None, "CLAUDE_CONFIG_DIR": None, "CODEX_HOME": None}
    done = CliRunner().invoke(cli, ["guard", "why", thread], env=environment)
    assert isinstance(done.exception, LeftAlone)
    assert "no main session of Claude Code" in str(done.exception)
