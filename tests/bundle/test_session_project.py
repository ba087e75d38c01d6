"""Whose rules a session gets that works in a folder beside or below its own."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from coffer.work.delivery.deliver import answer
from coffer.work.rules.lane import lane_folder
from tests.bundle.test_deliver import NOW, Desk, desk  # noqa: F401  (a fixture)

OWN, OTHER = "Use metric units.", "Use imperial units."


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_session_keeps_its_projects_rules_where_its_agent_goes(desk: Desk, agent: str) -> None:  # noqa: F811
    """Claude Code says at each prompt where the last `cd` of the model led, and in a variable where it was started."""
    project, inner = desk.house / "work", desk.house / "work" / "vendor"
    for folder, rule in ((project, OWN), (inner, OTHER)):
        (folder / ".git").mkdir(parents=True)
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        lane = lane_folder(desk.home, folder)
        lane.mkdir(parents=True)
        (lane / "rules.md").write_text(f"- {rule}\n")

    def ask(event: str, cwd: Path, **more: str) -> str:
        said = {"session_id": "s", "transcript_path": str(desk.path(agent=agent)), "cwd": str(cwd), **more}
        headers = {"X-Coffer-Env-CLAUDE_PROJECT_DIR": quote(str(project)), "X-Coffer-Ppid": "7"}
        body = answer(agent, event, said, headers, desk.world, NOW).body
        return str(json.loads(body)["hookSpecificOutput"]["additionalContext"]) if body else ""

    assert OWN in ask("SessionStart", project, source="startup")
    told = ask("UserPromptSubmit", inner)
    if agent == "claude":
        assert told == ""
    else:  # Codex keeps its folder; the variable is of a Claude Code that started it
        assert f"no longer applies: {OWN}" in told
        assert OTHER in told
