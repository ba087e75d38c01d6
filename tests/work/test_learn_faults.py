"""Learning where something is in its way: a crash, a folder that can't be written, a record without a time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coffer.core.events import Ordered
from coffer.core.rule import Wording
from coffer.work import draft as draft_module
from tests.transcripts import SESSION
from tests.work.learning import Desktop

ONE = "please don't add co-author lines to commits"


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    return Desktop(tmp_path)


def digest_of(project: Path) -> Path:
    return project / ".cozempic" / "behavioral-digest.md"


def test_killed_and_then_edited_by_hand_counts_once(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    tide = desktop.project("tide")
    desktop.session(tide, [ONE], "a")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(draft_module, "_finish", killed)
        with pytest.raises(KeyboardInterrupt):
            desktop.learn()
    path = next(digest_of(place) for place in (tide, desktop.root) if digest_of(place).exists())
    path.write_text(path.read_text() + "\n## Notes\n\nmine\n")
    desktop.learn()
    (rule,) = (*desktop.rules(tide), *desktop.rules(None))
    assert (rule.corrections, len(rule.evidence)) == (1, 1)
    assert path.read_text().endswith("\n## Notes\n\nmine\n")


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "yesterday", ""])
def test_a_record_with_an_impossible_time_is_as_old_as_the_run(desktop: Desktop, time: str) -> None:
    tide = desktop.project("tide")
    path = desktop.session(tide, [ONE], "a")
    path.write_bytes(
        re.sub(rb'"timestamp": ?"[^"]*"', b'"timestamp":"%s"' % time.encode(), path.read_bytes())
    )
    desktop.learn()
    (rule,) = (*desktop.rules(tide), *desktop.rules(None))
    assert [piece.time for piece in rule.evidence] == [desktop.now]
    assert desktop.inbox(tide).items(old=True)


def test_one_project_that_can_t_be_written_keeps_nobody_from_learning(desktop: Desktop) -> None:
    tide, moon = desktop.project("tide"), desktop.project("moon")
    (moon / ".cozempic").write_text("a file, where a folder should be")
    for project in (moon, tide):
        desktop.session(project, ["in this repo never mock the database in tests"], project.name)
    learned = desktop.learn()
    assert len(desktop.rules(tide)) == 1
    assert [problem for problem in learned.problems if str(moon / ".cozempic") in problem]
    assert [path for path, changes in learned.changes.items() if changes] == [str(digest_of(tide))]
    assert [item.quote for item in desktop.inbox(moon).items() if item.kind == "noticed"] == [
        "in this repo never mock the database in tests"
    ]
    assert desktop.learn().turns == []


def test_the_header_names_the_session_that_last_updated_the_file(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    desktop.session(tide, [ONE], "a")
    (receipt,) = desktop.learn().receipts
    assert receipt.session == SESSION
    assert f"<!-- session: {SESSION} -->" in Path(receipt.path).read_text()


def test_what_holds_is_named_anew_only_where_a_rule_changed(desktop: Desktop) -> None:
    tide = desktop.project("tide")
    desktop.desk(tide).add("Do not rebase.")
    shelf = desktop.shelf()
    first = shelf.reach(str(tide))
    assert shelf.reach(str(tide)) is first
    assert [rule.id for rule in first.rules.all] == ["project:R001"]
    shelf.of("").step(Ordered("", Wording("No emoji", "Do not use emoji.")))
    second = shelf.reach(str(tide))
    assert [rule.id for rule in second.rules.all] == ["project:R001", "user:R001"]
    assert second.where["user:R001"] == (shelf.of(""), "R001")
