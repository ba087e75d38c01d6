"""What becomes of a turn, kind by kind; and that nothing breaks it."""

from __future__ import annotations

import pytest

from coffer.core.rule import Rule, Rules
from coffer.core.verdict import decide

RULES = Rules(
    (
        Rule("R001", "", "Do not use pip; use uv.", state="active"),
        Rule("R002", "", "Do not use emoji.", state="active"),
        Rule("P001", "", "Do not push without asking the user.", state="pending"),
        Rule("P002", "", "Do not use axios.", state="archived"),
        Rule("P003", "", "Do not use tabs; use spaces.", state="pending"),
    )
)
DID = "I've updated the code and pushed with git push --force."


@pytest.mark.parametrize(
    ("turn", "kind", "rule"),
    [
        ("thanks, looks good", "nothing", ""),
        ("no dialog appeared", "nothing", ""),
        ("<system-reminder>never use pip</system-reminder>", "nothing", ""),
        ("don't use emojis", "corrected", "R002"),
        ("never push without asking me", "corrected", "P001"),
        ("please never use axios", "corrected", "P002"),
        ("never force-push main", "corrected", ""),
        ("remember: never push to main", "ordered", ""),
        ("remember: never use emoji", "ordered", "R002"),
        ("good, keep using uv like that", "approves", "R001"),
        ("forget the rule about emoji", "withdraws", "R002"),
        ("use tabs, not spaces", "contradicts", ""),
        ("why are you still using pip?", "corrected", "R001"),
    ],
)
def test_kinds(turn: str, kind: str, rule: str) -> None:
    verdict = decide(turn, DID, ("Edit src/app.py",), RULES)
    assert (verdict.kind, verdict.rule) == (kind, rule), verdict


def test_a_contradiction_names_what_it_replaces() -> None:
    verdict = decide("use tabs, not spaces", DID, ("Edit src/app.py",), RULES)
    assert verdict.supersedes == ("P003",)
    assert verdict.worded is not None
    assert verdict.worded.text == "Do not use spaces; use tabs."


def test_what_is_only_possible_is_noticed() -> None:
    verdict = decide("there are emojis in this?", DID, ("Write docs/a.md",), RULES)
    assert verdict.kind == "noticed"
    assert verdict.like == ("R002",)
    assert verdict.worded is not None
    assert not verdict.worded.safe


def test_the_tool_and_its_target_are_told() -> None:
    verdict = decide("never force-push main", "", ("Bash git push --force", "Write src/app.py"), Rules())
    assert verdict.worded is not None
    assert verdict.worded.before == "Used Write on src/app.py"


@pytest.mark.parametrize(
    "turn", ["\ud800", "never \udfff push", "no" * 500_000, "remember: " * 100_000, "\x00", "?"]
)
def test_nothing_breaks_it(turn: str) -> None:
    assert decide(turn, turn, (turn[:100],), RULES) == decide(turn, turn, (turn[:100],), RULES)
