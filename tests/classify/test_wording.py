"""Turns and the rules that they become; the polarity table comes first."""

from __future__ import annotations

import pytest

from coffer.core.classify.decide import Judged
from coffer.core.wording import word

JUDGED = Judged("EXPLICIT_CORRECTION", "persistent", "certain", 0.9, "forbids something", "git")

WORDED = [
    ("always use uv", "Do not use other package managers; use uv."),
    ("never force-push main", "Do not force-push main."),
    ("use Edit, not Write", "Do not use Write; use Edit."),
    ("don't add co-author lines", "Do not add co-author lines."),
    ("we use pnpm here, not npm", "Do not use npm; use pnpm."),
    ("stop adding comments to every function", "Do not add comments to every function."),
    ("please never push without asking me", "Do not push without asking the user."),
    ("no mocks for the DB", "Do not use mocks for the DB."),
    ("no new dependencies please", "Do not add new dependencies."),
    ("from now on no emoji pls", "Do not use emoji."),
    ("do not create README files unless I ask", "Do not create README files unless the user asks."),
    ("never git add -A, add files by name", "Do not run git add -A; add files by name."),
    ("please don't wrap long lines as that breaks the page", "Do not wrap long lines."),
    ("always run the tests before you commit", "Do not forget to run the tests before you commit."),
    ("use date-fns instead of moment", "Do not use moment; use date-fns."),
    ("pytest not unittest", "Do not use unittest; use pytest."),
    ("never log tokens, passwords or emails", "Do not log tokens, passwords or emails."),
    ("you shouldn't skip the tests", "Do not skip the tests."),
    ("never push before I approve", "Do not push before the user approves."),
    ("no uses npm aquí", "No uses npm aquí."),
    ("bitte kein axios", "Kein axios verwenden."),
    ("nunca hagas push a main", "Nunca hagas push a main."),
    ("不要用 npm", "不要用 npm。"),
    ("ne pousse jamais sur main", "Ne pousse jamais sur main."),
    ("не пуши без моего разрешения", "Не пуши без моего разрешения."),
]

UNSAFE = [
    "don't do that",
    "please don't",
    "never again",
    "don't use it here",
    "can you please not push?",
    "why are you using npm?",
    "don't push and run the tests first",
    "don't commit yet",
    "don't run the suite every time, only on the last commit",
    "don't run the tests today",
    "don't just fix the symptom",
    "never use tabs. don't add comments. no emojis",
    "don't use sed. only use it when the Edit tool fails",
    "don't worry about the tests",
    "don't forget the tests",
    "don't not test it",
    "no worries",
    "no idea what happened",
    "don't fix anything",
    "skip the tests this once",
    "that's wrong",
    "revert it",
    "dont use npm use pnpm",
    "don't use npm but pnpm",
    "stop not running the tests",
    "don't be afraid to delete code",
    "don't hesitate to use npm",
    "don't always add a summary",
    "you never write tests",
    "you don't run the linter",
    "no tests",
    "no changelog entry, no docs",
    "you can always use npm",
    "next time you finish something, give me a list",
    "every time you run it, it fails",
    "use npm, no need for yarn",
    "use tabs, not always though",
    "leave the docs for later",
    "we use redis for the sessions",
    "nicht gefunden",
    "nicht einfach pushen, frag vorher",
    "keine Kommentare, die nur den Code wiederholen",
    "ne marche pas",
    "nunca escribes tests",
    "никогда не пишешь тесты",
    "要不要重构一下",
    "结果不准确",
    "mach das nicht",
    "不要这样",
    "no hagas eso",
    "",
]


@pytest.mark.parametrize(("turn", "rule"), WORDED)
def test_polarity_is_kept(turn: str, rule: str) -> None:
    worded = word(turn, "", (), JUDGED)
    assert worded.text == rule, worded.why
    assert worded.safe
    assert worded.title


@pytest.mark.parametrize("turn", UNSAFE)
def test_what_is_not_safe_is_not_worded(turn: str) -> None:
    worded = word(turn, "", (), JUDGED)
    assert (worded.safe, worded.text) == (False, "")
    assert worded.why


def test_what_is_not_worth_a_rule_is_not_worded() -> None:
    judged = Judged("NONE", None, "none", 0.9, "", None)
    assert not word("never force-push main", "", (), judged).safe


def test_the_rest_of_the_entry() -> None:
    worded = word("never force-push main", "Bash(git push --force)", ("Bash",), JUDGED)
    assert worded.before == "Bash(git push --force)"
    assert worded.after == 'User said "never force-push main"'
    assert worded.scope == "git"
    assert worded.trigger == "Any git operation"
    assert worded.signal == "The user forbids something."


@pytest.mark.parametrize(
    "turn",
    [
        "never write <!-- x -->",
        "don't add # headings | tables",
        "never say `a\x07b`",
        "don't add " + "very " * 80 + "long names",
    ],
)
def test_no_rule_text_carries_signs_of_the_format(turn: str) -> None:
    assert not word(turn, "", (), JUDGED).safe
