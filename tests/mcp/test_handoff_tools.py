"""Work handed from one agent to the other through the pipe and the real server."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.mcp.rig import LONG, Rig
from tests.memory.repositories import commit, git, repository

SECRET = "ghp_" + "a1B2" * 9


def test_one_agent_hands_over_and_the_other_goes_on(rig: Rig, tmp_path: Path) -> None:
    top = repository(tmp_path / "charts")
    server = rig.serve()
    with rig.pipe(top, CLAUDE_CODE_SESSION_ID="0a1b2c3d-x") as claude, rig.pipe(top, "codex") as codex:
        claude.open()
        codex.open()
        assert "found: false" in codex.call("resume")[0]
        assert not (rig.home.root / "memory").exists(), "reading makes nothing"
        said, failed = claude.call(
            "set_handoff",
            goal="Draw the axis",
            state=f"Done: token={SECRET}",
            next_steps=["test it"],
            files=["a.py"],
        )
        assert not failed
        assert "the handoff of branch main in project charts" in said
        commit(top, "a.py", "1", "Draw half an axis")
        said, failed = codex.call("resume")
        assert not failed
        assert SECRET not in said
        for words in (
            "written by Claude Code just now, session 0a1b2c3d",
            "Draw the axis",
            "- test it",
            "Draw half an axis",
        ):
            assert words in said
        assert "- Appeared: a.py." in said
        assert "It replaces the one from just now" in codex.call("set_handoff", goal="Go on")[0]
        assert "written by Codex" in claude.call("resume", branch="main")[0]
        assert "found: false" in claude.call("resume", branch="another")[0]
        for wrong, why in (
            ({"goal": "x" * 501}, "length <= 500 - at `$.goal`"),
            ({}, "missing required field `goal`"),
            ({"goal": "ok?", "next_steps": ["a"] * 13}, "length <= 12 - at `$.next_steps`"),
            ({"goal": "改" * 500, "state": "善" * 800}, "Shorten it"),
        ):
            said, failed = claude.call("set_handoff", **wrong)
            assert failed
            assert why in said
        assert "Go on" in claude.call("resume")[0]
    server.terminate()
    assert server.wait(LONG) == 0
    assert "claude set_handoff: done" in rig.log
    assert "Draw" not in rig.log
    assert SECRET not in rig.desktop.every_text()


def test_no_project_and_a_folder_that_went(rig: Rig, tmp_path: Path) -> None:
    rig.serve()
    top = repository(tmp_path / "charts")
    git(top, "worktree", "add", "-q", "-b", "away", str(tmp_path / "tree"))
    with rig.pipe(tmp_path) as nowhere, rig.pipe(tmp_path / "tree") as gone:
        nowhere.open()
        gone.open()
        said, failed = nowhere.call("set_handoff", goal="Go on")
        assert failed
        assert "home folder and / are no project" in said
        assert "nothing to hand over here" in said
        shutil.rmtree(tmp_path / "tree")
        assert gone.call("resume")[1]
