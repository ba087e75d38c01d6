"""The line that asks the agent in the room for a rule: for a possible correction of a person, once a turn."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coffer.core.settings import Learn, settings_of
from coffer.core.settings_table import SettingsWrong
from coffer.errors import SettingsBroken
from coffer.work.delivery.deliver import REHEARSAL, Asked
from coffer.work.delivery.ticket_line import ticket_line
from coffer.work.rules.propose import Said, propose
from tests.transcripts import Codex
from tests.work.learning import Desktop

POSSIBLE = "why are you still doing it like that?"
PLAIN = "fix the parser"
COUNTED = "please don't add co-author lines to commits"
RULE = Said("Do not mock the database; use the test container.")


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    made = Desktop(tmp_path)
    servers = {"mcpServers": {"coffer": {"command": "/x/bin/coffer-mcp", "args": ["claude"]}}}
    (tmp_path / ".claude.json").write_text(json.dumps(servers))
    return made


def asked(desktop: Desktop, path: Path | None, agent: str = "claude", **more: Any) -> Asked:
    found = Asked(
        agent,
        "UserPromptSubmit",
        "",
        desktop.project("tide"),
        "s",
        path,
        "",
        1,
        {**desktop.environment, "CLAUDE_CODE_ENTRYPOINT": "cli"},
    )
    return replace(found, **more)


def line(desktop: Desktop, asked: Asked, prompt: object = POSSIBLE) -> str:
    return ticket_line(asked, {"prompt": prompt}, desktop.home, desktop.now)


def test_a_possible_correction_gets_a_ticket_and_it_is_good(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    path = desktop.session(tide, [PLAIN], "a")
    said = line(desktop, asked(desktop, path))
    assert "\n" not in said
    assert said.startswith("The user's standing wish")
    assert "must" not in said
    (ticket,) = re.findall(r"ticket (\S+) ", said)
    path = desktop.session(tide, [PLAIN, POSSIBLE], "a")  # the client writes the prompt after it asked
    propose(ticket, RULE, desktop.shelf())
    assert [(rule.state, rule.text) for rule in desktop.rules(tide)] == [("pending", RULE.prohibition)]


def test_it_is_never_said_twice_for_a_turn(desktop: Desktop) -> None:
    path = desktop.session(desktop.project("tide"), [PLAIN], "a")
    assert line(desktop, asked(desktop, path))
    assert line(desktop, asked(desktop, path), f"  {POSSIBLE} ") == ""


def test_a_session_that_has_no_file_yet_is_asked_too(desktop: Desktop, tmp_path: Path) -> None:
    assert line(desktop, asked(desktop, tmp_path / "not-yet.jsonl"))


@pytest.mark.parametrize(
    "prompt",
    [
        PLAIN,
        COUNTED,
        "/review why are you still doing it like that?",
        f"<task-notification>{POSSIBLE}</task-notification>",
        "",
        None,
        7,
    ],
)
def test_most_prompts_get_none(desktop: Desktop, prompt: object) -> None:
    path = desktop.session(desktop.project("tide"), [PLAIN], "a")
    assert line(desktop, asked(desktop, path), prompt) == ""


@pytest.mark.parametrize(
    "more",
    [
        {"environment": {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}},
        {"child": "a-1"},
        {"transcript": None},
        {"session": REHEARSAL},
        {"event": "SessionStart"},
    ],
)
def test_no_program_and_no_subagent_is_asked(desktop: Desktop, more: dict[str, Any]) -> None:
    path = desktop.session(desktop.project("tide"), [PLAIN], "a")
    if "environment" in more:
        more = {"environment": desktop.environment | more["environment"]}
    assert line(desktop, asked(desktop, path, **more)) == ""


def test_what_a_rule_says_already_is_counted_and_not_asked(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    path = desktop.session(tide, [PLAIN], "a")
    vague = "you should have used the test container"
    assert line(desktop, asked(desktop, path), vague)
    desktop.desk(tide).add("Do not mock the database; use the test container.")
    assert (
        line(desktop, asked(desktop, path.with_name("b.jsonl")), f"{vague} again, don't mock the database")
        == ""
    )


def test_an_agent_without_our_tools_is_not_asked(desktop: Desktop, tmp_path: Path) -> None:
    path = desktop.session(desktop.project("tide"), [PLAIN], "a")
    for servers in ("{}", "{"):
        (tmp_path / ".claude.json").write_text(servers)
        assert line(desktop, asked(desktop, path)) == ""


def test_the_person_switches_it_off(desktop: Desktop) -> None:
    path = desktop.session(desktop.project("tide"), [PLAIN], "a")
    desktop.home.make(desktop.home.root)
    config = desktop.home.root / "config.toml"
    config.write_text("[learn]\nask = false\n")
    assert line(desktop, asked(desktop, path)) == ""
    config.write_text("[learn]\nask = 3\n")
    with pytest.raises(SettingsBroken):
        line(desktop, asked(desktop, path))
    assert settings_of({"learn": {"auto": False}}).learn == Learn(auto=False, ask=True)
    with pytest.raises(SettingsWrong):
        settings_of({"learn": {"ask": "yes"}})


@pytest.mark.parametrize(("originator", "told"), [("codex-tui", True), ("codex_exec", False)])
def test_codex_says_in_its_first_line_who_sits_there(
    desktop: Desktop, tmp_path: Path, originator: str, *, told: bool
) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text('[mcp_servers.coffer]\ncommand = "/x/bin/coffer-mcp"\n')
    made = Codex()
    made.meta(originator=originator)
    made.message("user", PLAIN)
    for number in range(400):  # the first line lies far above what is heard of the end
        made.message("assistant", f"{number} " + "done " * 100)
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(made.data)
    assert bool(line(desktop, asked(desktop, path, "codex"))) is told
