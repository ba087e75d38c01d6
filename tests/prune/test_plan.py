"""Settling: who claims what, what goes together, what is never dropped, and how much may go."""

from __future__ import annotations

from pathlib import Path

import pytest

from coffer.core.plan import Action, Cut, Drop, Plan, Proposed, Strip, Stub, Trim, Worth, settle
from coffer.core.price import price
from coffer.core.record import Record
from tests.prune.generate import begun, rich, words
from tests.prune.world import look, proposed, put

FREE: frozenset[str] = frozenset()
MUCH = 1e9


def _record(start: int, uuid: str = "") -> Record:
    return Record(start, start + 10, "user", uuid=uuid or f"u{start}")


def _drop(start: int, tokens: float = 1.0, worth: Worth = Worth.STALE) -> Drop:
    return Drop(_record(start), worth, tokens=tokens)


def _stub(start: int, index: int = 0, tokens: float = 1.0, worth: Worth = Worth.STALE) -> Stub:
    return Stub(_record(start), index, worth, "n", tokens=tokens)


def _settled(
    *proposals: tuple[str, Action, str], limit: float = MUCH, nameable: frozenset[str] = FREE
) -> Plan:
    return settle((Proposed(*item) for item in proposals), nameable, limit)


def _who(plan: Plan) -> list[tuple[str, int]]:
    return [(item.strategy, item.action.record.start) for item in plan.actions]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (_drop(0), _drop(0)),
        (_drop(0), _stub(0)),
        (_drop(0), Trim(_record(0))),
        (_drop(0), Strip(_record(0), 3)),
        (_stub(0), _drop(0)),
        (Trim(_record(0)), _drop(0)),
        (_stub(0, 1), Cut(_record(0), 1, Worth.STALE)),
        (Strip(_record(0), 0), _stub(0)),
        (Trim(_record(0)), Trim(_record(0))),
    ],
    ids=lambda action: type(action).__name__,
)
def test_the_first_claim_wins(first: Action, second: Action) -> None:
    assert _who(_settled(("one", first, ""), ("two", second, ""))) == [("one", 0)]


@pytest.mark.parametrize(
    ("first", "second"),
    [(_stub(0, 0), _stub(0, 1)), (_stub(0), Trim(_record(0))), (_drop(0), _drop(20))],
    ids=["two blocks", "block and sidecar", "two records"],
)
def test_different_places_go_together(first: Action, second: Action) -> None:
    assert len(_settled(("one", first, ""), ("two", second, "")).actions) == 2


def test_a_group_goes_whole_or_not_at_all() -> None:
    taken = _settled(("one", _stub(20), ""), ("two", _drop(0), "g"), ("two", _drop(20), "g"))
    assert _who(taken) == [("one", 20)]


def test_a_group_may_come_in_pieces() -> None:
    plan = _settled(("a", _drop(0), "g"), ("b", _stub(40), ""), ("a", _drop(20), "g"))
    assert sorted(_who(plan)) == [("a", 0), ("a", 20), ("b", 40)]


def test_what_is_nameable_is_never_dropped_and_its_group_stays() -> None:
    found = _settled(("a", _drop(0), "g"), ("a", _drop(20), "g"), nameable=frozenset({"u20"}))
    assert found.is_empty


def test_what_is_nameable_may_become_a_stub() -> None:
    assert len(_settled(("a", _stub(0), ""), nameable=frozenset({"u0"})).actions) == 1


def test_a_refused_group_leaves_its_places_to_others() -> None:
    found = _settled(
        ("a", _drop(0), "g"), ("a", _drop(20), "g"), ("b", _stub(20), ""), nameable=frozenset({"u0"})
    )
    assert _who(found) == [("b", 20)]


def test_below_the_limit_all_goes_in_the_order_of_the_strategies() -> None:
    found = _settled(*((name, _stub(start), "") for name, start in (("a", 60), ("b", 0), ("c", 30))))
    assert _who(found) == [("a", 60), ("b", 0), ("c", 30)]


def test_above_the_limit_least_worth_goes_first() -> None:
    stale, superseded, repeated = (
        _stub(0, tokens=5, worth=Worth.STALE),
        _stub(20, tokens=5, worth=Worth.SUPERSEDED),
        _stub(40, tokens=5, worth=Worth.REPEATED),
    )
    found = _settled(("a", stale, ""), ("b", superseded, ""), ("c", repeated, ""), limit=10)
    assert _who(found) == [("b", 20), ("c", 40)]


def test_above_the_limit_a_group_counts_as_one() -> None:
    found = _settled(
        ("a", _drop(0, 6), "g"), ("a", _drop(20, 6), "g"), ("b", _stub(40, tokens=4), ""), limit=11
    )
    assert _who(found) == [("b", 40)]


def test_what_costs_no_tokens_goes_whatever_the_limit_is() -> None:
    found = _settled(("a", Trim(_record(0)), ""), ("b", _stub(20, tokens=5), ""), limit=1)
    assert _who(found) == [("a", 0)]


def test_of_one_worth_the_largest_goes_first() -> None:
    found = _settled(("a", _stub(0, tokens=2), ""), ("b", _stub(20, tokens=9), ""), limit=10)
    assert _who(found) == [("b", 20)]


def test_a_plan_without_a_strategy_says_why() -> None:
    plan = _settled(("a", _stub(0), ""), ("b", _stub(20), "")).without("a", "because")
    assert plan.strategies() == ["b"]
    assert plan.left_out == {"a": "because"}


@pytest.mark.parametrize("prescription", ["gentle", "standard", "aggressive"])
def test_a_plan_stays_below_its_limit(tmp_path: Path, prescription: str) -> None:
    talk = begun()
    for number in range(40):
        talk.read("/w/a.py", 5_000, f"r{number}")
    talk.end()
    with proposed(put(tmp_path, talk.data), prescription) as proposal:
        whole = sum(tokens for _, tokens in proposal.report.composition.parts)
        assert 0 < proposal.plan.tokens() <= proposal.prescription.limit * whole


def test_a_plan_never_reaches_the_protected_tail(tmp_path: Path) -> None:
    talk = rich()
    talk.read("/w/a.py", 4_000, "tail1", side={"x": words(900)})
    talk.read("/w/a.py", 4_000, "tail2")
    talk.say("end")
    with proposed(put(tmp_path, talk.data), "aggressive") as proposal:
        last = max(entry.turn for entry in proposal.scene.entries)
        tail = {
            entry.item.record.start
            for entry in proposal.scene.entries
            if entry.item.record and entry.turn == last
        }
        assert tail
        assert not tail & {item.action.record.start for item in proposal.plan.actions}


def test_nameable_are_prompts_ends_of_turns_and_what_the_client_wrote_down() -> None:
    talk = begun()
    talk.bash(name="one")
    talk.say("end of turn", "end1")
    talk.ask("second", "second")
    talk.bash(name="two")
    talk.made.snapshot("onec")
    talk.made.last_prompt("twoc")
    talk.end()
    names = {uuid.split("-")[0] for uuid in look(talk).nameable}
    assert names == {"first", "end1", "second", "twor", "onec", "twoc", "last", "lasta"}


def test_the_price_of_a_prune() -> None:
    cost = price(100_000, 60_000, 20_000)
    assert cost.saved == pytest.approx(4_000)
    assert cost.extra == pytest.approx(40_000 * 1.25 - 80_000 * 0.1)
    assert cost.requests == 11
    assert cost.cold == pytest.approx(50_000)


def test_the_price_of_nothing_is_nothing() -> None:
    assert price(100, 100, 100).requests == 0
    assert price(100, 100, 50).saved == 0
