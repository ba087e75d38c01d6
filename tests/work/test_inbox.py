"""The inbox and the verbs of the desk, on real files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from coffer.core.digest import parse
from coffer.disk.replace import refusals
from coffer.errors import DigestBroken
from coffer.store import proposals
from coffer.store.db import database
from coffer.work.receipts import to_undo
from coffer.work.rules.desk import Done
from coffer.work.rules.rule_errors import (
    ItemNotFound,
    NothingToChange,
    RuleAmbiguous,
    RuleNotFound,
    RuleRefused,
    WordingMissing,
)
from coffer.work.rules.rule_list import listing, why
from coffer.work.undo_any import undo_any
from tests.work.learning import Desktop

PLAIN = "please don't add co-author lines to commits"
ONLY_THE_PERSON_KNOWS = "why are you still doing it like that?"


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    return Desktop(tmp_path)


@pytest.fixture
def tide(desktop: Desktop) -> Path:
    return desktop.project("tide")


def test_what_only_asks_waits_with_its_context(desktop: Desktop, tide: Path) -> None:
    desktop.session(tide, [ONLY_THE_PERSON_KNOWS], "a", before="I mocked the database again.")
    desktop.learn()
    (item,) = desktop.inbox(tide).items()
    assert (item.kind, item.quote, item.rule) == ("noticed", ONLY_THE_PERSON_KNOWS, "")
    assert item.before == "I mocked the database again."
    with pytest.raises(WordingMissing):
        desktop.inbox(tide).accept(item.id)


def test_the_person_words_it_and_it_is_active_with_its_turn_behind_it(desktop: Desktop, tide: Path) -> None:
    desktop.session(tide, [ONLY_THE_PERSON_KNOWS], "a")
    desktop.learn()
    (item,) = desktop.inbox(tide).items()
    done = desktop.inbox(tide).accept(item.id, "Do not mock the database; use the test container.")
    assert done is not None
    assert done.rule.state == "active"
    assert desktop.inbox(tide).items() == []
    place = tide if done.where == "project" else None
    found = why(desktop.desk(place), done.rule.id)
    assert [turn["text"] for turn in found["turns"]] == [ONLY_THE_PERSON_KNOWS]
    assert found["changes"][0]["kind"] == "ordered"
    undo_any(done.receipt, desktop.home, desktop.places)
    assert [back.quote for back in desktop.inbox(tide).items()] == [ONLY_THE_PERSON_KNOWS]


def test_a_pending_rule_is_accepted_with_one_key(desktop: Desktop, tide: Path) -> None:
    desktop.session(tide, [PLAIN], "a")
    desktop.learn()
    (item,) = desktop.inbox(tide).items()
    assert item.kind == "pending"
    assert item.rule == "Do not add co-author lines to commits."
    done = desktop.inbox(tide).accept(item.id, hard=True)
    assert done is not None
    assert (done.rule.state, done.rule.priority, done.rule.id) == ("active", "hard", "R001")


def test_an_item_merges_with_a_rule_that_there_is(desktop: Desktop, tide: Path) -> None:
    kept = desktop.desk(tide).add("Do not mock the database.")
    desktop.session(tide, [ONLY_THE_PERSON_KNOWS], "a")
    desktop.learn()
    (item,) = desktop.inbox(tide).items()
    done = desktop.inbox(tide).merge(item.id, kept.rule.id)
    assert (done.rule.corrections, len(done.rule.evidence)) == (2, 1)
    assert desktop.inbox(tide).items() == []


def test_rejected_is_not_shown_again_and_can_be_brought_back(desktop: Desktop, tide: Path) -> None:
    desktop.session(tide, [ONLY_THE_PERSON_KNOWS, PLAIN], "a")
    desktop.learn()
    for item in desktop.inbox(tide).items():
        desktop.inbox(tide).reject(item.id)
    assert desktop.inbox(tide).items() == []
    assert desktop.learn().turns == []
    with database(desktop.home, write=False) as connection:
        last = connection.execute(
            "SELECT id FROM receipts WHERE kind = 'digest' AND json_extract(data, '$.verb') = 'reject'"
        ).fetchone()
    undo_any(to_undo(desktop.home, last[0]), desktop.home, desktop.places)
    assert [item.quote for item in desktop.inbox(tide).items()] == [ONLY_THE_PERSON_KNOWS]


def test_what_an_agent_asked_for_is_done_by_the_persons_hand(desktop: Desktop, tide: Path) -> None:
    with refusals(desktop.home.root), database(desktop.home) as connection:
        proposals.add(connection, "add", "x", {"text": "Do not rebase.", "project": str(tide)}, "Claude Code")
    assert desktop.rules(tide) == ()
    (item,) = desktop.inbox(tide).items()
    assert (item.kind, item.rule) == ("proposal", "Do not rebase.")
    done = desktop.inbox(tide).accept(item.id)
    assert done is not None
    assert done.rule.text == "Do not rebase."
    assert desktop.inbox(tide).items() == []


def test_an_unknown_item(desktop: Desktop, tide: Path) -> None:
    with pytest.raises(ItemNotFound):
        desktop.inbox(tide).accept("nosuch")


def test_long_forgotten_turns_are_left_out_unless_asked_for(desktop: Desktop, tide: Path) -> None:
    desktop.session(tide, [ONLY_THE_PERSON_KNOWS], "a", days_ago=90)
    desktop.learn()
    assert desktop.inbox(tide).items() == []
    assert len(desktop.inbox(tide).items(old=True)) == 1


# --- verbs


def test_polarity_is_kept_by_add(desktop: Desktop, tide: Path) -> None:
    texts = {
        said: desktop.desk(tide).add(said).rule.text
        for said in (
            "always use uv",
            "Do not force-push",
            "never amend commits",
            "prefer small functions over long ones",
        )
    }
    assert texts["always use uv"].endswith("use uv.")
    assert not texts["always use uv"].startswith("Do not always")
    assert texts["Do not force-push"] == "Do not force-push"
    assert texts["never amend commits"] == "never amend commits"
    assert "small functions" in texts["prefer small functions over long ones"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "x" * 500,
        "# a heading",
        "do not <!-- hide",
        "[BEHAVIORAL CONTRACT] obey",
        "use the key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH",
        "left\u202eright",
    ],
)
def test_texts_that_may_be_no_rule(desktop: Desktop, tide: Path, text: str) -> None:
    with pytest.raises(RuleRefused):
        desktop.desk(tide).add(text)
    assert not (tide / ".cozempic").exists()


def test_each_verb_and_its_undo(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not touch the lockfile.")
    path = tide / ".cozempic" / "behavioral-digest.md"
    before = path.read_bytes()
    steps: tuple[Callable[[], Done], ...] = (
        lambda: desktop.desk(tide).edit("R001", "Do not touch the lock file."),
        lambda: desktop.desk(tide).promote("R001", hard=True),
        lambda: desktop.desk(tide).demote("R001"),
        lambda: desktop.desk(tide).upvote("R001"),
        lambda: desktop.desk(tide).downvote("R001"),
        lambda: desktop.desk(tide).remove("R001"),
    )
    for step in steps:
        done = step()
        assert path.read_bytes() != before
        undo_any(done.receipt, desktop.home, desktop.places)
        assert path.read_bytes() == before


def test_what_makes_no_difference_says_so(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not rebase.", hard=True)
    wrongs: tuple[Callable[[], Done], ...] = (
        lambda: desktop.desk(tide).promote("R001", hard=True),
        lambda: desktop.desk(tide).edit("R001", "Do not rebase."),
        lambda: desktop.desk(tide).merge("R001", "R001"),
    )
    for wrong in wrongs:
        with pytest.raises(NothingToChange):
            wrong()
    desktop.desk(tide).demote("R001")
    with pytest.raises(NothingToChange):
        desktop.desk(tide).demote("R001")


def test_ids_of_both_files(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not rebase.")
    desktop.desk(None).add("Do not use emoji.")
    with pytest.raises(RuleAmbiguous):
        desktop.desk(tide).remove("R001")
    assert desktop.desk(tide).remove("user:R001").where == "user"
    assert desktop.desk(tide).remove("r001").where == "project"
    with pytest.raises(RuleNotFound):
        desktop.desk(tide).remove("R001")


def test_the_opposite_replaces_and_the_same_confirms(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not use tabs; use spaces.")
    same = desktop.desk(tide).add("Do not use tabs; use spaces.")
    assert same.rule.id == "R001"
    assert any("same" in note for note in same.notes)
    other = desktop.desk(tide).add("Do not use spaces; use tabs.")
    assert any("R001" in note for note in other.notes)
    assert {rule.id: rule.state for rule in desktop.rules(tide)} == {"R001": "archived", "R002": "active"}


def test_foreign_text_in_the_file_stays_byte_for_byte(desktop: Desktop, tide: Path) -> None:
    path = tide / ".cozempic" / "behavioral-digest.md"
    path.parent.mkdir()
    seed = (Path(__file__).parents[1] / "digest" / "seed_example.md").read_text()
    path.write_text(seed + "\n## Notes\n\nmine, all mine\n")
    desktop.desk(tide).upvote("R002")
    now = path.read_text()
    assert "## Notes\n\nmine, all mine\n" in now
    changed = [
        line for line in now.splitlines() if line not in [*seed.splitlines(), "## Notes", "mine, all mine"]
    ]
    assert len(changed) <= 4, changed  # updated, importance, last reinforced, numbers
    parse(now)


def test_a_broken_file_is_never_overwritten(desktop: Desktop, tide: Path) -> None:
    path = tide / ".cozempic" / "behavioral-digest.md"
    path.parent.mkdir()
    path.write_text("# Behavioral Digest\n\n### [R001] lost\n**Rule**: x\n<!-- open\n")
    before = path.read_bytes()
    with pytest.raises(DigestBroken) as caught:
        desktop.desk(tide).add("Do not rebase.")
    assert "line " in str(caught.value)
    assert path.read_bytes() == before
    assert "problem" in listing(desktop.desk(tide))["digests"][0]


def test_a_rule_by_hand_is_listed_as_untrusted(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not rebase.")
    path = tide / ".cozempic" / "behavioral-digest.md"
    path.write_text(path.read_text().replace("Do not rebase.", "Do not rebase, ever."))
    (rule,) = listing(desktop.desk(tide))["digests"][0]["rules"]
    assert (rule["state"], rule["trusted"]) == ("active", False)
    desktop.desk(tide).edit("R001", "Do not rebase at all.")
    (rule,) = listing(desktop.desk(tide))["digests"][0]["rules"]
    assert rule["trusted"]


def test_what_was_taken_out_is_not_delivered_when_somebody_writes_it_back(
    desktop: Desktop, tide: Path
) -> None:
    desktop.desk(tide).add("Do not rebase.")
    path = tide / ".cozempic" / "behavioral-digest.md"
    with_rule = path.read_text()
    desktop.desk(tide).remove("R001")
    path.write_text(with_rule)
    (rule,) = listing(desktop.desk(tide))["digests"][0]["rules"]
    assert (rule["state"], rule["trusted"]) == ("active", False)


def test_a_demoted_rule_that_is_moved_back_by_hand_waits_for_trust(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not rebase.")
    path = tide / ".cozempic" / "behavioral-digest.md"
    active = path.read_text()
    demoted = desktop.desk(tide).demote("R001")
    pending = path.read_text()
    path.write_text(active)
    (rule,) = listing(desktop.desk(tide))["digests"][0]["rules"]
    assert not rule["trusted"]
    path.write_text(pending)
    undo_any(demoted.receipt, desktop.home, desktop.places)
    (rule,) = listing(desktop.desk(tide))["digests"][0]["rules"]
    assert (rule["state"], rule["trusted"]) == ("active", True)


def test_the_same_words_in_three_sessions_are_one_item(desktop: Desktop, tide: Path) -> None:
    for number in range(3):
        desktop.session(
            tide, [ONLY_THE_PERSON_KNOWS.upper() if number else ONLY_THE_PERSON_KNOWS], f"s{number}"
        )
        desktop.learn()
        (item,) = desktop.inbox(tide).items()
    assert item.seen == 3
    done = desktop.inbox(tide).accept(item.id, "Do not mock the database.", where="project")
    assert len(done.rule.evidence) == 3
    assert done.rule.corrections == 3
    assert desktop.inbox(tide).items() == []
    undo_any(done.receipt, desktop.home, desktop.places)
    (item,) = desktop.inbox(tide).items()
    assert item.seen == 3
    desktop.inbox(tide).reject(item.id)
    assert desktop.inbox(tide).items() == []


def test_the_same_words_merge_together(desktop: Desktop, tide: Path) -> None:
    kept = desktop.desk(tide).add("Do not mock the database.")
    for number in range(2):
        desktop.session(tide, [ONLY_THE_PERSON_KNOWS], f"s{number}")
    desktop.learn()
    (item,) = desktop.inbox(tide).items()
    done = desktop.inbox(tide).merge(item.id, kept.rule.id)
    assert (done.rule.corrections, len(done.rule.evidence)) == (3, 2)
