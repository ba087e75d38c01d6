"""Pairs of rules: what must never be merged comes first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coffer.core.similar import compare

PAIRS: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("pairs.jsonl").read_text("utf-8").splitlines()
]


def pairs(label: str) -> list[Any]:
    return [pytest.param(pair["a"], pair["b"], id=pair["id"]) for pair in PAIRS if pair["label"] == label]


@pytest.mark.parametrize(("a", "b"), pairs("CONTRADICTORY"))
def test_a_contradiction_is_never_merged(a: str, b: str) -> None:
    assert compare(a, b).label != "DUPLICATE"
    assert compare(b, a).label != "DUPLICATE"


@pytest.mark.parametrize(("a", "b"), pairs("DISTINCT"))
def test_different_rules_stay_apart(a: str, b: str) -> None:
    assert compare(a, b).label == "DISTINCT"


def test_enough_is_found() -> None:
    def share(label: str) -> float:
        told = [compare(pair["a"], pair["b"]).label == label for pair in PAIRS if pair["label"] == label]
        return sum(told) / len(told)

    assert share("DUPLICATE") > 0.7
    assert share("CONTRADICTORY") > 0.8


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: str(pair["id"]))
def test_the_order_does_not_matter(pair: dict[str, Any]) -> None:
    assert compare(pair["a"], pair["b"]).label == compare(pair["b"], pair["a"]).label


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: str(pair["id"]))
def test_a_rule_is_the_same_as_itself_in_other_clothes(pair: dict[str, Any]) -> None:
    rule = pair["a"]
    assert compare(rule, rule).label == "DUPLICATE"
    assert compare(rule, f"  {rule.rstrip('.')}").label == "DUPLICATE"


@pytest.mark.parametrize("odd", ["", ".", "never", "不", "\x00", "use", "a" * 5_000])
def test_nothing_breaks_it(odd: str) -> None:
    assert compare(odd, "Do not push to main.").label == "DISTINCT"
