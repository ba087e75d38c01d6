"""What somebody new read wrongly, or could not read at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coffer.cli import plain
from tests.cli.place import RULE, place
from tests.cli.run import Machine
from tests.work.learning import Desktop

LONG = "Do not write to the harbour's tide table while the nightly import runs; ask the harbour master first."


def test_a_client_that_is_not_on_the_path_breaks_no_hooks(tmp_path: Path) -> None:
    with place(tmp_path) as here:
        here.machine.environment["PATH"] = "/usr/bin:/bin"
        (here.machine.home / ".codex").mkdir()
        done = here.machine.alone("up", "--yes")
        assert done.code == 0
        assert "is given 1 rule, " in done.out
        assert json.loads(here.settings.read_text())["permissions"]["allow"] == [
            "Bash"
        ]  # no server, no tools
        found = json.loads(here.machine.alone("doctor", "--json").out)
        assert found["fatal"] == 0
        (trust,) = [row for row in found["rows"] if row["check"] == "trust"]
        assert "no `codex` on the PATH" in trust["found"]


def test_no_rule_is_said_in_a_sentence(tmp_path: Path) -> None:
    with place(tmp_path) as here:
        assert here.machine.alone("digest", "remove", "R001").code == 0
        said = here.machine.alone("up", "--yes").out
        assert "is given no rule of yours, only how to use Coffer's memory (exit code 0" in said
        assert "coffer digest add" in said


def test_receipts_name_the_rule(bare: Machine) -> None:
    assert bare.alone("digest", "add", RULE, "--global", "--yes").code == 0
    assert "R001 Do not count the" in bare.alone("receipts").out


@pytest.mark.parametrize("words", [("digest", "show"), ("digest", "show", "--effective")], ids=" ".join)
def test_a_long_rule_is_shown_whole(bare: Machine, words: tuple[str, ...]) -> None:
    assert bare.alone("digest", "add", LONG, "--global", "--yes").code == 0
    said = bare.alone(*words).out
    assert "…" not in said
    assert all(word in said for word in LONG.split())


def test_an_empty_rule_is_not_even_proposed(bare: Machine) -> None:
    done = bare.alone("digest", "add", " ")
    assert (done.code, done.out) == (31, "")
    assert json.loads(bare.alone("digest", "inbox", "--json").out) == []


def test_learning_twice_says_why_nothing_is_new(bare: Machine) -> None:
    desktop = Desktop(bare.home, bare.home.parent / "projects")
    bare.folder = desktop.project("tide")
    desktop.session(bare.folder, ["please don't add co-author lines to commits"], "s1")
    assert bare.alone("digest", "learn", "--all").code == 0
    assert "looked at all that you said in them before" in bare.alone("digest", "learn", "--all").out
    why = bare.alone("digest", "why", "P001").out
    assert "\nagent:" not in why


def test_status_promises_no_hook_that_is_not_there(bare: Machine) -> None:
    said = bare.run("status").out
    assert "the next hook" not in said
    assert "coffer up" in said


def test_times_are_those_of_the_persons_clock(bare: Machine) -> None:
    assert bare.alone("digest", "add", RULE, "--global", "--yes").code == 0
    (receipt,) = json.loads(bare.alone("receipts", "--json").out)
    bare.environment["TZ"] = "UTC+9"
    assert plain.moment("2026-11-29") == "2026-11-29"
    assert plain.moment("yesterday, about noon") == "yesterday, about"
    here = receipt["time"][5:16].replace("T", " ")
    assert here not in bare.alone("receipts").out


def test_short_help_is_whole(bare: Machine) -> None:
    for group in (("hooks",), ("digest",), ("digest", "inbox"), ("daemon",)):
        assert "..." not in bare.run(*group, "--help").out.partition("Commands:")[2]
    assert "[SESSION]" in bare.run("show", "--help").out


def test_a_line_that_is_no_rule_is_told(bare: Machine) -> None:
    assert bare.alone("digest", "add", RULE, "--global", "--yes").code == 0
    path = bare.home / ".cozempic" / "behavioral-digest.md"
    assert json.loads(bare.alone("digest", "check", str(path), "--json").out)["loose"] == []
    kept = path.read_text()
    path.write_text(kept + "\n<!-- a note\n- of two lines -->\n\n- never use var\n")
    line = len(path.read_text().splitlines())
    for words in (("check", str(path)), ("show",)):
        said = bare.alone("digest", *words)
        assert said.code == 0
        assert f"line {line}: not part of a rule, so never delivered" in said.out


def test_what_a_purge_takes_with_it_is_said_before_and_after(tmp_path: Path) -> None:
    with place(tmp_path) as here:
        assert "your trust in your digests' rules" in here.machine.alone("down", "--purge", "--dry-run").out
        assert here.machine.alone("down", "--purge", "--yes").code == 0
        said = here.machine.alone("up", "--yes").out
        assert "1 rule is not delivered: nobody trusted it" in said
        assert "A first rule" not in said
