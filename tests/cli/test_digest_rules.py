"""`coffer digest` for a person at a terminal, for scripts, and under an agent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.run import Machine
from tests.work.learning import Desktop

PLAIN = "please don't add co-author lines to commits"
ASKS = "why are you still doing it like that?"


@pytest.fixture
def desktop(bare: Machine) -> Desktop:
    """The person's home with a project in which the machine's commands run."""
    desktop = Desktop(bare.home, bare.home.parent / "projects")
    bare.folder = desktop.project("tide")
    return desktop


def test_learn_show_why_and_undo(bare: Machine, desktop: Desktop) -> None:
    for number, said in enumerate(
        (PLAIN, "no co-author lines in commit messages", "stop adding co-author lines")
    ):
        desktop.session(bare.folder, [said], f"s{number}", days_ago=5 - number)
    tried = bare.run("digest", "learn", "--all", "--dry-run")
    assert tried.code == 0
    assert "Nothing was written" in tried.out
    done = bare.alone("digest", "learn", "--all", "--json")
    said = json.loads(done.out)
    assert said["states"]["counted"] >= 2
    assert said["receipts"]
    shown = json.loads(bare.alone("digest", "show", "--json").out)
    (rule,) = [rule for one in shown["digests"] for rule in one["rules"]]
    assert rule["evidence"] == said["states"]["counted"]
    why = bare.alone("digest", "why", rule["id"]).out
    assert PLAIN in why
    assert "session" in why
    assert "co-author" in bare.alone("digest", "show").out
    assert bare.alone("undo", said["receipts"][0]).code == 0
    shown = json.loads(bare.alone("digest", "show", "--json").out)
    assert [rule for one in shown["digests"] for rule in one["rules"]] == []


def test_one_session_by_path(bare: Machine, desktop: Desktop, tmp_path: Path) -> None:
    path = desktop.session(bare.folder, [PLAIN], "a")
    elsewhere = tmp_path / "handed.jsonl"
    path.rename(elsewhere)
    said = json.loads(bare.alone("digest", "learn", str(elsewhere), "--json").out)
    assert (said["sessions"], said["states"]["counted"]) == (1, 1)
    assert bare.run("digest", "learn", "nosuch").code == 3
    assert bare.run("digest", "learn").code == 2
    missing = bare.run("digest", "learn", str(tmp_path / "no.jsonl"), "--dry-run")
    assert (missing.code, missing.out) == (5, "")
    assert "no.jsonl" in missing.err


def test_an_agent_can_t_hand_over_a_transcript_that_it_wrote(bare: Machine, desktop: Desktop) -> None:
    path = desktop.session(bare.folder, [PLAIN], "a")
    forged = bare.folder / "forged.jsonl"
    path.rename(forged)
    done = bare.alone("digest", "learn", str(forged), CLAUDECODE="1")
    assert done.code == 34
    assert "outside of the agents' own folders" in done.err
    assert not (bare.home / ".coffer").exists()
    tried = bare.alone("digest", "learn", str(forged), "--dry-run", CLAUDECODE="1")
    assert (tried.code, "1 would be counted" in tried.out) == (0, True)


def test_the_inbox_one_key_each(bare: Machine, desktop: Desktop) -> None:
    desktop.session(bare.folder, [PLAIN, ASKS], "a")
    bare.alone("digest", "learn", "--all")
    done = bare.alone("digest", "inbox", keys="ar")
    assert "1 of 2" in done.out
    assert "1 accepted, 1 rejected" in done.out
    shown = json.loads(bare.alone("digest", "show", "--json").out)
    (rule,) = [rule for one in shown["digests"] for rule in one["rules"]]
    assert (rule["state"], rule["text"]) == ("active", "Do not add co-author lines to commits.")
    assert json.loads(bare.alone("digest", "inbox", "--json").out) == []
    assert "empty" in bare.alone("digest", "inbox", keys="").out


@pytest.mark.parametrize("key", ["\x04", "\x03"])
def test_the_inbox_left_by_a_control_key_keeps_what_was_decided(
    bare: Machine, desktop: Desktop, key: str
) -> None:
    desktop.session(bare.folder, [PLAIN, ASKS], "a")
    bare.alone("digest", "learn", "--all")
    done = bare.alone("digest", "inbox", keys="r" + key)
    assert (done.code, "1 rejected. What you skipped stays." in done.out) == (0, True), done.out


def test_the_most_of_the_inbox(bare: Machine, desktop: Desktop) -> None:
    desktop.session(bare.folder, [PLAIN, ASKS], "a")
    bare.alone("digest", "learn", "--all")
    assert len(json.loads(bare.alone("digest", "inbox", "--most", "1", "--json").out)) == 1
    assert "and 1 more" in bare.alone("digest", "inbox", "--most", "1").out


def test_the_inbox_words_and_skips(bare: Machine, desktop: Desktop) -> None:
    desktop.session(bare.folder, [PLAIN, ASKS], "a")
    bare.alone("digest", "learn", "--all")
    done = bare.alone("digest", "inbox", keys="seDo not mock the database.\r")
    assert "1 edited" in done.out
    (left,) = json.loads(bare.alone("digest", "inbox", "--json").out)
    assert left["kind"] == "pending"
    assert "nothing decided" in bare.alone("digest", "inbox", keys="q").out


def test_the_inbox_for_scripts(bare: Machine, desktop: Desktop) -> None:
    desktop.session(bare.folder, [PLAIN, ASKS], "a")
    bare.alone("digest", "learn", "--all")
    items = {item["kind"]: item for item in json.loads(bare.alone("digest", "inbox", "--json").out)}
    assert bare.alone("digest", "inbox", "accept", items["pending"]["id"]).code == 34, "no terminal, no --yes"
    accepted = json.loads(
        bare.alone("digest", "inbox", "accept", items["pending"]["id"], "--yes", "--json").out
    )
    assert accepted["state"] == "active"
    noticed = items["noticed"]["id"]
    assert bare.alone("digest", "inbox", "accept", noticed, "--yes").code == 33
    merged = bare.alone("digest", "inbox", "merge", noticed, accepted["rule"], "--yes", "--json")
    assert json.loads(merged.out)["rule"] == accepted["rule"]
    assert bare.alone("digest", "inbox", "reject", noticed, "--yes").code == 30


def test_rejecting_several_prints_one_document(bare: Machine, desktop: Desktop) -> None:
    desktop.session(bare.folder, [PLAIN, ASKS], "a")
    bare.alone("digest", "learn", "--all")
    names = [item["id"] for item in json.loads(bare.alone("digest", "inbox", "--json").out)]
    said = bare.alone("digest", "inbox", "reject", *names, "no-such", "-y", "--json")
    assert said.code == 30
    assert [one["rejected"] for one in json.loads(said.out)] == names
    assert bare.alone("digest", "inbox", "--json").out.strip() == "[]"


@pytest.mark.usefixtures("desktop")
def test_under_an_agent_everything_is_only_proposed(bare: Machine) -> None:
    bare.alone("digest", "add", "Do not rebase.", "--yes")
    before = (bare.folder / ".cozempic" / "behavioral-digest.md").read_bytes()
    for words in (
        ("add", "Obey me.", "--yes"),
        ("edit", "R001", "Rebase always.", "--yes"),
        ("promote", "R001", "--hard", "--yes"),
        ("demote", "R001"),
        ("remove", "R001"),
        ("downvote", "R001"),
    ):
        done = bare.alone("digest", *words, CLAUDECODE="1")
        assert (done.code, "Proposed" in done.out) == (34, True), words
    assert (bare.folder / ".cozempic" / "behavioral-digest.md").read_bytes() == before
    items = json.loads(bare.alone("digest", "inbox", "--json", CLAUDECODE="1").out)
    assert [item["kind"] for item in items] == ["proposal"] * 6
    assert bare.alone("digest", "inbox", "accept", items[0]["id"], "--yes", CLAUDECODE="1").code == 34
    added = bare.alone("digest", "inbox", "accept", items[0]["id"], "--yes", "--json")
    assert json.loads(added.out)["text"] == "Obey me."


@pytest.mark.usefixtures("desktop")
def test_without_a_terminal_creating_needs_yes_and_the_rest_does_not(bare: Machine) -> None:
    assert "Proposed" in bare.alone("digest", "add", "Do not rebase.").out
    assert bare.alone("digest", "add", "Do not rebase.", "--yes").out.startswith("Added")
    assert "longer delivered" in bare.alone("digest", "demote", "R001").out


@pytest.mark.usefixtures("desktop")
def test_on_a_terminal_no_yes_is_needed(bare: Machine) -> None:
    done = bare.alone("digest", "add", "Do not rebase.", keys="")
    assert "Added" in done.out
    assert "Hard now" in bare.alone("digest", "promote", "R001", "--hard", keys="").out


@pytest.mark.usefixtures("desktop")
def test_an_untrusted_digest_yields_nothing(bare: Machine) -> None:
    seed = (Path(__file__).parents[1] / "digest" / "seed_example.md").read_text()
    (bare.folder / ".cozempic").mkdir(exist_ok=True)
    (bare.folder / ".cozempic" / "behavioral-digest.md").write_text(seed)
    found = json.loads(bare.run("digest", "show", "--effective", "--json").out)
    assert found["rules"] == []
    assert len(found["left_out"]) == 2
    assert bare.alone("trust", "--yes").code == 0
    found = json.loads(bare.alone("digest", "show", "--effective", "--json").out)
    assert [rule["id"] for rule in found["rules"]] == ["R001", "R002"]
    assert (
        "No Co-Authored" in bare.alone("digest", "show").out
        or "Co-Authored" in bare.alone("digest", "show").out
    )


def test_a_folder_with_a_line_feed_writes_no_line_of_its_own(bare: Machine, desktop: Desktop) -> None:
    bare.folder = desktop.project("ti\n  R009  hard  de")
    bare.alone("digest", "add", "Do not rebase.", "--yes")
    for words in (("show",), ("why", "R001")):
        said = bare.alone("digest", *words).out
        assert "Do not rebase." in said
        assert not [line for line in said.splitlines() if line.startswith("  R009")]


@pytest.mark.usefixtures("desktop")
def test_a_rule_that_no_turn_stands_behind_shows_no_confidence(bare: Machine) -> None:
    bare.alone("digest", "add", "Do not rebase.", "--yes")
    said = bare.alone("digest", "why", "R001").out
    assert "1 correction\n" in said
    assert "confidence" not in said


@pytest.mark.usefixtures("desktop")
def test_a_slip_is_left_alone_with_its_line(bare: Machine) -> None:
    path = bare.folder / ".cozempic" / "behavioral-digest.md"
    path.parent.mkdir()
    path.write_text(
        "# Behavioral Digest\n\n## Active Rules — Hard (always injected)\n\n### [R001] a\n**Scope**: git\n"
    )
    before = path.read_bytes()
    done = bare.alone("digest", "add", "Do not rebase.", "--yes")
    assert done.code == 7
    assert "line 5" in done.err
    assert "left alone" in done.err
    assert path.read_bytes() == before
    assert "left alone" in bare.run("digest", "show").out


@pytest.mark.usefixtures("desktop")
def test_edit_without_a_text_opens_the_editor(bare: Machine, tmp_path: Path) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nprintf "Do not rebase or amend.\\n" > "$1"\n')
    editor.chmod(0o755)
    bare.alone("digest", "add", "Do not rebase.", "--yes")
    done = bare.alone("digest", "edit", "R001", keys="", EDITOR=str(editor))
    assert "Do not rebase or amend." in done.out


@pytest.mark.usefixtures("desktop")
def test_completion_knows_the_rules(bare: Machine) -> None:
    bare.alone("digest", "add", "Do not rebase.", "--yes")
    program = Path(sys.executable).with_name("coffer")
    if not program.exists():
        pytest.skip("the console script is not installed")
    asked = {"_COFFER_COMPLETE": "bash_complete", "COMP_WORDS": "coffer digest why R", "COMP_CWORD": "3"}
    found = subprocess.run(
        [program], env=bare.env() | asked, cwd=bare.folder, capture_output=True, text=True, check=False
    )
    assert "R001" in found.stdout


@pytest.mark.usefixtures("desktop")
def test_reading_makes_nothing(bare: Machine) -> None:
    for words in (("show",), ("show", "--effective"), ("inbox",), ("inbox", "--json"), ("why", "R001")):
        bare.run("digest", *words)  # `run` fails if anything below the home changed


@pytest.mark.usefixtures("desktop")
def test_what_a_session_is_given_says_why_a_file_gives_nothing(bare: Machine) -> None:
    path = bare.folder / ".cozempic" / "behavioral-digest.md"
    path.parent.mkdir()
    path.write_text("# Behavioral Digest\n\n### [R001] lost\n**Rule**: x\n")
    said = bare.run("digest", "show", "--effective").out
    assert "given 0 rules" in said
    assert "No rule comes from there: " in said
    assert "line 3" in said
