"""A linear model over named features: one weight per name and class, a soft maximum over their sums."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

from coffer.core.classify.weights import ASKING, CLASSES, SCALE, TABLE

Weights = Mapping[str, tuple[float, ...]]


@cache
def shipped(table: str, columns: int) -> Weights:
    """The weights that came with the program, unpacked once."""
    weights: dict[str, tuple[float, ...]] = {}
    for entry in table.strip("\n").replace("\n", "|").split("|"):
        name, *numbers = entry.rsplit(" ", columns)
        weights[name] = tuple(int(number) / SCALE for number in numbers)
    return weights


def probabilities(values: Mapping[str, float], weights: Weights | None = None) -> dict[str, float]:
    """How likely each class is."""
    table = shipped(TABLE, len(CLASSES)) if weights is None else weights
    return dict(zip(CLASSES, _soft(values, table, len(CLASSES)), strict=True))


def asking(values: Mapping[str, float], weights: Weights | None = None) -> float:
    """How likely it is that the turn is worth asking about: by cues and shape alone, since words do not carry over."""
    table = shipped(ASKING, 2) if weights is None else weights
    return _soft(values, table, 2)[0]


def _soft(values: Mapping[str, float], table: Weights, columns: int) -> list[float]:
    sums = [0.0] * columns
    for name, value in values.items():
        row = table.get(name)
        if row is not None:
            for index, weight in enumerate(row):
                sums[index] += weight * value
    top = max(sums)
    odds = [math.exp(total - top) for total in sums]
    whole = sum(odds)
    return [odd / whole for odd in odds]
