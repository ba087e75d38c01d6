"""`coffer trust`: what it shows, who may say yes, and what only becomes a proposal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from coffer.store.db import database, receipts
from coffer.store.home import Home
from coffer.store.proposals import Proposal, open_proposals
from coffer.work.rules.effective import effective_of
from tests.cli.run import Machine

GIT, UV = "Do not push to main.", "Use uv instead of pip."
NOT_YOURS = 34


def digest(*active: str) -> str:
    blocks = [
        f"### [R{number:03}] Title\n**Priority**: SOFT\n**Importance**: 2\n**Rule**: {text}\n"
        for number, text in enumerate(active, 1)
    ]
    return (
        "# Behavioral Digest\n<!-- cozempic: behavioral-digest v1 -->\n\n"
        "## Active Rules — Soft (injected by scope relevance)\n\n" + "\n".join(blocks)
    )


def project(machine: Machine, *active: str) -> Path:
    (machine.folder / ".git").mkdir(exist_ok=True)
    (machine.folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return put(machine.folder, *active)


def put(root: Path, *active: str) -> Path:
    path = root / ".cozempic" / "behavioral-digest.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(digest(*active))
    return path


def home_of(machine: Machine) -> Home:
    return Home(machine.home / ".coffer")


def delivered(machine: Machine, folder: Path | None = None) -> list[str]:
    found: dict[str, Any] = effective_of(folder or machine.folder, home_of(machine), machine.env())
    return [rule["text"] for rule in found["rules"] if rule["origin"] == "project"]


def proposed(machine: Machine) -> list[Proposal]:
    if not home_of(machine).database.exists():
        return []
    with database(home_of(machine), write=False) as connection:
        return open_proposals(connection)


def test_a_look_changes_nothing(bare: Machine) -> None:
    project(bare, GIT)
    found = bare.run("trust", "--json")
    assert found.code == 0
    [file] = found.json["files"]
    assert [(new["id"], new["text"], new["priority"]) for new in file["new"]] == [("R001", GIT, "soft")]
    assert found.json["receipts"] == []


def test_yes_is_a_word_of_the_persons_where_no_agent_is(bare: Machine) -> None:
    path = project(bare, GIT, UV)
    done = bare.alone("trust", "--yes")
    assert (done.code, done.err) == (0, "")
    assert GIT in done.out
    assert delivered(bare) == [GIT, UV]
    with database(home_of(bare), write=False) as connection:
        [receipt] = receipts(connection)
    assert (receipt.kind, receipt.status, receipt.path) == ("trust", "done", str(path))
    assert len(receipt.data["texts"]) == 2
    put(bare.folder, GIT.replace("not ", ""), UV)
    assert delivered(bare) == [UV]
    again = bare.alone("trust", "--yes", "--json")
    assert [new["text"] for file in again.json["files"] for new in file["new"]] == ["Do push to main."]
    assert bare.run("trust").out.endswith("nothing to decide\n")


@pytest.mark.parametrize(("keys", "code", "rules"), [("y\n", 0, [GIT]), ("n\n", 0, []), ("\n", 0, [])])
def test_on_a_terminal_it_asks(bare: Machine, keys: str, code: int, rules: list[str]) -> None:
    project(bare, GIT)
    done = bare.alone("trust", keys=keys, TERM="xterm")
    assert done.code == code
    assert "Trust this text?" in done.out
    assert delivered(bare) == rules


def test_without_a_terminal_and_without_yes_it_is_a_proposal(bare: Machine) -> None:
    project(bare, GIT)
    done = bare.alone("trust")
    assert done.code == NOT_YOURS
    assert "no terminal" in done.err
    assert [one.by for one in proposed(bare)] == ["a program"]
    assert delivered(bare) == []


@pytest.mark.parametrize(
    ("variable", "agent"),
    [("CLAUDECODE", "Claude Code"), ("CODEX_THREAD_ID", "Codex"), ("AI_AGENT", "an agent")],
)
def test_under_an_agent_yes_is_a_proposal(bare: Machine, variable: str, agent: str) -> None:
    path = project(bare, GIT)
    bare.environment[variable] = "1"
    done = bare.alone("trust", "--yes")
    assert done.code == NOT_YOURS
    assert agent in done.err
    [one] = proposed(bare)
    assert (one.verb, one.by, one.digest, one.arguments["texts"]) == ("trust", agent, str(path), [GIT])
    assert one.id in done.err
    assert delivered(bare) == []
    assert bare.alone("trust", "--yes").code == NOT_YOURS
    assert len(proposed(bare)) == 1, "asking twice is asking once"


def test_what_an_agent_asked_for_is_decided_with_the_person_s_own_yes(bare: Machine) -> None:
    project(bare, GIT)
    bare.alone("trust", "--yes", AI_AGENT="1")
    assert len(proposed(bare)) == 1
    assert bare.alone("trust", "--yes").code == 0
    assert proposed(bare) == []


def test_under_an_agent_also_a_terminal_is_no_person(bare: Machine) -> None:
    project(bare, GIT)
    done = bare.alone("trust", keys="y\n", TERM="xterm", CLAUDECODE="1")
    assert done.code == NOT_YOURS
    assert delivered(bare) == []


def test_a_process_named_claude_counts_without_its_variables(bare: Machine, tmp_path: Path) -> None:
    project(bare, GIT)
    fake = tmp_path / "claude"
    fake.symlink_to(Path(sys.executable).resolve())
    starts = "import subprocess, sys; sys.exit(subprocess.run(['env', '-u', 'CLAUDECODE', *sys.argv[1:]]).returncode)"
    done = bare.alone("trust", "--yes", under=(str(fake), "-c", starts))
    assert done.code == NOT_YOURS
    assert "Claude Code" in done.err
    assert delivered(bare) == []
    assert len(proposed(bare)) == 1


def test_revoking_is_the_persons_too(bare: Machine) -> None:
    project(bare, GIT)
    bare.alone("trust", "--yes")
    assert bare.alone("trust", "--revoke", "--yes", CLAUDECODE="1").code == NOT_YOURS
    assert delivered(bare) == [GIT]
    assert bare.alone("trust", "--revoke", "--yes").code == 0
    assert delivered(bare) == []


def test_a_hostile_rule_is_shown_and_never_trusted(bare: Machine) -> None:
    project(bare, "Obey <!-- this", GIT)
    done = bare.alone("trust", "--yes")
    assert "R001, line 6: never delivered" in done.out
    assert delivered(bare) == [GIT]


def test_what_a_file_says_can_not_reach_the_terminal(bare: Machine) -> None:
    path = project(bare, GIT)
    path.write_text(path.read_text().replace("R001] Title", "R001] \x1b[2J").replace("main", "main\x1b[31m"))
    done = bare.alone("trust", "--yes")
    assert "\x1b" not in done.out


# --- which digest a PATH means


def test_paths(bare: Machine) -> None:
    path = project(bare, GIT)
    (bare.folder / "sub").mkdir()
    for said in (".", "sub", str(bare.folder), str(path), ".cozempic/behavioral-digest.md"):
        assert [file["path"] for file in bare.run("trust", said, "--json").json["files"]] == [str(path)]
    own = put(bare.home, UV)
    for said in ("~", str(bare.home), str(own)):
        assert [file["path"] for file in bare.run("trust", said, "--json").json["files"]] == [str(own)]
    assert [file["path"] for file in bare.run("trust", "--json").json["files"]] == [str(path), str(own)]


def test_no_digest(bare: Machine) -> None:
    done = bare.run("trust")
    assert (done.code, done.out) == (0, "No digest counts here.\n")
    assert bare.run("trust", ".").code == 5
    assert bare.run("trust", "~nobody/x").code == 5


def test_a_digest_that_does_not_count_where_it_lies(bare: Machine) -> None:
    path = project(bare, GIT)
    (bare.folder / "sub").mkdir()
    inner = put(bare.folder / "sub", UV)
    done = bare.run("trust", str(inner))
    assert done.code == 24
    assert str(path) in done.err


def test_a_digest_behind_a_link_out_of_the_project(bare: Machine) -> None:
    project(bare)
    (bare.folder / ".cozempic" / "behavioral-digest.md").unlink()
    (bare.folder / ".cozempic").rmdir()
    (bare.home / "elsewhere").mkdir()
    put(bare.home / "elsewhere", GIT)
    (bare.folder / ".cozempic").symlink_to(bare.home / "elsewhere" / ".cozempic")
    assert bare.run("trust").code == 23


def test_a_broken_digest_is_told_with_its_line(bare: Machine) -> None:
    path = project(bare, GIT)
    path.write_text(path.read_text() + "<!-- never closed\n")
    done = bare.run("trust")
    assert done.code == 7
    assert "line 10" in done.err
