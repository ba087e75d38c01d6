"""What is ordered outright, and what only asks to be remembered."""

from __future__ import annotations

import pytest

from coffer.core.classify.decide import classify
from coffer.core.order import order, order_wording

NONE = [
    "remember to add tests for the parser",
    "remember that bug from yesterday?",
    "I don't remember",
    "do you remember the rule?",
    "remember the milk",
    "remember: did we fix the parser?",
    "new rule in the firewall: allow 443",
    "new rule: allow inbound traffic on port 443",
    "add a rule to eslint: no-console",
    "from now on",
    "note: the build is broken",
    "the rule: users may not delete posts",
    "don't forget to run the tests",
    "for the future we should think about caching",
    "can you remember this?",
    "rules:",
    "rule 3 is broken",
    "rule of thumb: keep functions short",
    "rule: if the user is admin show the button",
    "keep in mind the parser is slow",
    "never forget: push before lunch",
    "note to self: buy milk",
    "in the future: flying cars",
    "remember when we used npm?",
    "remember to push",
    "",
]

ORDERS = [
    ("remember: never push to main", "Do not push to main."),
    ("Please remember: never push to main.", "Do not push to main."),
    ("new rule: no emojis in commit messages", "Do not use emojis in commit messages."),
    ("from now on, rule: use uv, not pip", "Do not use pip; use uv."),
    ("add this as a rule: don't touch vendor/", "Do not touch vendor/."),
    ("note for the future: don't use sed for edits", "Do not use sed for edits."),
    ("remember to always run make fmt before committing", "Do not forget to run make fmt before committing."),
    ("remember: don't push to main", "Do not push to main."),
    ("Rule: don't use sed", "Do not use sed."),
    ("keep in mind: we never deploy on Fridays", "Do not deploy on Fridays."),
    ("remember this for later: prefer rg over grep", "Do not use grep; use rg."),
    ("save to memory: never read .env", "Do not read .env."),
    ("add to your rules: ask before deleting files", "Do not delete files without asking the user."),
    ("remember, never use npm", "Do not use npm."),
    ("rule: when you touch the parser, run make fuzz", "When you touch the parser, run make fuzz."),
    ("new rule: commit messages must be in English", "Commit messages must be in English."),
    ("new rule: no emojis. now fix the login", "Do not use emojis."),
    ("Merk dir: nie auf main pushen", "Nie auf main pushen."),
    ("nueva regla: no uses npm", "No uses npm."),
    ("retiens : ne pousse jamais sur main", "Ne pousse jamais sur main."),
    ("记住：不要用 npm", "不要用 npm。"),
]


@pytest.mark.parametrize("turn", NONE)
def test_what_is_no_order(turn: str) -> None:
    assert order(turn) is None


@pytest.mark.parametrize(("turn", "rule"), ORDERS)
def test_an_order_is_worded(turn: str, rule: str) -> None:
    ordered = order(turn)
    assert ordered is not None
    worded = order_wording(ordered.words, turn, "", (), classify(turn, ""))
    assert worded.text == rule, worded.why
    assert worded.safe
    assert worded.after.startswith("User said")


@pytest.mark.parametrize(
    "turn",
    ["remember: never do that again", "new rule: she decides", "new rule: it is forbidden", "rule: purple"],
)
def test_an_order_that_points_elsewhere_is_not_worded(turn: str) -> None:
    ordered = order(turn)
    assert ordered is None or not order_wording(ordered.words, turn, "", (), classify(turn, "")).safe


def test_hard_by_the_words() -> None:
    hard = order("remember: never ever push to main")
    assert hard is not None
    assert hard.hard
    soft = order("remember: never push to main")
    assert soft is not None
    assert not soft.hard
