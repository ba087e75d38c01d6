"""The lifecycle of a rule: every row of the table, the gate, the cap, and that time is an argument."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coffer.core.events import (
    Accepted,
    Change,
    Corrected,
    DayPassed,
    Demoted,
    Edited,
    Event,
    Merged,
    Ordered,
    Removed,
    Settings,
    Superseded,
    Upvoted,
    Withdrawn,
)
from coffer.core.lifecycle import LIFECYCLE, step, way_out
from coffer.core.rule import (
    Certainty,
    Evidence,
    Label,
    Numbers,
    Priority,
    Rule,
    Rules,
    State,
    Weights,
    Wording,
    confidence,
    is_hard,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TODAY = NOW.date()
SETTINGS = Settings()
UV = Wording("Use uv", "Do not use pip; use uv.", scope="dependencies")


def turn(
    name: str,
    days: float = 0,
    label: Label = "EXPLICIT_CORRECTION",
    certainty: Certainty = "certain",
    project: str = "p",
) -> Evidence:
    return Evidence(name, NOW - timedelta(days=days), f"s-{name}", project, label=label, certainty=certainty)


def rule(
    name: str = "P001",
    state: State | None = None,
    priority: Priority = "soft",
    *,
    importance: int = 1,
    corrections: int = 1,
    days: int = 0,
    evidence: tuple[Evidence, ...] = (),
    source: str = "User correction",
) -> Rule:
    return Rule(
        name,
        "Title",
        f"Do not do {name}.",
        priority,
        state or ("active" if name.startswith("R") else "pending"),
        source=source,
        first_seen=TODAY - timedelta(days=days),
        last_seen=TODAY - timedelta(days=days),
        importance=importance,
        corrections=corrections,
        evidence=evidence,
    )


def rules(*all_of_them: Rule) -> Rules:
    numbers = Numbers()
    for each in all_of_them:
        numbers |= Numbers.of(each.id)
    return Rules(all_of_them, numbers)


def run(start: Rules, *events: Event, now: datetime = NOW) -> tuple[Rules, list[Change]]:
    changes: list[Change] = []
    for event in events:
        outcome = step(start, event, now, SETTINGS)
        start = outcome.rules
        changes += outcome.changes
    return start, changes


def one(start: Rules, *events: Event, now: datetime = NOW) -> tuple[Rule, list[str]]:
    after, changes = run(start, *events, now=now)
    (only,) = after.all
    return only, [change.kind for change in changes]


def settled(changes: list[Change]) -> list[tuple[str, str]]:
    return [(change.kind, change.rule) for change in changes]


# --- learning


def test_three_corrections_in_other_words_promote_one_rule() -> None:
    learned, kinds = one(
        Rules(),
        Corrected(turn("a", 20), wording=UV),
        Corrected(turn("b", 10), rule="P001"),
        Corrected(turn("c", 0), rule="P001"),
    )
    assert kinds == ["learned", "reinforced", "promoted"]
    assert (learned.id, learned.state, learned.priority) == ("R001", "active", "soft")
    assert (learned.corrections, learned.importance, len(learned.evidence)) == (3, 3, 3)
    assert (learned.first_seen, learned.last_seen) == (TODAY - timedelta(days=20), TODAY)


def test_a_turn_counts_once() -> None:
    start, _ = run(Rules(), Corrected(turn("a"), wording=UV))
    again = step(start, Corrected(turn("a"), rule="P001"), NOW, SETTINGS)
    anew = step(start, Corrected(turn("a"), wording=UV), NOW, SETTINGS)
    assert not again.changes
    assert not anew.changes
    assert again.rules == anew.rules == start


def test_the_gate_refuses_guesses_however_many() -> None:
    guesses = [Corrected(turn(str(i), certainty="possible"), rule="P001") for i in range(30)]
    kept, kinds = one(rules(rule(corrections=0, importance=0)), *guesses)
    assert kept.corrections == 30
    assert kept.state == "pending"
    assert set(kinds) == {"reinforced"}


def test_three_old_corrections_wait_for_the_person() -> None:
    kept, _ = one(
        Rules(),
        Corrected(turn("a", 300), wording=UV),
        Corrected(turn("b", 200), rule="P001"),
        Corrected(turn("c", 100), rule="P001"),
    )
    assert kept.state == "pending"
    assert one(rules(kept), Accepted("P001"))[0].state == "active"


def test_an_agents_words_wait_for_the_person() -> None:
    proposed, _ = one(
        Rules(),
        Corrected(turn("a"), wording=UV, proposed=True),
        *[Corrected(turn(name), rule="P001") for name in "bcdef"],
    )
    assert (proposed.state, proposed.proposed, proposed.source) == ("pending", True, "Agent proposal")
    accepted, kinds = one(rules(proposed), Accepted("P001"))
    assert (accepted.state, accepted.ordered, kinds) == ("active", True, ["accepted"])
    edited, _ = one(rules(proposed), Edited("P001", UV))
    assert not edited.proposed


@pytest.mark.parametrize(
    "words",
    [
        "Never ever push",
        "under no circumstances",
        "Unter keinen Umständen!",
        "never, ever",
        "千万不要推送",
        "ни в коем случае",
    ],
)
def test_words_that_make_a_rule_hard(words: str) -> None:
    assert is_hard(words)


@pytest.mark.parametrize("words", ["never push", "circumstances", "you never asked", "ever"])
def test_words_that_do_not(words: str) -> None:
    assert not is_hard(words)


def test_hard_by_words_stays_pending_until_it_is_proven() -> None:
    learned, kinds = one(Rules(), Corrected(turn("a"), wording=UV, hard=True))
    assert (learned.priority, learned.state, kinds) == ("hard", "pending", ["learned"])


def test_broken_after_delivery_makes_it_hard() -> None:
    active = rules(rule("R001", importance=3, corrections=3))
    hardened, kinds = one(active, Corrected(turn("a"), rule="R001", delivered=True))
    assert (hardened.priority, hardened.importance, kinds) == ("hard", 4, ["hardened"])
    assert one(active, Corrected(turn("a"), rule="R001"))[0].priority == "soft"


def test_a_guess_neither_hardens_nor_counts_for_an_active_rule() -> None:
    active = rules(rule("R001", importance=3, corrections=3))
    kept, kinds = one(active, Corrected(turn("a", certainty="possible"), rule="R001", delivered=True))
    assert kept == active.all[0]
    assert len(kept.evidence) == 1
    assert kinds == []


def test_an_order_is_active_at_once_and_not_forgotten() -> None:
    ordered, kinds = one(Rules(), Ordered(wording=UV, hard=True))
    assert (ordered.id, ordered.state, ordered.priority, kinds) == ("R001", "active", "hard", ["ordered"])
    assert (ordered.importance, ordered.ordered) == (2, True)
    assert one(rules(ordered), DayPassed(), now=NOW + timedelta(days=400))[0].state == "active"


# --- what counts up and down


def test_importance_goes_up_and_down() -> None:
    active = rules(rule("R001", importance=3, corrections=3))
    changed, kinds = one(active, Upvoted("R001"), Upvoted("R001", turn("u")), Withdrawn("R001", turn("w")))
    assert (changed.importance, changed.upvotes, changed.downvotes) == (4, 2, 1)
    assert kinds == ["upvoted", "upvoted", "downvoted"]
    assert not step(rules(changed), Withdrawn("R001", turn("w")), NOW, SETTINGS).changes


@pytest.mark.parametrize("name", ["R001", "P001"])
def test_no_importance_left_deletes(name: str) -> None:
    after, changes = run(rules(rule(name)), Withdrawn(name))
    assert after.all == ()
    assert settled(changes) == [("deleted", name)]
    assert changes[0].before == rule(name)
    assert changes[0].after is None


def test_a_hand_edit_to_zero_is_deleted_with_the_day() -> None:
    after, changes = run(rules(rule("R001", importance=0)), DayPassed())
    assert after.all == ()
    assert changes[0].why == "importance 0"


def test_numbers_are_never_used_again() -> None:
    after, _ = run(rules(rule("R007")), Removed("R007"), Ordered(wording=UV))
    assert [each.id for each in after.all] == ["R008"]
    after, _ = run(rules(rule("P003")), Removed("P003"), Corrected(turn("a"), wording=UV))
    assert [each.id for each in after.all] == ["P004"]


# --- time


@pytest.mark.parametrize(
    ("days", "importance", "state"),
    [(29, 1, "active"), (30, 1, "pending"), (30, 2, "active"), (400, 2, "active")],
)
def test_thirty_quiet_days(days: int, importance: int, state: State) -> None:
    kept, _ = one(rules(rule("R001", importance=importance, days=days)), DayPassed())
    assert (kept.id, kept.state) == ("R001", state)


@pytest.mark.parametrize(("days", "state"), [(89, "pending"), (90, "archived")])
def test_ninety_quiet_days_in_pending(days: int, state: State) -> None:
    assert one(rules(rule(days=days, importance=5)), DayPassed())[0].state == state


def test_an_active_rule_below_three_occurrences_stays() -> None:
    kept, kinds = one(rules(rule("R002", importance=2, corrections=2, days=200)), DayPassed())
    assert (kept.state, kinds) == ("active", [])


def test_an_archived_rule_wakes_and_may_be_promoted_in_one_step() -> None:
    told = (turn("a", 3), turn("b", 2))
    archived = rules(rule("P001", "archived", corrections=2, importance=2, days=100, evidence=told))
    woken, kinds = one(archived, Corrected(turn("c"), rule="P001"))
    assert (woken.id, woken.state, kinds) == ("R001", "active", ["promoted"])


def test_more_than_fifty_pending_are_archived() -> None:
    pending = [rule(f"P{number:03}", days=number % 7, importance=2) for number in range(1, 51)]
    pending[20] = replace(pending[20], importance=1)
    after, changes = run(rules(*pending), Corrected(turn("a"), wording=UV))
    assert settled(changes) == [("learned", "P051"), ("archived", "P021")]
    assert sum(each.state == "pending" for each in after.all) == 50


# --- the cap


def house(*special: Rule, size: int = 20) -> list[Rule]:
    plain = [
        rule(f"R{number:03}", importance=5, corrections=5) for number in range(1, size + 1 - len(special))
    ]
    return [*plain, *special]


@pytest.mark.parametrize(
    ("special", "out"),
    [
        ([rule("R101", importance=4)], "R101"),
        ([rule("R101", priority="hard", importance=1), rule("R102", importance=3)], "R102"),
        ([rule("R101", importance=1, source="User order"), rule("R102", importance=4)], "R102"),
        ([rule("R101", importance=5, days=3), rule("R102", importance=5, days=4)], "R102"),
        ([rule("R101", importance=3, days=1), rule("R102", importance=4, days=9)], "R101"),
    ],
)
def test_the_twenty_first_pushes_out_the_right_one(special: list[Rule], out: str) -> None:
    after, changes = run(rules(*house(*special)), Ordered(wording=UV))
    assert settled(changes) == [("ordered", "R103" if len(special) == 2 else "R102"), ("pushed out", out)]
    assert len(after.active()) == 20
    left = after.get(out)
    assert left is not None
    assert left.state == "pending"


def test_one_that_was_pushed_out_comes_back_when_it_is_corrected_again() -> None:
    told = (turn("a"), turn("b"), turn("c"))
    out = rule("R101", "pending", importance=3, corrections=3, evidence=told)
    after, changes = run(rules(*house(), out), DayPassed(), Corrected(turn("d"), rule="R101"))
    assert settled(changes) == [("promoted", "R101"), ("pushed out", "R001")]
    assert len(after.active()) == 20


def test_a_house_full_of_hard_rules_refuses() -> None:
    hard = [rule(f"R{number:03}", priority="hard") for number in range(1, 21)]
    after, changes = run(rules(*hard), Ordered(wording=UV, hard=True))
    assert settled(changes) == [("refused", "P001")]
    assert "all 20 active rules are hard" in changes[0].why
    waiting = after.get("P001")
    assert waiting is not None
    assert (waiting.state, waiting.ordered, waiting.priority) == ("pending", True, "hard")
    after, changes = run(after, Demoted("R001"), Accepted("P001"))
    assert settled(changes) == [("demoted", "R001"), ("accepted", "R021")]


def test_a_file_with_more_than_twenty_is_brought_down_with_the_day() -> None:
    after, changes = run(rules(*house(size=23)), DayPassed())
    assert len(after.active()) == 20
    assert [change.rule for change in changes] == ["R001", "R002", "R003"]


def test_the_way_out() -> None:
    crowd = [
        rule("R001", priority="hard", importance=1),
        rule("R002", importance=1, source="User order"),
        rule("R003", importance=2),
        rule("R004", importance=1, days=1),
        rule("R005", importance=1, days=2),
    ]
    assert [each.id for each in way_out(crowd)] == ["R005", "R004", "R003", "R002", "R001"]


# --- two rules


def test_a_contradiction_supersedes_with_its_date() -> None:
    tabs = rule("R001", importance=5, corrections=5, days=10)
    spaces = rule("P001", evidence=(turn("a"),))
    after, changes = run(rules(tabs, spaces), Superseded("R001", by="P001"))
    old = after.get("R001")
    assert old is not None
    assert (old.state, old.superseded) == ("archived", "P001 on 2026-11-30")
    assert settled(changes) == [("superseded", "R001")]
    woken, _ = run(after, Corrected(turn("z"), rule="R001"))
    again = woken.get("R001")
    assert again is not None
    assert (again.state, again.superseded) == ("pending", "")


def test_neither_a_guess_nor_an_older_rule_supersedes() -> None:
    tabs = rule("R001", importance=5, days=10)
    guess = rule("P001", evidence=(turn("a", certainty="possible"),))
    older = rule("P002", days=20, evidence=(turn("b", 20),))
    start = rules(tabs, guess, older)
    for by in ("P001", "P002", "P009", "R001"):
        assert not step(start, Superseded("R001", by=by), NOW, SETTINGS).changes


def test_merging_sums_up_and_counts_a_turn_once() -> None:
    first = rule("P001", corrections=2, importance=2, days=9, evidence=(turn("a", 9), turn("b", 9)))
    second = rule("P002", corrections=2, importance=3, days=1, evidence=(turn("b", 9), turn("c", 1)))
    after, changes = run(rules(first, second), Merged("P002", into="P001"))
    (merged,) = after.all
    assert settled(changes) == [("merged", "P002"), ("promoted", "R001")]
    assert (merged.corrections, merged.importance, len(merged.evidence)) == (3, 4, 3)
    assert (merged.first_seen, merged.last_seen) == (first.first_seen, second.last_seen)


def test_what_was_active_and_hard_stays_so_in_the_merged_rule() -> None:
    after, _ = run(rules(rule("P001"), rule("R001", priority="hard")), Merged("R001", into="P001"))
    (merged,) = after.all
    assert (merged.id, merged.state, merged.priority) == ("R002", "active", "hard")


def test_a_persons_rule_never_vanishes_in_an_agents_words() -> None:
    proposal = rule("P001", source="Agent proposal")
    start = rules(proposal, rule("R001"))
    assert not step(start, Merged("R001", into="P001"), NOW, SETTINGS).changes
    assert not step(start, Merged("R001", into="R001"), NOW, SETTINGS).changes
    assert step(start, Merged("P001", into="R001"), NOW, SETTINGS).changes


# --- confidence


@pytest.mark.parametrize(
    ("evidence", "passes"),
    [
        ([turn(str(i), 80, "IMPLICIT_CORRECTION", "possible") for i in range(3)], False),
        ([turn(str(i), 30 * i / 3) for i in range(3)], True),
        ([turn(str(i), 30) for i in range(3)], True),
        ([turn("a")], False),
        ([turn("a")] * 3, False),
        ([turn(str(i), label="NONE") for i in range(9)], False),
        ([turn(str(i), label="ONE_OFF") for i in range(9)], False),
        ([turn(str(i), 365) for i in range(3)], False),
        ([turn(str(i), certainty="possible") for i in range(99)], False),
        ([], False),
    ],
)
def test_the_gate(evidence: list[Evidence], *, passes: bool) -> None:
    assert (confidence(evidence, NOW, Weights()) >= SETTINGS.threshold) is passes


TURNS = st.lists(
    st.builds(
        Evidence,
        st.sampled_from("abcdefgh"),
        st.integers(-5, 400).map(lambda days: NOW - timedelta(days=days)),
        st.just("s"),
        reliability=st.sampled_from(["ordered", "typed", "rejected", "interrupted", "proposed"]),
        label=st.sampled_from(
            ["EXPLICIT_CORRECTION", "PREFERENCE", "IMPLICIT_CORRECTION", "ONE_OFF", "NONE"]
        ),
        certainty=st.sampled_from(["certain", "possible"]),
        weight=st.floats(0, 1),
    ),
    max_size=8,
    unique_by=lambda piece: piece.uuid,
)


@given(TURNS, st.randoms(use_true_random=False))
def test_confidence_is_a_share_and_knows_no_order(turns: list[Evidence], shuffle: random.Random) -> None:
    sure = confidence(turns, NOW, Weights())
    mixed = [*turns, *turns]
    shuffle.shuffle(mixed)
    assert 0 <= sure < 1
    assert confidence(mixed, NOW, Weights()) == sure
    assert confidence(turns, NOW + timedelta(days=30), Weights()) <= sure


# --- laws

NAMES = st.sampled_from(["R001", "R002", "P001", "P002", "P003", "R009"])
WORDS = st.builds(Wording, st.just("T"), st.sampled_from(["Do not a.", "Do not b."]))
EVENTS = st.one_of(
    st.builds(Corrected, TURNS.filter(bool).map(lambda turns: turns[0]), NAMES, st.none(), st.booleans()),
    st.builds(Corrected, TURNS.filter(bool).map(lambda turns: turns[0]), st.just(""), WORDS, st.booleans()),
    st.builds(Upvoted, NAMES),
    st.builds(Withdrawn, NAMES),
    st.builds(Ordered, st.just(""), WORDS, st.booleans()),
    st.builds(Accepted, NAMES),
    st.builds(Superseded, NAMES, NAMES),
    st.builds(Merged, NAMES, NAMES),
    st.builds(Edited, NAMES, WORDS),
    st.builds(Demoted, NAMES),
    st.builds(Removed, NAMES),
    st.just(DayPassed()),
)
SMALL = Settings(cap=2, pending_cap=3)


@given(st.lists(st.tuples(EVENTS, st.integers(0, 120)), max_size=25))
def test_whatever_happens(story: list[tuple[Event, int]]) -> None:
    now, held = NOW, Rules()
    for event, days in story:
        now += timedelta(days=days)
        outcome = step(held, event, now, SMALL)
        assert outcome == step(held, event, now, SMALL)
        after = outcome.rules
        assert bool(outcome.changes) == (after != held)
        assert len({each.id for each in after.all}) == len(after.all)
        assert after.numbers == after.numbers | held.numbers
        assert len(after.active()) <= SMALL.cap
        assert sum(each.state == "pending" for each in after.all) <= SMALL.pending_cap
        assert all(each.importance > 0 for each in after.active())
        new = {each.id for each in after.all} - {each.id for each in held.all}
        assert all(Numbers.of(name) | held.numbers != held.numbers for name in new)
        held = after
    rested = step(held, DayPassed(), now, SMALL).rules
    assert not step(rested, DayPassed(), now, SMALL).changes


def test_every_row_says_why_and_may_fire() -> None:
    assert all(row.why and row.kind and (row.to or row.hard) for row in LIFECYCLE)
    assert len({(row.event, row.states, row.when, row.kind) for row in LIFECYCLE}) == len(LIFECYCLE)


def test_days_are_utc_days() -> None:
    late = datetime.fromisoformat("2026-11-30T23:30:00-05:00")
    ordered, _ = one(Rules(), Ordered(wording=UV), now=late)
    assert ordered.first_seen == date(2026, 12, 1)
