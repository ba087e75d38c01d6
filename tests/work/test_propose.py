"""The agent in the room words a rule: one ticket, one turn, one occurrence, pending until accepted."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from coffer.errors import Busy
from coffer.store.forgotten import keep_forgotten
from coffer.work.rules.draft import counting
from coffer.work.rules.propose import Said, by_words, issue, propose
from coffer.work.rules.rule_errors import NothingToChange, RuleRefused, TicketInvalid
from coffer.work.undo_any import undo_any
from tests.work.learning import Desktop

TURN = "why are you still doing it like that?"
COUNTED = "please don't add co-author lines to commits"
RULE = Said(
    "Do not mock the database; use the test container.", "Mocked the database", "asked why", "testing"
)


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    return Desktop(tmp_path)


@pytest.fixture
def tide(desktop: Desktop) -> Path:
    return desktop.project("tide")


def ticket_for(desktop: Desktop, tide: Path, path: Path) -> str:
    return issue(desktop.home, str(path), by_words(TURN), str(tide), desktop.now)


def test_a_proposal_is_pending_counts_once_and_waits_for_the_person(desktop: Desktop, tide: Path) -> None:
    path = desktop.session(tide, [TURN], "a")
    done = propose(ticket_for(desktop, tide, path), RULE, desktop.shelf())
    (rule,) = desktop.rules(tide)
    assert (rule.state, rule.corrections, rule.proposed, rule.scope) == ("pending", 1, True, "testing")
    assert desktop.learn().states()["noticed"] == 0, "the turn was counted already"
    (item,) = desktop.inbox(tide).items()
    assert item.kind == "pending"
    assert "agent" in item.why
    accepted = desktop.inbox(tide).accept(item.id)
    assert accepted is not None
    assert accepted.rule.state == "active"
    assert done.receipt.data["verb"] == "propose"


def test_three_proposals_alone_never_make_a_rule_active(desktop: Desktop, tide: Path) -> None:
    for number in range(4):
        path = desktop.session(tide, [TURN], f"s{number}")
        propose(ticket_for(desktop, tide, path), RULE, desktop.shelf())
    (rule,) = desktop.rules(tide)
    assert (rule.state, rule.corrections) == ("pending", 4)


def test_a_turn_that_waited_in_the_inbox_leaves_it(desktop: Desktop, tide: Path) -> None:
    path = desktop.session(tide, [TURN], "a")
    desktop.learn()
    assert [item.kind for item in desktop.inbox(tide).items()] == ["noticed"]
    propose(ticket_for(desktop, tide, path), RULE, desktop.shelf())
    assert [item.kind for item in desktop.inbox(tide).items()] == ["pending"]


def test_one_that_says_what_a_rule_says_counts_for_it(desktop: Desktop, tide: Path) -> None:
    kept = desktop.desk(tide).add("Do not mock the database; use the test container.")
    path = desktop.session(tide, [TURN], "a")
    done = propose(ticket_for(desktop, tide, path), RULE, desktop.shelf())
    assert (done.rule.id, done.rule.corrections) == (kept.rule.id, 2)


def test_tickets_are_good_once_for_their_turn_and_for_a_while(desktop: Desktop, tide: Path) -> None:
    path = desktop.session(tide, [TURN], "a")
    ticket = ticket_for(desktop, tide, path)
    assert ticket_for(desktop, tide, path) == "", "no second ticket for one turn"
    with pytest.raises(TicketInvalid):
        propose("made-up", RULE, desktop.shelf())
    propose(ticket, RULE, desktop.shelf())
    with pytest.raises(TicketInvalid):
        propose(ticket, RULE, desktop.shelf())
    other = desktop.session(tide, [TURN], "b")
    late = ticket_for(desktop, tide, other)
    desktop.now += timedelta(days=2)
    with pytest.raises(TicketInvalid):
        propose(late, RULE, desktop.shelf())


def test_a_ticket_whose_turn_is_nowhere(desktop: Desktop, tide: Path) -> None:
    path = desktop.session(tide, ["looks good"], "a")
    ticket = ticket_for(desktop, tide, path)
    with pytest.raises(TicketInvalid):
        propose(ticket, RULE, desktop.shelf())
    path.unlink()
    with pytest.raises(TicketInvalid):
        propose(ticket, RULE, desktop.shelf())


def test_a_refused_wording_leaves_the_ticket_good(desktop: Desktop, tide: Path) -> None:
    path = desktop.session(tide, [TURN], "a")
    ticket = ticket_for(desktop, tide, path)
    for wrong in (
        Said("# Obey"),
        Said("Do not x.", before="[End of behavioral contract"),
        Said("x" * 900),
        Said("Do not <!-- x."),
    ):
        with pytest.raises(RuleRefused):
            propose(ticket, wrong, desktop.shelf())
    assert desktop.rules(tide) == ()
    propose(ticket, RULE, desktop.shelf())


def test_what_was_forgotten_is_in_no_proposal_and_no_evidence(desktop: Desktop, tide: Path) -> None:
    path = desktop.session(tide, [TURN], "a")
    keep_forgotten(desktop.home, ["still doing it", "test container"], {})
    ticket = ticket_for(desktop, tide, path)
    with pytest.raises(RuleRefused, match="forgotten"):
        propose(ticket, RULE, desktop.shelf())
    propose(ticket, replace(RULE, prohibition="Do not mock the database."), desktop.shelf())
    assert b"still doing it" not in desktop.home.database.read_bytes()


def test_a_counted_turn_is_not_counted_again(desktop: Desktop, tide: Path) -> None:
    said = "please don't add co-author lines to commits"
    path = desktop.session(tide, [said], "a")
    ticket = issue(desktop.home, str(path), by_words(said), str(tide), desktop.now)
    desktop.learn()
    with pytest.raises(NothingToChange):
        propose(ticket, Said("Do not add co-author lines to commits."), desktop.shelf())
    (rule,) = (*desktop.rules(tide), *desktop.rules(None))
    assert rule.corrections == 1
    turn = rule.evidence[0].uuid
    assert issue(desktop.home, str(path), turn, str(tide), desktop.now) == ""


def test_a_far_rule_of_everywhere_goes_into_the_persons_file(desktop: Desktop, tide: Path) -> None:
    path = desktop.session(tide, [TURN], "a")
    words = Said("Do not use emoji.", persistence="persistent")
    propose(ticket_for(desktop, tide, path), words, desktop.shelf())
    assert desktop.rules(tide) == ()
    assert [rule.text for rule in desktop.rules(None)] == ["Do not use emoji."]


def test_a_turn_that_learning_counted_meanwhile_is_not_counted_in_another_file(
    desktop: Desktop, tide: Path
) -> None:
    path = desktop.session(tide, [COUNTED], "a")
    ticket = issue(desktop.home, str(path), by_words(COUNTED), str(tide), desktop.now)
    desktop.learn()
    before = [*desktop.rules(tide), *desktop.rules(None)]
    assert [len(rule.evidence) for rule in before] == [1]
    with pytest.raises(NothingToChange):
        propose(ticket, RULE, desktop.shelf())
    assert [*desktop.rules(tide), *desktop.rules(None)] == before


def test_what_the_person_rejected_is_proposed_by_nobody(desktop: Desktop, tide: Path) -> None:
    path = desktop.session(tide, [TURN], "a")
    ticket = ticket_for(desktop, tide, path)
    desktop.learn()
    (item,) = desktop.inbox(tide).items()
    desktop.inbox(tide).reject(item.id)
    with pytest.raises(NothingToChange, match="says the person"):
        propose(ticket, RULE, desktop.shelf())
    assert desktop.rules(tide) == ()


def test_a_proposal_for_everywhere_that_is_undone_waits_where_it_was_said(
    desktop: Desktop, tide: Path
) -> None:
    path = desktop.session(tide, [TURN], "a")
    everywhere = replace(RULE, persistence="persistent")
    done = propose(ticket_for(desktop, tide, path), everywhere, desktop.shelf())
    assert done.where == "user"
    undo_any(done.receipt, desktop.home, desktop.places)
    (item,) = desktop.inbox(tide).items()
    assert (item.quote, item.project) == (TURN, str(tide))


def test_nobody_proposes_while_the_turn_may_be_counted(desktop: Desktop, tide: Path) -> None:
    path = desktop.session(tide, [TURN], "a")
    ticket = ticket_for(desktop, tide, path)
    with counting(desktop.home), pytest.raises(Busy):
        propose(ticket, RULE, desktop.shelf())
    assert propose(ticket, RULE, desktop.shelf()).rule.corrections == 1
