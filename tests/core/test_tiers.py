"""The tiers of the guard: hysteresis, futility and rates, for any story."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coffer.core.price import Price, price
from coffer.core.tiers import (
    BREAKS,
    LEAST,
    REARM,
    RELOADS,
    TIERS,
    futile,
    may_reload,
    step,
    tier_of,
    tiers_at,
)

USES = st.lists(st.floats(0, 120), max_size=60)
TIMES = st.lists(st.floats(0, 2000), max_size=12)
CHEAP = Price(extra=0, saved=100, requests=0, cold=0)


def test_the_shares_of_the_design() -> None:
    assert [(tier.name, tier.share) for tier in TIERS] == [
        ("watch", 25),
        ("trim", 55),
        ("deep", 80),
        ("last call", 90),
    ]
    assert tier_of(24.99) is None
    assert [tier_of(used).name for used in (25, 55, 80, 90, 130)] == [  # type: ignore[union-attr]
        "watch",
        "trim",
        "deep",
        "last call",
        "last call",
    ]


@given(USES)
def test_a_tier_fires_again_only_after_it_was_left_by_the_gap(uses: list[float]) -> None:
    fired: frozenset[str] = frozenset()
    low: dict[str, float] = {}
    for used in uses:
        done = step(used, fired)
        low = {name: min(least, used) for name, least in low.items()}
        if done.fires is not None:
            assert done.fires == tier_of(used)
            assert low.get(done.fires.name, 0.0) <= done.fires.share - REARM
        for name in done.fired - fired:
            low[name] = used
        if done.fires is not None:
            low[done.fires.name] = used
        fired = done.fired


@given(st.floats(0, 120), st.sets(st.sampled_from([tier.name for tier in TIERS])))
def test_the_same_measure_fires_once(used: float, fired: set[str]) -> None:
    first = step(used, frozenset(fired))
    assert step(used, first.fired).fires is None
    assert step(used, frozenset(fired)) == first


def test_a_swing_around_a_border_is_one_nudge() -> None:
    fired: frozenset[str] = frozenset()
    fires = []
    for used in (54, 56, 54, 56, 49, 57, 47.9, 56):
        done = step(used, fired)
        fired = done.fired
        fires.append(done.fires.name if done.fires else "")
    assert fires == ["watch", "trim", "", "", "", "", "", "trim"]


def test_other_shares() -> None:
    tiers = tiers_at({"trim": 40.0})
    assert [tier.share for tier in tiers] == [25, 40, 80, 90]
    assert step(41, frozenset(), tiers).fires == tiers[1]


@given(st.floats(1, 1e6), st.floats(0, 1e6))
def test_a_small_saving_is_futile(before: float, after: float) -> None:
    assert bool(futile(before, after, CHEAP)) == (before - after < LEAST * before)


def test_the_cache_can_eat_a_saving() -> None:
    early, late = price(100_000, 85_000, 5_000), price(100_000, 50_000, 45_000)
    assert "cache" in futile(100_000, 85_000, early)
    assert futile(100_000, 85_000, early, "last call") == ""
    assert futile(100_000, 50_000, late) == ""


@given(TIMES, TIMES, st.floats(0, 3000))
def test_rates(reloads: list[float], failures: list[float], now: float) -> None:
    allowed = may_reload(reloads, failures, now) == ""
    assert allowed == (
        sum(now - time < 600 for time in reloads) < RELOADS
        and sum(now - time < 300 for time in failures) < BREAKS
    )
    assert may_reload([*reloads, *[now] * 3], failures, now)
    assert not may_reload(reloads, failures, now + 5000)
