"""Which texts may be delivered after Coffer moved, edited or merged their rules (DESIGN section 10)."""

from __future__ import annotations

from pathlib import Path

import pytest

from coffer.core.effective import key
from coffer.store import trust
from coffer.store.db import database
from coffer.work.rules.rule_list import listing
from coffer.work.undo_any import undo_any
from tests.work.learning import Desktop

SEED = (Path(__file__).parents[1] / "digest" / "seed_example.md").read_text("utf-8")
SAID = (
    "please don't add co-author lines to commits",
    "no co-author lines in commit messages",
    "stop adding co-author lines to the commits",
)


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    return Desktop(tmp_path)


@pytest.fixture
def tide(desktop: Desktop) -> Path:
    return desktop.project("tide")


def digest_of(project: Path) -> Path:
    return project / ".cozempic" / "behavioral-digest.md"


def known(desktop: Desktop, project: Path) -> dict[str, trust.By]:
    with database(desktop.home, write=False) as connection:
        return trust.rows(connection, str(digest_of(project)))


def trusted(desktop: Desktop, project: Path | None) -> dict[str, bool]:
    one = listing(desktop.desk(project))["digests"][0]
    return {rule["id"]: rule["trusted"] for rule in one["rules"]}


def test_a_foreign_text_that_time_demotes_does_not_become_ours(desktop: Desktop, tide: Path) -> None:
    digest_of(tide).parent.mkdir()
    digest_of(tide).write_text(SEED.replace("**Importance**: 2", "**Importance**: 1"))
    desktop.session(tide, ["looks good"], "a")
    desktop.learn()
    assert "## Archived Rules" in digest_of(tide).read_text()
    assert known(desktop, tide) == {}


def test_an_edited_rule_s_former_text_is_not_delivered_when_somebody_writes_it_back(
    desktop: Desktop, tide: Path
) -> None:
    desktop.desk(tide).add("Do not rebase.")
    edited = desktop.desk(tide).edit("R001", "Do not merge.")
    assert key("Do not rebase.") not in known(desktop, tide)
    undo_any(edited.receipt, desktop.home, desktop.places)
    assert trusted(desktop, tide) == {"R001": True}
    assert key("Do not merge.") not in known(desktop, tide)


def test_of_two_rules_with_one_text_the_other_stays_delivered(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not rebase.")
    path = digest_of(tide)
    head, _, rest = path.read_text().partition("### [R001]")
    block, _, tail = rest.partition("\n\n")
    path.write_text(f"{head}### [R001]{block}\n\n### [R002]{block}\n\n{tail}")
    desktop.desk(tide).remove("R002")
    assert trusted(desktop, tide) == {"R001": True}


def test_a_promotion_that_was_undone_can_happen_again(desktop: Desktop) -> None:
    for number, said in enumerate(SAID):
        desktop.session(desktop.root / "x", [said], f"s{number}", days_ago=9 - number)
    desktop.learn()
    assert desktop.rules(None)[0].state == "pending"
    accepted = desktop.desk(None).promote("P001")
    undo_any(accepted.receipt, desktop.home, desktop.places)
    assert trusted(desktop, None) == {"P001": False}


def test_what_coffer_promoted_and_the_person_undid_is_delivered_once_it_is_promoted_again(
    desktop: Desktop, tide: Path
) -> None:
    for number, said in enumerate(SAID):
        desktop.session(tide, [said], f"s{number}", days_ago=9 - number)
        learned = desktop.learn()
    (receipt,) = learned.receipts
    place = tide if receipt.data["project"] else None
    undo_any(receipt, desktop.home, desktop.places, desktop.now)
    assert trusted(desktop, place) == {"P001": False}
    desktop.session(tide, ["don't add co-author lines to commits please"], "s4", days_ago=1)
    desktop.learn()
    assert trusted(desktop, place) == {"R001": True}
