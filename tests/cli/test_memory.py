"""`coffer remember`, `recall` and `index rebuild` as a person types them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from coffer.cli.main import cli
from coffer.core.entry import entries_of

Coffer = Callable[..., Result]


@pytest.fixture
def coffer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Coffer:
    """Runs a command in the project `tide` of a home of its own, or in the folder that `at` names."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path / "tide")], check=True)

    def run(*words: str, at: str = "tide", stdin: str = "", code: int | None = 0) -> Result:
        monkeypatch.chdir(tmp_path / at)
        done = CliRunner().invoke(cli, words, env={"HOME": str(tmp_path), "COFFER_HOME": None}, input=stdin)
        assert code is None or done.exit_code == code, (done.output, done.exception)
        return done

    return run


def test_a_note_is_kept_found_listed_and_taken_back(coffer: Coffer, tmp_path: Path) -> None:
    assert "Nothing in the vault" in coffer("recall").output
    assert not (tmp_path / ".coffer").exists()
    kept = json.loads(
        coffer("remember", "We", "retry five times", "--title", "Retry policy", "--json").output
    )
    assert kept["project"] == "tide"
    assert "takes it back" in coffer("remember", "-g", stdin="The machine has two cores.\n").output
    found = coffer("recall", "how", "often do we retry?").output
    assert found.startswith(f"[{kept['id']}] ")
    assert "\n  Retry policy: We retry five times\n" in found
    listed = coffer("recall").output
    assert "two cores" in listed
    assert "every project" in listed
    assert "retry" not in coffer("recall", at=".").output
    assert "project tide" in coffer("recall", "--all", at=".").output
    for name in ("tide", kept["path"].split("/")[-3], kept["path"].split("/")[-3][:8]):
        (hit,) = json.loads(coffer("recall", "retry", "--project", name, "--json", at=".").output)
        assert (hit["id"], hit["lane"], hit["title"]) == (kept["id"], "knowledge", "Retry policy")
    assert kept["path"] in coffer("recall", kept["id"]).output
    for narrowed in (
        ("--since", "2999"),
        ("--until", "2020-05"),
        ("--agent", "codex"),
        ("--lane", "journal"),
    ):
        assert "Nothing" in coffer("recall", "retry", *narrowed).output
    (tmp_path / ".coffer" / "index.db").write_bytes(b"no database")
    assert json.loads(coffer("index", "rebuild", "--json").output)["entries"] == 2
    coffer("undo", kept["receipt"], code=None)
    if not Path(kept["path"]).exists():  # under an agent only its own notes are taken back
        assert "retry" not in coffer("recall").output


def test_what_is_refused_is_said(coffer: Coffer) -> None:
    coffer("remember", "a fact")
    assert "says this already" in str(coffer("remember", "a  FACT", code=1).exception)
    assert "4,001 characters" in str(coffer("remember", "x" * 4001, code=1).exception)
    assert "No entry has the id" in str(coffer("recall", "0000000a", code=1).exception)
    assert "No project with a memory" in str(coffer("recall", "x", "--project", "nowhere", code=1).exception)
    assert "is no date" in coffer("recall", "x", "--since", "soon", code=2).output


def test_nothing_of_a_note_is_obeyed_by_the_terminal(coffer: Coffer) -> None:
    kept = json.loads(coffer("remember", "red \x1b[31m alarm\x07", "--json").output)
    assert "\x1b" not in coffer("recall", "alarm").output
    assert "\x1b" not in coffer("recall", kept["id"]).output
    assert entries_of(Path(kept["path"]).read_text(), "knowledge")[0].text == "red \x1b[31m alarm\x07"
