"""Trains the classifier of turns and writes its weights: `python -m tools.train.train_classifier [MORE.jsonl …]`.

Always learns from `turns_extra.jsonl` beside this script (turns written for this project); files that are
named are learned from as well, and their hashes go into the header of `weights.py`. Plain Python, no random
choice that is not seeded: the same data give the same file.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coffer.core.classify.features import features
from coffer.core.classify.spoken import hear

CLASSES = ("EXPLICIT_CORRECTION", "IMPLICIT_CORRECTION", "PREFERENCE", "ONE_OFF", "CLARIFICATION", "NONE")
EXTRA = Path(__file__).with_name("turns_extra.jsonl")
WEIGHTS = Path(__file__).parents[2] / "src/coffer/core/classify/weights.py"

WORTH = CLASSES[:3]
COARSE = ("c:", "m:", "s:", "bias")
"""What the second model sees: cues and shape. Words of invented turns do not carry over to real ones."""

ROUNDS = 40
RATE = 0.25
DECAY = 0.006
COARSE_DECAY = 0.02
RAREST = 2
KEPT = 1_250
SCALE = 50

Weights = dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class Example:
    """A labelled turn."""

    id: str
    values: Mapping[str, float]
    label: str
    item: Mapping[str, Any]


def load(path: Path) -> list[Example]:
    """The turns of a file in which a person spoke at all."""
    examples = []
    for line in path.read_text("utf-8").splitlines():
        item = json.loads(line)
        heard = hear(item["turn"])
        values = features(heard, item["before"], item.get("tools", ())) if heard.text else {}
        examples.append(Example(item["id"], values, item["label"], item))
    return examples


def fit_classes(examples: Sequence[Example]) -> Weights:
    """The model that names the class."""
    rows = [(example.values, CLASSES.index(example.label)) for example in examples if example.values]
    return pruned(fit(rows, len(CLASSES), DECAY), examples)


def fit_asking(examples: Sequence[Example]) -> Weights:
    """The coarse model: worth a rule, or not."""
    rows = [
        (
            {name: value for name, value in example.values.items() if name.startswith(COARSE)},
            int(example.label not in WORTH),
        )
        for example in examples
        if example.values
    ]
    return fit(rows, 2, COARSE_DECAY)


def fit(examples: Sequence[tuple[Mapping[str, float], int]], count: int, decay: float) -> Weights:
    """Multinomial logistic regression: stochastic steps with AdaGrad and a pull towards zero."""
    seen = Counter(name for values, _ in examples for name in values)
    known = {name for name, times in seen.items() if times >= RAREST}
    rows = [
        ([(name, value) for name, value in values.items() if name in known], right)
        for values, right in examples
    ]
    weights: dict[str, list[float]] = {name: [0.0] * count for name in sorted(known)}
    steps: dict[str, list[float]] = {name: [0.1] * count for name in weights}
    shuffle = random.Random(7)  # noqa: S311  (an order of training, not a secret)
    for _ in range(ROUNDS):
        shuffle.shuffle(rows)
        for values, right in rows:
            _step(weights, steps, values, right, decay)
    return {name: tuple(row) for name, row in weights.items()}


def _step(
    weights: Mapping[str, list[float]],
    steps: Mapping[str, list[float]],
    values: Sequence[tuple[str, float]],
    right: int,
    decay: float,
) -> None:
    sums = [0.0] * len(weights[values[0][0]])
    for name, value in values:
        for index, weight in enumerate(weights[name]):
            sums[index] += weight * value
    top = max(sums)
    odds = [math.exp(total - top) for total in sums]
    whole = sum(odds)
    errors = [odd / whole - (index == right) for index, odd in enumerate(odds)]
    for name, value in values:
        row, past = weights[name], steps[name]
        for index, error in enumerate(errors):
            slope = error * value + decay * row[index]
            past[index] += slope * slope
            row[index] -= RATE * slope / math.sqrt(past[index])


def folds(examples: Sequence[Example], count: int = 5) -> list[list[Example]]:
    """Disjoint parts with the classes in proportion."""
    parts: list[list[Example]] = [[] for _ in range(count)]
    by_label: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        by_label[example.label].append(example)
    shuffle = random.Random(11)  # noqa: S311  (a division, not a secret)
    place = 0
    for label in CLASSES:
        group = by_label[label]
        shuffle.shuffle(group)
        for example in group:
            parts[place % count].append(example)
            place += 1
    return parts


def pruned(weights: Weights, examples: Sequence[Example], kept: int = KEPT) -> Weights:
    """The names that matter most, by weight and by how often they occur."""
    seen = Counter(name for example in examples for name in example.values)
    spread = {
        name: (max(row) - min(row)) * math.sqrt(seen[name]) * (0.5 if name.startswith("w:") else 1.0)
        for name, row in weights.items()
    }
    best = sorted(spread, key=lambda name: (-spread[name], name))[:kept]
    return {name: weights[name] for name in sorted(best)}


def packed(weights: Weights) -> str:
    """Names and whole numbers, as many as fit in 116 columns a line."""
    lines, line = [], ""
    for name, row in sorted(weights.items()):
        centre = sum(row) / len(row)
        entry = f"{name} {' '.join(str(round((weight - centre) * SCALE)) for weight in row)}"
        if line and _columns(line) + _columns(entry) + 1 > 116:
            lines.append(line)
            line = entry
        else:
            line = f"{line}|{entry}" if line else entry
    return "\n".join([*lines, line])


def _columns(text: str) -> int:
    return len(text) + sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)


def written(classes: Weights, asking: Weights, header: str) -> str:
    """The module."""
    names = ", ".join(f'"{name}"' for name in CLASSES)
    return (
        f'"""{header}"""\n\nCLASSES = (\n    {names.replace(", ", ",{n}    ").format(n=chr(10))},\n)\nSCALE = {SCALE}\n'
        f'TABLE = """\n{packed(classes)}\n"""\nASKING = """\n{packed(asking)}\n"""\n'
    )


def main(paths: Sequence[str]) -> int:
    files = [EXTRA, *map(Path, paths)]
    examples = [example for path in files for example in load(path)]
    sources = "\n".join(
        f"- {path.name} ({len(path.read_text('utf-8').splitlines())} turns), sha256 "
        f"{hashlib.sha256(path.read_bytes()).hexdigest()[:32]}"
        for path in files
    )
    header = (
        "Weights of the classifier, written by tools/train/train_classifier.py: do not edit.\n\n"
        f"Learned from:\n{sources}\n"
    )
    classes, asking = fit_classes(examples), fit_asking(examples)
    WEIGHTS.write_text(written(classes, asking, header), "utf-8")
    print(f"{len(classes)} and {len(asking)} weights from {len(examples)} turns → {WEIGHTS}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
