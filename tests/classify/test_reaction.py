"""What approves of a rule or withdraws it; what only sounds like it comes first."""

from __future__ import annotations

import pytest

from coffer.core.reaction import react
from coffer.core.rule import Rule

RULES = [
    Rule("R001", "", "Do not add co-author lines to commits.", state="active"),
    Rule("R002", "", "Do not use pip; use uv.", state="active"),
    Rule("R003", "", "Do not use emoji.", state="active"),
    Rule("R004", "", "Do not push without asking the user.", state="active"),
    Rule("R005", "", "Do not amend commits.", state="active"),
    Rule("R006", "", "Do not skip the tests.", state="active"),
    Rule("P001", "", "Do not use print for debugging.", state="pending"),
    Rule("P002", "", "Do not use axios.", state="archived"),
]

NOTHING = [
    "no, no co-author lines!!",
    "no co-author lines",
    "again: no emoji",
    "yes, but no emoji",
    "ok, you can push now",
    "you can push",
    "go ahead and push",
    "tests are fine now",
    "everything is fine now",
    "the emoji picker is fine now, next bug",
    "you can amend the text again if needed",
    "forget it",
    "forget the rule about semicolons",
    "remove the rule about max-len from the linter config",
    "never mind",
    "good",
    "yes",
    "thanks for the summary",
    "good, keep going",
    "good, keep using pip like that",
    "good that you used pip",
    "is it ok to amend again?",
    "can you amend again?",
    "yes, no emoji? really?",
    "I told you, no emoji",
    "great, axios is gone",
    "yes, no print for debugging",
    "nice, now add co-author lines",
    "uv is fine now, the index is back",
    "pip is fine now",
    "you can use emoji for this one",
    "squash this one",
    "you can amend commits now",
    "it's ok to amend commits now",
    "stop asking before you push",
    "no need to ask, just push",
    "you don't need to ask this time",
    "we can push now",
    "great that you used emoji",
    "no dialog appeared",
    "no worries",
    "",
]

APPROVES = [
    ("yes, exactly, no co-author lines", "R001"),
    ("Perfect, no co-author lines in commits.", "R001"),
    ("good, keep using uv like that", "R002"),
    ("nice, keep leaving out the emoji", "R003"),
    ("thanks for not using emoji", "R003"),
    ("thanks for using uv", "R002"),
    ("glad you didn't amend the commits", "R005"),
    ("yes! use uv, not pip", "R002"),
    ("genau, kein emoji", "R003"),
    ("great that you asked before pushing", "R004"),
    ("good job not using emoji", "R003"),
]

WITHDRAWS = [
    ("you may amend again", "R005"),
    ("you can amend commits from now on", "R005"),
    ("forget the rule about emoji", "R003"),
    ("ok, drop the emoji rule", "R003"),
    ("co-author lines are fine now", "R001"),
    ("emojis are allowed again", "R003"),
    ("no need to ask before pushing any more", "R004"),
    ("you don't have to ask before pushing anymore", "R004"),
    ("you no longer need to ask before pushing", "R004"),
    ("ignore what I said about emojis", "R003"),
    ("the rule about amending no longer applies", "R005"),
    ("you can use print for debugging again", "P001"),
    ("emojis are ok again", "R003"),
    ("we can use emoji again", "R003"),
    ("don't ask before pushing any more", "R004"),
    ("it's fine to amend commits from now on", "R005"),
    ("du darfst wieder Emoji verwenden", "R003"),
    ("Emoji sind wieder erlaubt", "R003"),
    ("vergiss die Regel mit den Emoji", "R003"),
    ("oublie la règle sur les emoji", "R003"),
]


@pytest.mark.parametrize("turn", NOTHING)
def test_in_doubt_nothing(turn: str) -> None:
    assert react(turn, RULES, "", ()) is None


@pytest.mark.parametrize(("turn", "rule"), APPROVES)
def test_approves(turn: str, rule: str) -> None:
    reaction = react(turn, RULES, "", ())
    assert reaction is not None
    assert (reaction.kind, reaction.rule) == ("approves", rule)


@pytest.mark.parametrize(("turn", "rule"), WITHDRAWS)
def test_withdraws(turn: str, rule: str) -> None:
    reaction = react(turn, RULES, "", ())
    assert reaction is not None
    assert (reaction.kind, reaction.rule) == ("withdraws", rule)


def test_who_has_just_broken_a_rule_is_not_praised_for_it() -> None:
    assert react("great, no emoji", RULES, "", ("Bash git commit -m 'emoji'",)) is None


def test_two_rules_that_fit_are_a_doubt() -> None:
    both = [*RULES, Rule("R009", "", "Do not use emoji in commit messages.", state="active")]
    assert react("forget the rule about emoji", both, "", ()) is None
