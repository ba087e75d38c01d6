"""Turns and the rules that they become; the polarity table comes first."""

from __future__ import annotations

import pytest

from coffer.core.classify.decide import Judged, classify
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
    # a ban and what to do instead, in one breath
    ("no var, use const or let", "Do not use var; use const or let."),
    ("don't cat files, use the Read tool", "Do not cat files; use the Read tool."),
    ("don't praise me, just answer", "Do not praise the user; answer."),
    ("we don't use static classes here, just functions", "Do not use static classes; use functions."),
    ("we're on poetry here, don't pip install by hand", "Do not run pip install by hand; use poetry."),
    (
        "never edit a migration that has run, add a new one",
        "Do not edit a migration that has run; add a new one.",
    ),
    # a limit or a condition stays with its ban
    (
        "don't run the full suite, only the tests for what you changed",
        "Do not run the full suite, only the tests for what you changed.",
    ),
    ("never touch prod unless I say so", "Do not touch prod unless the user says so."),
    ("don't reformat code you didn't change", "Do not reformat code you didn't change."),
    ("no files nobody asked for", "Do not add files nobody asked for."),
    ("never open .env. if you need names look at .env.example", "Do not open .env."),
    ("please ask me before you push", "Do not push without asking the user."),
    ("ask before adding a package", "Do not add a package without asking the user."),
    ("tell me before you change the schema", "Do not change the schema without telling the user."),
    # several things that are banned alike
    ("so no var, no List.of, no records", "Do not use var, List.of or records."),
    ("glob() is banned in our BUILD files, list sources by hand", "Do not use glob() in our BUILD files."),
    ("drop the flattery. just answer", "Do not use flattery."),
    ("please avoid lodash", "Do not use lodash."),
    ("stop reformatting files, the diff is unreadable", "Do not reformat files."),
    ("stop saying I'm absolutely right", "Do not say the user is absolutely right."),
    ("you edited the lockfile. never do that", "Do not edit the lockfile."),
    ("you just wrote to data/raw! please don't do that", "Do not write to data/raw."),
    # how it is done, in the person's own words
    ("columns are snake_case here, not camelCase", "Do not use camelCase for columns; use snake_case."),
    (
        "tests in this repo should be flat: no helper classes",
        "Tests in this repo should be flat: no helper classes.",
    ),
    ("plans go in the chat, not in files. delete PLAN.md", "Plans go in the chat, not in files."),
    ("prod data never leaves the prod account, company policy", "Prod data never leaves the prod account."),
    ("internal changes are never breaking changes", "Internal changes are never breaking changes."),
    ("whenever you touch the parser run make fuzz", "Whenever you touch the parser run make fuzz."),
    ("one test file per module, that's how it is here", "One test file per module."),
    (
        "every change to a service also needs a version bump",
        "Every change to a service also needs a version bump.",
    ),
    ("commit messages in imperative mood, always", "Commit messages in imperative mood."),
    (
        "error messages must be neutral, no exclamation marks",
        "Error messages must be neutral, no exclamation marks.",
    ),
    ("fix the code, not the test. always", "Fix the code, not the test."),
    ("pin exact versions, always", "Do not forget to pin exact versions."),
    (
        "use a worktree under ../wt for each task",
        "Do not use anything other than a worktree under ../wt for each task.",
    ),
    # other languages
    ("wir benutzen pnpm, nicht npm", "Wir benutzen pnpm, nicht npm."),
    ("nimm pnpm statt npm", "Nimm pnpm statt npm."),
    ("keine Emojis mehr", "Keine Emojis verwenden."),
    ("commits bitte nie auf deutsch schreiben", "Commits bitte nie auf deutsch schreiben."),
    ("utilise Edit, pas Write", "Utilise Edit, pas Write."),
    ("pas d'emojis", "Ne pas utiliser d'emojis."),
    ("no borres tests", "No borres tests."),
    ("no añadas líneas Co-Authored-By", "No añadas líneas Co-Authored-By."),
    ("我们这个项目用 pnpm,不用 npm", "我们这个项目用 pnpm,不用 npm。"),
    ("别配中央仓库的地址", "别配中央仓库的地址。"),
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
    # each of these has the words of a rule, and another meaning
    "no dialog appeared",
    "no need to ask before pushing",
    "nothing is broken any more",
    "nothing gets rendered on the page",
    "the build always fails on main",
    "CI never finishes",
    "the tests never use the real database",
    "users must not see the draft",
    "the page should always show a spinner",
    "don't use tabs everywhere",
    "don't stage everything blindly",
    "in the tests: no mocks",
    "for schema stuff in this project: nullable by default, no custom scalars",
    "no classes for helpers, plain functions",
    "grep is slow here",
    "commit messages look fine",
    "test files are missing, always",
    "you renamed it. don't do that yet",
    "did you push? don't do that today",
    "you wrote to data/raw. never do that unless I ask",
    "plans go in the chat. only the big ones in files",
    "secrets go into the vault unless it is a test key",
    "when you're done, push",
    "skip the flaky test",
    "drop the column",
    "leave the config alone for now",
    "I want the button to be blue",
    "keine Tests im Ordner",
    "die Tests laufen nicht durch",
    "der Button ist immer in der Mitte",
    "los tests siempre fallan",
    "no funciona",
    "fichier pas trouvé",
    "jamais vu cette erreur",
    "别人的代码",
    "先别推送",
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


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("No, don't use npm. Use pnpm instead.", "Do not use npm; use pnpm."),
        ("don't use npm. use pnpm", "Do not use npm; use pnpm."),
        ("please don't touch the lockfile. use a branch", "Do not touch the lockfile."),
    ],
)
def test_what_to_use_instead_may_be_a_sentence_of_its_own(said: str, rule: str) -> None:
    judged = classify(said, "I ran npm install.", ["Bash"])
    assert word(said, "I ran npm install.", ["Bash"], judged).text == rule
