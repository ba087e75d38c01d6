"""The simulation's own check finds what is turned round, and the program turns nothing round in it."""

from __future__ import annotations

from typing import Any

import pytest

from tools.simulate import corrections, flaw_of, simulated

NPM: dict[str, Any] = {"forbidden": r"\bnpm\b", "wanted": r"\bpnpm\b"}
PUSH: dict[str, Any] = {"forbidden": r"push", "wanted": r"\bask"}


@pytest.mark.parametrize(
    ("text", "item", "flaw"),
    [
        ("Do not use npm; use pnpm.", NPM, ""),
        ("Do not use pnpm; use npm.", NPM, "inverted"),
        ("Do not use pnpm.", NPM, "inverted"),
        ("Do not use other package managers; use pnpm.", NPM, ""),
        ("Do not use other package managers; use npm.", NPM, "inverted"),
        ("Nimm pnpm statt npm.", NPM, ""),
        ("Do not touch the lockfile.", NPM, "unrelated"),
        ("Do not push without asking the user.", PUSH, ""),
        ("Do not forget to push.", PUSH, "inverted"),
    ],
)
def test_the_check_knows_which_side_is_which(text: str, item: dict[str, Any], flaw: str) -> None:
    assert flaw_of(text, item) == flaw


def test_no_rule_is_turned_round_or_taken_for_another() -> None:
    fates = simulated(corrections())
    assert len(fates) == 100
    assert {fate.item["id"]: fate.wrong for fate in fates if fate.wrong} == {}


def test_every_correction_can_be_checked() -> None:
    for item in corrections():
        assert len(item["turns"]) == 3
        assert flaw_of(item["rule"], item) == "" or item["lang"] != "en", item["id"]
