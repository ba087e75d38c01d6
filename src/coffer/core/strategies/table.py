"""All strategies, from top to bottom in the order in which they claim; and the prescriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from coffer.core.plan import Action, Proposed
from coffer.core.scene import Scene
from coffer.core.strategies import (
    before_compaction,
    bundles,
    failed_retries,
    images,
    large_blocks,
    old_results,
    poll_loops,
    progress,
    reminders,
    repeats,
    sidecars,
    snapshots,
    superseded_reads,
    thinking,
)

DISK, TOKENS = "disk bytes only", "API tokens"


@dataclass(frozen=True, slots=True)
class Strategy:
    """saves: API tokens, or only bytes on disk. propose: actions, alone or with the name of their group."""

    name: str
    saves: str
    what: str
    propose: Callable[[Scene], Iterable[Any]]


STRATEGIES = (
    Strategy("progress", DISK, "progress of running tools", progress.propose),
    Strategy("snapshots", DISK, "file-history snapshots that are replaced", snapshots.propose),
    Strategy("before-compaction", DISK, "history that a compaction left behind", before_compaction.propose),
    Strategy("failed-retries", TOKENS, "failed calls that succeeded later", failed_retries.propose),
    Strategy("poll-loops", TOKENS, "the same question asked again", poll_loops.propose),
    Strategy("superseded-reads", TOKENS, "reads that a later state supersedes", superseded_reads.propose),
    Strategy("repeats", TOKENS, "long texts that stand again later", repeats.propose),
    Strategy("bundles", TOKENS, "injected contexts that are repeated", bundles.propose),
    Strategy("images", TOKENS, "images of earlier turns", images.propose),
    Strategy("old-results", TOKENS, "results that lie far back", old_results.propose),
    Strategy("large-blocks", TOKENS, "blocks that are too large", large_blocks.propose),
    Strategy("reminders", TOKENS, "system reminders that are repeated", reminders.propose),
    Strategy("thinking", TOKENS, "thinking of earlier turns", thinking.propose),
    Strategy("sidecars", DISK, "results kept beside messages", sidecars.propose),
)


SAVES = {strategy.name: strategy.saves for strategy in STRATEGIES}


@dataclass(frozen=True, slots=True)
class Prescription:
    """Which strategies, how many of the last turns stay untouched, and what part of the view may go."""

    name: str
    strategies: frozenset[str]
    keep_turns: int
    limit: float


_GENTLE = frozenset(
    {
        "progress",
        "snapshots",
        "before-compaction",
        "superseded-reads",
        "repeats",
        "bundles",
        "reminders",
        "sidecars",
    }
)
_STANDARD = _GENTLE | {"failed-retries", "poll-loops", "images", "old-results", "large-blocks"}

PRESCRIPTIONS = {
    "gentle": Prescription("gentle", _GENTLE, 1, 0.4),
    "standard": Prescription("standard", _STANDARD, 1, 0.6),
    "aggressive": Prescription("aggressive", _STANDARD | {"thinking"}, 1, 0.6),
}
"""Loss limits: 60 % of the view's tokens at most (DESIGN section 5)."""


def proposals(scene: Scene, names: frozenset[str]) -> Iterator[Proposed]:
    """What the named strategies propose, in the table's order."""
    for strategy in STRATEGIES:
        if strategy.name in names:
            for found in strategy.propose(scene):
                group, action = found if isinstance(found, tuple) else ("", found)
                assert isinstance(action, Action)
                yield Proposed(strategy.name, action, group)
