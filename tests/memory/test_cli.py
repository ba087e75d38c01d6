"""`coffer handoff` and `coffer project` as a person runs them, in a home of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from coffer.cli.main import cli
from coffer.store.project_errors import MergeRefused
from coffer.work.memory.handoff_errors import NoHandoff
from coffer.work.rules.rule_errors import OnlyThePerson
from tests.cli.run import Machine, snapshot
from tests.memory.repositories import commit, git, repository

Look = Callable[..., str]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home = tmp_path.resolve() / "home"
    home.mkdir()
    return Machine(home, repository(home.parent / "work" / "tide", "git@github.com:tide/charts.git"))


@pytest.fixture
def look(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Look:
    """What a command says that changes nothing, without a process of its own."""
    monkeypatch.setenv("HOME", str(machine.home))

    def look(*words: str) -> str:
        monkeypatch.chdir(machine.folder)
        before = snapshot(machine.home)
        done = CliRunner().invoke(cli, words)
        if done.exception is not None:
            raise done.exception
        assert snapshot(machine.home) == before
        return done.stdout

    return look


def test_a_handoff_from_first_to_last(machine: Machine, look: Look) -> None:
    assert "found: false" in look("handoff"), "a look changes nothing"
    done = machine.alone(
        "handoff", "set", "-g", "Draw the axis", "-n", "test it", "-f", "a.py", "--json"
    ).json
    assert (done["verb"], done["branch"], done["replaced"]) == ("written", "main", False)
    commit(machine.folder, "a.py", "1", "Half an axis")
    told = json.loads(look("handoff", "--json"))
    assert (told["handoff"]["source"], told["since"]["commits"], told["since"]["files"]) == (
        "person",
        1,
        {"a.py": "new"},
    )
    second = machine.alone("handoff", "set", "-g", "Draw\x1b[31m both", "--json").json
    assert "Draw\x1b" not in look("handoff", "show")
    (before,) = json.loads(look("handoff", "history", "--json"))["handoffs"]
    assert "Draw the axis" in look("handoff", "history", before["name"])
    assert "-Draw the axis" in look("handoff", "diff")
    assert json.loads(look("handoff", "list", "--json"))["handoffs"][0]["branch"] == "main"
    assert machine.alone("undo", second["receipt"]).code == 0
    assert "Draw the axis" in look("handoff")
    assert machine.alone("handoff", "drop").code == 0
    assert "No such command 'edit'" in machine.alone("handoff", "edit").err
    with pytest.raises(NoHandoff):
        look("handoff", "diff")
    assert "Its history has 1" in look("handoff")


def test_what_is_left_empty_in_the_editor_has_no_heading(machine: Machine, look: Look) -> None:
    editor = machine.home.parent / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/^## Goal/## Goal\\n\\nBy hand/" "$1"\n')
    editor.chmod(0o755)
    assert machine.alone("handoff", "set", keys="", EDITOR=str(editor)).code == 0
    text = json.loads(look("handoff", "--json"))["handoff"]["text"]
    assert text == "## Goal\n\nBy hand"


def test_an_agent_is_the_author_and_decides_no_memory(machine: Machine, look: Look) -> None:
    other = repository(machine.folder.parent / "other")
    machine.alone("handoff", "set", "-g", "By hand")
    assert machine.alone("handoff", "set", "-g", "By its shell", CLAUDECODE="1").code == 0
    told = json.loads(look("handoff", "--json"))["handoff"]
    assert (told["source"], told["agent"]) == ("agent", "claude")
    refused = machine.alone("project", "alias", str(machine.folder), str(other), CLAUDECODE="1")
    assert refused.code == 34
    assert machine.alone("project", "alias", str(machine.folder), str(other)).code == 0
    assert (
        json.loads(look("project", str(other), "--json"))["id"] == json.loads(look("project", "--json"))["id"]
    )


def test_a_project_is_shown_and_merged_after_a_look(machine: Machine, look: Look) -> None:
    other = repository(machine.folder.parent / "other")
    nobody = look("project", str(machine.home))
    assert "none" in nobody
    assert "home folder" in nobody
    shown = look("project", ".")
    assert "github.com/tide/charts" in shown
    assert "Its origin decides" in shown
    machine.alone("handoff", "set", "-g", "One")
    machine.folder, tide = other, machine.folder
    machine.alone("handoff", "set", "-g", "Other")
    assert "Would move 1 file" in look("project", "merge", str(other), str(tide))
    done = machine.alone("project", "merge", str(other), str(tide), "--apply", "--json").json
    assert done["applied"]
    assert len(json.loads(look("project", "list", "--json"))["projects"]) == 2
    assert "One" in look("handoff")
    assert machine.alone("undo", done["receipt"]).code == 0
    assert "Other" in look("handoff")


def test_a_worktree_is_kept_apart_and_joined_again(machine: Machine, look: Look) -> None:
    main, tree = machine.folder, machine.folder.parent / "draft"
    git(main, "worktree", "add", "-q", "-b", "draft", str(tree))
    assert machine.alone("remember", "The axis is drawn by hand.").code == 0
    shared = json.loads(look("project", "--json"))["id"]
    assert json.loads(look("project", str(tree), "--json"))["id"] == shared
    assert machine.alone("project", "separate", str(tree), CLAUDECODE="1").code == OnlyThePerson.exit_code
    done = machine.alone("project", "separate", str(tree), "--json").json
    assert done["shared"] == shared
    assert machine.alone("project", "separate", str(tree)).code == MergeRefused.exit_code
    assert machine.alone("project", "join", str(main)).code == MergeRefused.exit_code
    shown = look("project", str(tree / "src"))
    assert "apart:" in shown
    assert "holds:    nothing" in shown
    machine.folder = tree
    machine.alone("remember", "The draft draws it by machine.")
    machine.alone("handoff", "set", "-g", "Draw by machine")
    assert "by machine" in machine.alone("recall", "draw axis").out
    assert "by hand" not in machine.alone("recall", "draw axis").out
    machine.folder = main
    assert "by machine" not in machine.alone("recall", "draws machine").out
    assert "by machine" not in look("handoff")
    assert machine.alone("undo", done["receipt"]).code == MergeRefused.exit_code, (
        "nobody would find its notes"
    )
    assert "Would move 2 files" in look("project", "join", str(tree))
    joined = machine.alone("project", "join", str(tree), "--apply", "--json").json
    assert "by machine" in machine.alone("recall", "draws machine").out
    assert json.loads(look("project", str(tree), "--json"))["id"] == shared
    assert machine.alone("undo", joined["receipt"]).code == 0
    assert json.loads(look("project", str(tree), "--json"))["apart"]
    machine.alone("project", "join", str(tree), "--apply")
    again = machine.alone("project", "separate", str(tree), "--json").json
    assert json.loads(look("project", str(main), "--json"))["aliases"] == []
    assert machine.alone("undo", again["receipt"]).code == 0
    assert json.loads(look("project", str(tree), "--json"))["id"] == shared


def test_a_group_that_means_one_of_its_commands_still_offers_all_of_them() -> None:
    with click.Context(cli) as above:
        group = cli.get_command(above, "project")
        assert isinstance(group, click.Group)
        context = group.make_context("project", [], parent=above, resilient_parsing=True)
        assert {item.value for item in group.shell_complete(context, "")} >= {"show", "list", "merge"}
