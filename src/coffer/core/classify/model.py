"""A linear model over named features: one weight per name and class, a soft maximum over their sums."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

from coffer.core.classify.weights import CLASSES, SCALE, TABLE

Weights = Mapping[str, tuple[float, ...]]


@cache
def shipped() -> Weights:
    """The weights that came with the program, unpacked once."""
    weights: dict[str, tuple[float, ...]] = {}
    for entry in TABLE.strip("\n").replace("\n", "|").split("|"):
        name, *numbers = entry.rsplit(" ", len(CLASSES))
        weights[name] = tuple(int(number) / SCALE for number in numbers)
    return weights


def probabilities(values: Mapping[str, float], weights: Weights | None = None) -> dict[str, float]:
    """How likely each class is."""
    table = shipped() if weights is None else weights
    sums = [0.0] * len(CLASSES)
    for name, value in values.items():
        row = table.get(name)
        if row is not None:
            for index, weight in enumerate(row):
                sums[index] += weight * value
    top = max(sums)
    odds = [math.exp(total - top) for total in sums]
    whole = sum(odds)
    return {name: odd / whole for name, odd in zip(CLASSES, odds, strict=True)}
