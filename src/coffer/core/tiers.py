"""When the guard acts: the tiers of a window, what a prune must save, and how often a session may be reloaded.

The theory of the table:

* A tier is entered where the used part of the window reaches its share. It *fires* once; it fires again only after
  the use fell REARM points below that share. Without that gap a context that swings around a border by one answer
  would nudge at every prompt.
* A higher tier speaks for the lower ones: entering `deep` from nothing fires `deep` alone, and the lower ones count
  as fired, since a smaller prune after a larger one finds nothing.
* A prune is *futile* where it saves under LEAST of the tokens, or where the requests that are to be expected do not
  earn what it costs at the prompt cache. At the last call the cache's price is no reason: the compaction that comes
  otherwise writes the whole cache anew as well.
* A reload is counted in the session that it belongs to. More than RELOADS within RELOAD_SECONDS is a loop of ours and
  not a need; BREAKS failures within BREAK_SECONDS open the circuit until the oldest of them is that old.

Nothing here looks at a clock: `now` is given, so the same story has the same end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from coffer.core.price import Price

GUARDED = "claude"
"""The agent whose sessions the guard moves."""

TierName = Literal["watch", "trim", "deep", "last call"]
REARM = 7.0
"""Points of the window below a tier's share at which it may fire again."""
LEAST = 0.10
"""Part of the tokens that a prune has to save."""
REQUESTS = 20
"""Requests within which a prune has to earn what it costs at the cache: about one turn with tools."""
RELOADS, RELOAD_SECONDS = 3, 600.0
BREAKS, BREAK_SECONDS = 3, 300.0


@dataclass(frozen=True, slots=True)
class Tier:
    """share: percent of the window at which it begins. prescription: "" where nothing would be pruned."""

    name: TierName
    share: float
    prescription: str
    what: str


TIERS = (
    Tier("watch", 25.0, "", "the plan is shown, nothing is written"),
    Tier("trim", 55.0, "standard", "a standard prune is worth it"),
    Tier("deep", 80.0, "aggressive", "an aggressive prune is worth it"),
    Tier("last call", 90.0, "aggressive", "prune now: the client compacts soon"),
)
"""From the lowest to the highest, with the shares that hold where nothing else is set."""


def tiers_at(shares: Mapping[str, float]) -> tuple[Tier, ...]:
    """The table with other shares, by name; one that is not named keeps its own."""
    return tuple(
        Tier(each.name, shares.get(each.name, each.share), each.prescription, each.what) for each in TIERS
    )


def tier_of(used: float, tiers: Iterable[Tier] = TIERS) -> Tier | None:
    """The highest tier that a use has reached, in percent of the window; None below all of them."""
    return max((each for each in tiers if used >= each.share), key=lambda each: each.share, default=None)


@dataclass(frozen=True, slots=True)
class Step:
    """fires: the tier that fires at this measure, None for none. fired: those that have, for the next measure."""

    fires: Tier | None
    fired: frozenset[str]


def step(used: float, fired: frozenset[str], tiers: tuple[Tier, ...] = TIERS) -> Step:
    """One measure, after others. fired: names of the tiers that fired and were not armed again."""
    kept = frozenset(each.name for each in tiers if each.name in fired and used > each.share - REARM)
    reached = tier_of(used, tiers)
    if reached is None or reached.name in kept:
        return Step(None, kept)
    return Step(reached, kept | {each.name for each in tiers if each.share <= reached.share})


def futile(before: float, after: float, cost: Price, tier: TierName = "trim") -> str:
    """Why a prune is not worth it, as a phrase; "" where it is."""
    saved = before - after
    if before <= 0 or saved < LEAST * before:
        share = max(0.0, saved) / before if before > 0 else 0.0
        return f"it would save {share:.0%} of the tokens, less than {LEAST:.0%}"
    if tier != "last call" and (cost.saved <= 0 or cost.requests > REQUESTS):
        return f"the prompt cache costs more than {REQUESTS} requests would earn"
    return ""


def may_reload(reloads: Iterable[float], failures: Iterable[float], now: float) -> str:
    """Why a session may not be reloaded at `now`, as a phrase; "" where it may. Times: Unix seconds.

    A time after `now` counts too: a clock that was set back must not let a loop go on.
    """
    if sum(now - time < BREAK_SECONDS for time in failures) >= BREAKS:
        return f"{BREAKS} failures within {BREAK_SECONDS / 60:.0f} minutes"
    if sum(now - time < RELOAD_SECONDS for time in reloads) >= RELOADS:
        return f"{RELOADS} reloads within {RELOAD_SECONDS / 60:.0f} minutes"
    return ""
