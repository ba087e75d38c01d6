"""How well the digest's judges do on labelled turns and pairs of rules: part of `make quality`.

The labelled files lie beside the project (`../shared/turns`) and stay there; without them only the project's
own pairs are measured. dev.jsonl is cross-validated; real_dev.jsonl is judged with weights that never saw it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from coffer.core.classify.decide import WORTH_A_RULE, Judged, judged
from coffer.core.classify.spoken import hear
from coffer.core.similar import compare
from coffer.core.wording import word
from tools import simulate
from tools.train.train_classifier import (
    CLASSES,
    EXTRA,
    Example,
    Weights,
    fit_asking,
    fit_classes,
    folds,
    load,
)

ROOT = Path(__file__).parents[1]
TURNS = ROOT.parent / "shared/turns"
OWN_PAIRS = ROOT / "tests/classify/pairs.jsonl"
RELATIONS = ("DUPLICATE", "DISTINCT", "CONTRADICTORY")
NEUTRAL_BELOW = 0.6


@dataclass(frozen=True)
class Outcome:
    """One turn, as labelled and as judged."""

    example: Example
    judged: Judged

    @property
    def worth(self) -> bool:
        """Labelled as worth a rule."""
        return self.example.label in WORTH_A_RULE

    @property
    def neutral(self) -> bool:
        """Its reader was too unsure for it to count."""
        return self.worth and self.example.item.get("sure", 1.0) < NEUTRAL_BELOW


def main() -> int:
    console = Console(width=120)
    dev, real, pairs = (TURNS / name for name in ("dev.jsonl", "real_dev.jsonl", "pairs_dev.jsonl"))
    own = load(EXTRA)
    if dev.exists():
        invented = load(dev)
        measure_turns(console, "dev.jsonl, 5-fold", cross_validated(invented, own))
        if real.exists():
            weights = fit_classes([*invented, *own]), fit_asking([*invented, *own])
            measure_turns(console, "real_dev.jsonl, weights that never saw it", judge(load(real), *weights))
    for path in (pairs, OWN_PAIRS):
        if path.exists():
            measure_pairs(console, path)
    simulate.report(console, simulate.simulated(simulate.corrections()))
    return 0


def cross_validated(examples: Sequence[Example], own: Sequence[Example]) -> list[Outcome]:
    parts = folds(examples)
    outcomes: list[Outcome] = []
    for part in parts:
        rest = [example for other in parts if other is not part for example in other]
        outcomes += judge(part, fit_classes([*rest, *own]), fit_asking([*rest, *own]))
    return outcomes


def judge(examples: Iterable[Example], classes: Weights, asking: Weights) -> list[Outcome]:
    nobody = Judged("NONE", None, "none", 0.0, "no words of a person", None)
    return [
        Outcome(
            example,
            judged(hear(example.item["turn"]), example.item["before"], example.values, classes, asking)
            if example.values
            else nobody,
        )
        for example in examples
    ]


def measure_turns(console: Console, title: str, outcomes: Sequence[Outcome]) -> None:
    console.rule(title)
    gold, told = [o.example.label for o in outcomes], [o.judged.label for o in outcomes]
    confusion(console, CLASSES, gold, told)
    console.print(f"macro-F1 {macro_f1(CLASSES, gold, told):.3f}, {len(outcomes)} turns")
    clear = [o for o in outcomes if not o.neutral]
    for name, wanted in (("certain", {"certain"}), ("possible or certain", {"certain", "possible"})):
        picked = [o for o in clear if o.judged.certainty in wanted]
        right, worth = sum(o.worth for o in picked), sum(o.worth for o in clear)
        share = sum(o.judged.certainty in wanted for o in outcomes) / len(outcomes)
        console.print(
            f"{name}: precision {ratio(right, len(picked))}, recall {ratio(right, worth)}, {share:.1%} of all turns"
            f" ({len(outcomes) - len(clear)} neutral left out)"
        )
    kept = [o for o in outcomes if o.worth and o.judged.label in WORTH_A_RULE]
    same = sum(o.judged.persistence == o.example.item["persistence"] for o in kept)
    console.print(f"persistence right {ratio(same, len(kept))}")
    scoped = [o for o in kept if o.example.item.get("scope")]
    console.print(
        f"scope right {ratio(sum(o.judged.scope == o.example.item['scope'] for o in scoped), len(scoped))}"
    )
    rules = [(o, worded(o)) for o in outcomes if o.judged.certainty == "certain"]
    safe = [text for _, text in rules if text]
    console.print(f"worded safely {ratio(len(safe), len(rules))} of the certain ones\n")
    if "--rules" in sys.argv:
        for outcome, text in rules:
            console.print(f"  {outcome.example.label[:4]} {text or '—'}", highlight=False)


def worded(outcome: Outcome) -> str:
    item = outcome.example.item
    result = word(item["turn"], item["before"], item.get("tools", ()), outcome.judged)
    return result.text if result.safe else ""


def measure_pairs(console: Console, path: Path) -> None:
    console.rule(path.name)
    items: list[dict[str, Any]] = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    told = [compare(item["a"], item["b"]).label for item in items]
    confusion(console, RELATIONS, [item["label"] for item in items], told)
    for name, kept in (("easy", False), ("hard", True), ("all", None)):
        found = [
            label == "DUPLICATE"
            for item, label in zip(items, told, strict=True)
            if item["label"] == "DUPLICATE" and kept in (None, item.get("hard", False))
        ]
        console.print(f"DUPLICATE found, {name}: {ratio(sum(found), len(found))}")
    for item, label in zip(items, told, strict=True):
        if label == "DUPLICATE" != item["label"]:
            console.print(f"  wrongly merged: {item['a']}  ##  {item['b']}", highlight=False)
    console.print()


def confusion(console: Console, names: Sequence[str], gold: Sequence[str], told: Sequence[str]) -> None:
    counts = Counter(zip(gold, told, strict=True))
    table = Table("labelled ↓ judged →", *(name[:13].lower() for name in names), box=None)
    for name in names:
        table.add_row(name.lower(), *(str(counts[name, other]) for other in names))
    console.print(table)


def macro_f1(names: Sequence[str], gold: Sequence[str], told: Sequence[str]) -> float:
    counts = Counter(zip(gold, told, strict=True))
    scores = []
    for name in names:
        right = counts[name, name]
        both = sum(counts[name, other] + counts[other, name] for other in names)
        scores.append(2 * right / both if both else 0.0)
    return sum(scores) / len(scores)


def ratio(part: int, whole: int) -> str:
    return f"{part / whole:.3f} ({part}/{whole})" if whole else "– (0/0)"


if __name__ == "__main__":
    sys.exit(main())
