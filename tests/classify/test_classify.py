"""Turns that are corrections, in several languages, and what context does to them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coffer.core.classify.decide import WORTH_A_RULE, classify
from coffer.core.classify.spoken import hear

EXTRA = Path(__file__).parents[2] / "tools/train/turns_extra.jsonl"

CERTAIN = [
    ("Bash(git push --force origin main)", "never force push to main. open a pull request"),
    ("Bash(git commit) with a Co-Authored-By trailer", "don't add co-author lines to my commits"),
    ("Write(src/app.ts) replaced the whole file.", "use Edit and not Write for files that exist already"),
    ("Edit(package-lock.json), Edit(src/a.ts)", "why did you touch the lockfile?"),
    ("I've also restyled the footer.", "who asked you to restyle the footer"),
    ("All done! 🎉", "no emojis please"),
    ("Ich habe gepusht.", "bitte nie ohne Rückfrage pushen"),
    ("He hecho push a main.", "nunca hagas push a main, abre un PR"),
    ("我已经推送了。", "不要没有我的同意就推送"),
    ("main に直接プッシュしました。", "main に直接プッシュしないでください"),
]


@pytest.mark.parametrize(("before", "turn"), CERTAIN)
def test_plain_corrections_are_certain(before: str, turn: str) -> None:
    judged = classify(turn, before)
    assert judged.certainty == "certain", judged
    assert judged.label in WORTH_A_RULE


@pytest.mark.parametrize(
    "turn",
    [
        "why are you still using the old formatter?",
        "shouldn't that go into the commit we already have?",
        "there are semicolons here?",
        "can we not commit the drafts?",
        "we didn't add any docs for this?",
        "I'd rather have this in one file",
        "your replies should carry the commit hash",
        "so you know for next time: the fixtures are generated",
    ],
)
def test_polite_and_indirect_forms_are_possible(turn: str) -> None:
    assert (
        classify(turn, "Done. I've committed the change. All tests pass.", ("Edit", "Bash")).certainty
        != "none"
    )


def test_only_what_the_user_said_is_heard_in_a_rejection() -> None:
    heard = hear(
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if "
        "it was a file edit, "
        "the new_string was NOT written to the file). To tell you how to proceed, the user "
        "said:\nrun only the unit tests"
    )
    assert heard.rejected
    assert heard.text == "run only the unit tests"


def test_an_interruption_is_heard_as_such() -> None:
    heard = hear("[Request interrupted by user for tool use]\nlook at the log first")
    assert heard.interrupted
    assert heard.text == "look at the log first"


def test_a_person_may_write_about_tags() -> None:
    assert "never" in hear("the Vec<String> is fine but never clone it").text


def test_this_time_only_is_not_certain() -> None:
    assert classify("don't run the e2e tests this time", "I'll run the e2e tests.").certainty != "certain"


def test_context_counts() -> None:
    turn = "no, the second one"
    asked = classify(turn, "Which file should I use, a.py or b.py?")
    assert asked.label == "CLARIFICATION"


def test_persistence() -> None:
    here = classify("we use pnpm in this repo, not npm", "Bash(npm install)")
    me = classify("never push without asking me", "Bash(git push)")
    assert (here.persistence, me.persistence) == ("session", "persistent")


def test_scope() -> None:
    assert classify("don't add co-author lines to commits", "Bash(git commit)").scope == "git"
    assert classify("don't mock the database in the tests", "Edit(tests/a.py)").scope == "testing"


@pytest.mark.parametrize(
    "turn",
    ["", " ", "\x00", "a" * 1_000_000, "never " * 200_000, "<a>" * 100_000, "\n" * 100_000, "`" * 50_001],
)
def test_nothing_breaks_it(turn: str) -> None:
    judged = classify(turn, turn, ())
    assert 0 <= judged.confidence <= 1


def test_is_deterministic() -> None:
    assert classify("never do that", "x") == classify("never do that", "x")


def test_the_own_turns_are_learned() -> None:
    """A floor, not a measure: the weights have seen these. `make quality` measures."""
    items = [json.loads(line) for line in EXTRA.read_text("utf-8").splitlines()]
    certain = [item for item in items if classify(item["turn"], item["before"]).certainty == "certain"]
    right = sum(item["label"] in WORTH_A_RULE for item in certain)
    assert right / len(certain) > 0.95
    assert len({item["turn"] for item in items}) > 0.97 * len(items)
