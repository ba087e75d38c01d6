"""What the inbox says before the person decides, and that it stays quick and exact when thousands wait."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from coffer.core.rule import Rules
from coffer.core.verdict import Verdict, decide
from coffer.store import proposals
from coffer.store.db import database
from coffer.store.evidence import keep_turns, turns
from coffer.work.rules import inbox as inbox_module
from coffer.work.rules.rule_errors import ItemNotFound, NothingToChange
from coffer.work.undo_any import undo_any
from tests.work.learning import NOW, Desktop

PLAIN = "please don't add co-author lines to commits"
ASKS = "why are you still doing it like that?"


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    return Desktop(tmp_path)


@pytest.fixture
def tide(desktop: Desktop) -> Path:
    return desktop.project("tide")


def noticed(desktop: Desktop, tide: Path, count: int) -> None:
    desktop.session(tide, [ASKS], "a")
    desktop.learn()
    with database(desktop.home) as connection:
        (one,) = turns(connection, "noticed")
        made = (
            replace(one, id=f"t{n}", time=(NOW - timedelta(minutes=n + 1)).isoformat(), text=f"{ASKS} {n}")
            for n in range(count)
        )
        keep_turns(connection, made)


def test_of_thousands_that_wait_only_the_one_that_is_decided_is_judged(
    desktop: Desktop, tide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noticed(desktop, tide, 2_000)
    judged: list[str] = []

    def seen(turn: str, before: str, tools: list[str], rules: Rules) -> Verdict:
        judged.append(turn)
        return decide(turn, before, tools, rules)

    with monkeypatch.context() as patch:
        patch.setattr(inbox_module, "decide", seen)
        box = desktop.inbox(tide)
        assert box.count() == 2_001
        first = next(box.each())
        item, receipt = desktop.inbox(tide).reject(first.id)
    assert (item.quote, receipt is not None) == (first.quote, True)
    assert judged == [first.quote] * 2, "judging all of ten thousand takes half a minute"
    assert desktop.inbox(tide).count() == 2_000


def test_what_is_rejected_can_be_undone(desktop: Desktop, tide: Path) -> None:
    noticed(desktop, tide, 1)
    first, second = desktop.inbox(tide).items()
    _, receipt = desktop.inbox(tide).reject(first.id)
    assert receipt is not None
    assert [item.id for item in desktop.inbox(tide).items()] == [second.id]
    undo_any(receipt, desktop.home, desktop.places)
    assert {item.id for item in desktop.inbox(tide).items()} == {first.id, second.id}


def test_no_name_is_no_item(desktop: Desktop, tide: Path) -> None:
    noticed(desktop, tide, 0)
    with pytest.raises(ItemNotFound):
        desktop.inbox(tide).reject("")


def test_a_pending_rule_names_what_it_resembles(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not add co-author lines to commit messages of releases.")
    desktop.session(tide, ["in this repo don't add co-author lines to the release notes"], "a")
    desktop.learn()
    items = [item for item in desktop.inbox(tide).items() if item.kind == "pending"]
    assert all(item.like == ("R001",) for item in items)


def propose(desktop: Desktop, verb: str, **arguments: object) -> str:
    with database(desktop.home) as connection:
        return proposals.add(connection, verb, "x", arguments, "Codex").id


def test_a_proposal_says_of_which_rule_it_asks_what(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not rebase.")
    says = {"says": "Do not rebase.", "project": str(tide)}
    propose(desktop, "edit", rule="R001", text="Rebase always.", **says)
    propose(desktop, "merge", rule="R001", into="R002", **says)
    propose(desktop, "promote", rule="R001", hard=True, **says)
    edit, merge, promote = desktop.inbox(tide).items()
    assert (edit.before, edit.rule) == ("Do not rebase.", "Rebase always.")
    assert edit.why == "Codex asked for it: edit R001"
    assert (merge.rule, merge.why) == ("Do not rebase.", "Codex asked for it: merge R001 R002")
    assert promote.why == "Codex asked for it: promote R001 --hard"


def test_what_was_asked_of_other_words_is_not_done(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not rebase.")
    name = propose(desktop, "remove", rule="R001", says="Do not rebase.", project=str(tide))
    desktop.desk(tide).edit("R001", "Do not push to main.")
    with pytest.raises(NothingToChange, match="something else"):
        desktop.inbox(tide).accept(name)
    assert [rule.text for rule in desktop.rules(tide)] == ["Do not push to main."]
    desktop.inbox(tide).reject(name)
    assert desktop.inbox(tide).items() == []


def test_words_for_a_proposal_that_needs_none(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not rebase.")
    name = propose(desktop, "remove", rule="R001", says="Do not rebase.", project=str(tide))
    with pytest.raises(NothingToChange, match="needs no words"):
        desktop.inbox(tide).accept(name, "Do not merge.")
    assert len(desktop.rules(tide)) == 1


def test_a_trust_that_is_asked_for_names_the_command(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not rebase.")
    name = propose(desktop, "revoke", text="x")
    with pytest.raises(NothingToChange, match="coffer trust --revoke x"):
        desktop.inbox(tide).accept(name)


def test_a_rule_that_is_confirmed_but_not_trusted_says_so(desktop: Desktop, tide: Path) -> None:
    desktop.desk(tide).add("Do not rebase.")
    path = tide / ".cozempic" / "behavioral-digest.md"
    path.write_text(path.read_text().replace("Do not rebase.", "Do not mock the database."))
    done = desktop.desk(tide).add("Do not mock the database.")
    assert any("coffer trust" in note for note in done.notes)
    trusted = desktop.desk(tide).edit("R001", "Do not mock the database at all.")
    assert not any("coffer trust" in note for note in trusted.notes)


def test_a_turn_that_was_worth_nothing_keeps_its_words_once_it_is_worth_something(
    desktop: Desktop, tide: Path
) -> None:
    noticed(desktop, tide, 0)
    with database(desktop.home) as connection:
        (one,) = turns(connection, "noticed")
        nothing = replace(one, id="n", state="nothing")
        keep_turns(connection, [nothing])
        keep_turns(connection, [replace(nothing, state="counted")])
        keep_turns(connection, [replace(nothing, state="noticed", text="late")])
        (kept,) = [turn for turn in turns(connection, "counted") if turn.id == "n"]
    assert kept.text == ASKS


def test_what_was_said_outside_of_a_project_gets_no_rule_of_one(desktop: Desktop, tide: Path) -> None:
    desktop.session(desktop.root, [ASKS], "a")
    desktop.learn()
    (item,) = desktop.inbox(tide).items()
    with pytest.raises(NothingToChange, match="outside of any project"):
        desktop.inbox(tide).accept(item.id, "Do not mock the database.", where="project")
    assert (desktop.rules(tide), desktop.rules(None)) == ((), ())
