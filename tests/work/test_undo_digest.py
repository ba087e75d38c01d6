"""Undo of changes to a digest: after newer ones, after a crash, twice, without its backup or its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from coffer.errors import ReceiptNotFound
from coffer.store.db import FAILED, PREPARED, database, save
from coffer.work.receipts import to_undo
from coffer.work.rules import undo_digest as undo_digest_module
from coffer.work.rules.rule_errors import RulesChangedSince
from coffer.work.undo_any import undo_any
from tests.work.learning import Desktop

ONE = "please don't add co-author lines to commits"


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    return Desktop(tmp_path)


@pytest.fixture
def tide(desktop: Desktop) -> Path:
    return desktop.project("tide")


def digest_of(project: Path) -> Path:
    return project / ".cozempic" / "behavioral-digest.md"


def test_what_stays_in_the_file_keeps_its_evidence(desktop: Desktop) -> None:
    desktop.session(desktop.root, [ONE, "never use emoji in the docs"], "a")
    (receipt,) = desktop.learn().receipts
    kept, other = desktop.rules(None)
    desktop.desk(None).upvote(kept.id)
    undone = undo_any(receipt, desktop.home, desktop.places, desktop.now)
    assert undone.data["left"] == [kept.id]
    (rule,) = desktop.rules(None)
    assert (rule.id, len(rule.evidence)) == (kept.id, 1)
    assert [item.quote for item in desktop.inbox(None).items() if item.kind == "noticed"] == [
        "never use emoji in the docs"
    ]
    assert other.id != kept.id


def test_an_undo_that_was_killed_is_finished_by_the_next(
    desktop: Desktop, tide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desktop.desk(tide).add("Do not rebase.")
    before = digest_of(tide).read_bytes()
    done = desktop.desk(tide).edit("R001", "Do not rebase, ever.")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(undo_digest_module, "move_evidence", killed)
        with pytest.raises(KeyboardInterrupt):
            undo_any(done.receipt, desktop.home, desktop.places)
    undo_any(to_undo(desktop.home, done.receipt.id), desktop.home, desktop.places)
    assert digest_of(tide).read_bytes() == before
    with pytest.raises(ReceiptNotFound):
        to_undo(desktop.home, done.receipt.id)


def test_two_at_once_undo_once(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not rebase.")
    done = desktop.desk(tide).upvote("R001")
    first, second = (to_undo(desktop.home, done.receipt.id) for _ in range(2))
    undo_any(first, desktop.home, desktop.places)
    after = digest_of(tide).read_bytes()
    with pytest.raises(ReceiptNotFound):
        undo_any(second, desktop.home, desktop.places)
    assert digest_of(tide).read_bytes() == after


def test_what_never_happened_is_nothing_to_undo(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not rebase.")
    done = desktop.desk(tide).upvote("R001")
    undo_any(done.receipt, desktop.home, desktop.places)
    never = done.receipt
    never.status = PREPARED
    with database(desktop.home) as connection:
        save(connection, never)
    with pytest.raises(ReceiptNotFound, match=FAILED):
        undo_any(to_undo(desktop.home, never.id), desktop.home, desktop.places)


def test_without_its_backup_it_goes_rule_by_rule(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not rebase.")
    done = desktop.desk(tide).edit("R001", "Do not rebase, ever.")
    Path(done.receipt.data["backup"]).unlink()
    undo_any(done.receipt, desktop.home, desktop.places)
    (rule,) = desktop.rules(tide)
    assert rule.text == "Do not rebase."


def test_into_a_file_that_was_deleted(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not rebase.")
    done = desktop.desk(tide).remove("R001")
    digest_of(tide).unlink()
    undo_any(done.receipt, desktop.home, desktop.places)
    text = digest_of(tide).read_text()
    assert text.startswith("# Behavioral Digest\n<!-- cozempic: behavioral-digest v1 -->\n")
    assert f"<!-- project: {tide} -->" in text
    assert [rule.text for rule in desktop.rules(tide)] == ["Do not rebase."]


def test_older_ones_after_newer_ones(desktop: Desktop, tide: Path) -> None:
    first = desktop.desk(tide).add("Do not rebase.")
    second = desktop.desk(tide).promote("R001", hard=True)
    with pytest.raises(RulesChangedSince, match="Undo what came later first"):
        undo_any(first.receipt, desktop.home, desktop.places)
    undo_any(second.receipt, desktop.home, desktop.places)
    undo_any(first.receipt, desktop.home, desktop.places)
    assert not digest_of(tide).exists()
