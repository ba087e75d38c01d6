"""What becomes of a turn, kind by kind; and that nothing breaks it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coffer.core.classify.decide import Judged
from coffer.core.rule import Rule, Rules
from coffer.core.verdict import decide
from coffer.core.wording import word
from tests.effort import examples

RULES = Rules(
    (
        Rule("R001", "", "Do not use pip; use uv.", state="active"),
        Rule("R002", "", "Do not use emoji.", state="active"),
        Rule("P001", "", "Do not push without asking the user.", state="pending"),
        Rule("P002", "", "Do not use axios.", state="archived"),
        Rule("P003", "", "Do not use tabs; use spaces.", state="pending"),
        Rule("P004", "", "Do not use Write on existing files; use Edit.", state="pending"),
    )
)
JUDGED = Judged("EXPLICIT_CORRECTION", "persistent", "certain", 0.9, "forbids something", "tools")
NAMED = (
    "npm",
    "pnpm",
    "yarn",
    "pytest",
    "unittest",
    "black",
    "ruff",
    "tabs",
    "spaces",
    "lodash",
    "redux",
    "docker",
)
SAYS = (
    "use {use}, not {avoid}",
    "{use} not {avoid}",
    "no {avoid}, use {use}",
    "we use {use} here, not {avoid}",
    "use {use} instead of {avoid}",
    "don't use {avoid}, use {use}",
    "never use {avoid}; we use {use}",
    "stop using {avoid}. we use {use}",
    "we don't use {avoid}, only {use}",
    "{avoid} is banned here, we use {use}",
    "please use {use} rather than {avoid}, always",
    "instead of {avoid}, use {use}",
    "we don't use {avoid} but {use}",
    "use {use}. not {avoid}. ever",
    "avoid {avoid}, stick to {use}",
    "why {avoid}? we use {use}",
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


@pytest.mark.parametrize(
    "turn",
    [
        "why didn't you use pip?",  # the words of a complaint, the opposite meaning
        "run pip again",
        "did i ask you to touch the existing colours",
        "are emojis still broken on windows?",
        "why is uv so slow?",
        "can you push again?",
        "don't use emojis this time",
    ],
)
def test_what_only_shares_words_with_a_rule_repeats_none(turn: str) -> None:
    verdict = decide(turn, DID, ("Edit src/app.py",), RULES)
    assert verdict.kind in ("nothing", "noticed"), verdict


@pytest.mark.parametrize(
    ("turn", "rule"),
    [
        ("pip again??", "R001"),
        ("you used pip again", "R001"),
        ("did you just use emoji?", "R002"),
        ("who told you to push?", "P001"),
        ("you used emojis. don't do that", "R002"),
        ("no emoji", "R002"),
    ],
)
def test_a_complaint_or_a_repetition_counts_for_the_rule_that_stands(turn: str, rule: str) -> None:
    verdict = decide(turn, DID, ("Edit src/app.py",), RULES)
    assert (verdict.kind, verdict.rule) == ("corrected", rule), verdict
    assert verdict.judged.certainty == "certain"


def test_a_complaint_that_fits_two_rules_fits_none() -> None:
    both = Rules((*RULES.all, Rule("R009", "", "Do not use pip; use conda.", state="active")))
    assert decide("why are you still using pip?", DID, (), both).rule == ""


def test_the_words_of_an_order_that_cannot_be_worded_are_noticed() -> None:
    verdict = decide("remember: never do that again", DID, (), RULES)
    assert verdict.kind == "noticed"
    assert verdict.why.startswith("ordered, but")


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


WORDS = st.sampled_from(
    [
        "never",
        "always",
        "don't",
        "use",
        "no",
        "not",
        "remember:",
        "rule:",
        "why",
        "you",
        "used",
        "pip",
        "uv",
        "emoji",
        "again",
        "?",
        "!",
        ".",
        ",",
        ":",
        "only",
        "unless",
        "keep",
        "nicht",
        "pas",
        "不要",
        "\ud800",
        "\x00",
        "\n",
        "push",
        "to",
        "main",
        "yes",
        "good",
        "(",
        ")",
        "`",
        "whenever",
        "before",
        "…",
        "forget the rule about",
        "instead of",
    ]
)


@settings(max_examples=examples(100, 300), deadline=None)
@given(st.lists(WORDS, max_size=14), st.text(max_size=40))
def test_any_words_give_one_verdict(words: list[str], before: str) -> None:
    turn = " ".join(words)
    verdict = decide(turn, before, ("Bash",), RULES)
    assert verdict == decide(turn, before, ("Bash",), RULES)
    known = {rule.id for rule in RULES.all}
    assert {verdict.rule, *verdict.like, *verdict.supersedes} <= known | {""}
    if verdict.kind in ("approves", "withdraws"):
        assert verdict.rule
    if verdict.kind in ("ordered", "contradicts") or (verdict.kind == "corrected" and not verdict.rule):
        assert verdict.worded is not None
        assert verdict.worded.safe
        assert "\n" not in verdict.worded.text
        assert "?" not in verdict.worded.text


@settings(deadline=None)
@given(st.sampled_from(NAMED), st.sampled_from(NAMED), st.sampled_from(SAYS))
def test_what_is_wanted_is_never_forbidden(one: str, other: str, form: str) -> None:
    worded = word(form.format(use=one, avoid=other), "", (), JUDGED)
    if not worded.safe or one == other:
        return
    against, _, towards = worded.text.partition(";")
    assert not re.search(rf"\b{one}\b", against), worded.text
    assert not re.search(rf"\b{other}\b", towards), worded.text
