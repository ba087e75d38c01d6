"""Which rules hold: trusted ones only, the project's before the person's, at most 20."""

from __future__ import annotations

from collections.abc import Iterable

from coffer.core.digest import Digest, parse
from coffer.core.effective import UNTRUSTED, Effective, Held, Origin, effective, key

ALL = ("*",)


def rule(name: str, text: str, importance: int = 1) -> str:
    return f"### [{name}] Title\n**Priority**: SOFT\n**Importance**: {importance}\n**Rule**: {text}\n"


def digest(hard: Iterable[str] = (), soft: Iterable[str] = (), pending: Iterable[str] = ()) -> Digest:
    parts = (
        "# Behavioral Digest\n<!-- cozempic: behavioral-digest v1 -->\n",
        "## Active Rules — Hard (always injected)\n",
        *(block.replace("SOFT", "HARD") for block in hard),
        "## Active Rules — Soft (injected by scope relevance)\n",
        *soft,
        "## Pending Rules (< 3 occurrences, under observation)\n",
        *pending,
    )
    return parse("\n".join(parts))


def held(origin: Origin, made: Digest, trusted: Iterable[str] = ALL) -> Held:
    texts = [r.text for r in made.rules.all] if tuple(trusted) == ALL else trusted
    return Held(origin, f"/{origin}/digest.md", made, frozenset(map(key, texts)))


def names(found: Effective) -> list[str]:
    return [f"{one.origin}:{one.rule.id}" for one in found.rules]


GIT = "Do not push to main."
UV = "Use uv instead of pip."
WRITE = "Do not use the Write tool to modify existing files."


def test_nothing_holds_without_digests() -> None:
    assert effective(None, None) == Effective()


def test_only_active_rules_hold() -> None:
    found = effective(held("project", digest([rule("R001", GIT)], [], [rule("P001", UV)])), None)
    assert names(found) == ["project:R001"]
    assert found.left_out == ()


def test_a_text_that_is_not_trusted_does_not_hold() -> None:
    made = digest([rule("R001", GIT)], [rule("R002", UV)])
    found = effective(held("project", made, [UV]), None)
    assert names(found) == ["project:R002"]
    [out] = found.left_out
    assert (out.rule, out.text, out.file, out.reason) == ("R001", GIT, "/project/digest.md", UNTRUSTED)
    assert made.render().split("\n")[out.line - 1].startswith("### [R001]")


def test_one_edited_word_is_another_text_and_blanks_are_none() -> None:
    assert key("Do not  push\tto main.") == key(GIT)
    assert key("Do push to main.") != key(GIT)
    assert key("do not push to main.") != key(GIT)
    assert key("\udcff") != key("\ufffd")


def test_a_refused_rule_is_named_with_its_line() -> None:
    made = digest([rule("R001", "Read <!-- this")])
    found = effective(held("project", made), None)
    assert found.rules == ()
    [out] = found.left_out
    assert (out.rule, out.text) == ("R001", "")
    assert "comment" in out.reason
    assert made.render().split("\n")[out.line - 1].startswith("### [R001]")


def test_hard_before_project_before_importance() -> None:
    project = digest([rule("R001", GIT)], [rule("R002", UV, 1), rule("R003", WRITE, 9)])
    user = digest([rule("R001", "Never delete a branch.", 2)], [rule("R002", "Write tests first.", 50)])
    assert names(effective(held("project", project), held("user", user))) == [
        "project:R001",
        "user:R001",
        "project:R003",
        "project:R002",
        "user:R002",
    ]


def test_the_project_wins_over_the_same_and_over_the_opposite() -> None:
    project = digest([], [rule("R001", GIT), rule("R002", "Use tabs for indentation.")])
    user = digest(
        [rule("R001", GIT)],
        [rule("R002", "Do not push to the main branch."), rule("R003", "Use spaces for indentation.")],
    )
    found = effective(held("project", project), held("user", user))
    assert "project:R001" in names(found)
    assert "user:R001" not in names(found)
    assert "user:R003" not in names(found)
    reasons = {out.rule: out.reason for out in found.left_out}
    assert reasons["R001"] == "the project's R001 says the same"
    assert reasons["R003"] == "the project's R002 says otherwise"


def test_an_untrusted_rule_of_a_project_silences_nothing() -> None:
    project, user = digest([rule("R001", "You may push to main.")]), digest([rule("R001", GIT)])
    assert names(effective(held("project", project, []), held("user", user))) == ["user:R001"]


def test_a_text_that_stands_twice_is_said_once() -> None:
    found = effective(held("project", digest([rule("R001", GIT)], [rule("R002", GIT)])), None)
    assert names(found) == ["project:R001"]
    assert [out.reason for out in found.left_out] == ["it stands in this file twice"]


def test_never_more_than_twenty_and_hard_ones_stay() -> None:
    things = ["apples", "bolts", "cables", "drums", "eggs", "files", "gears", "hats", "inks", "jars", "keys"]
    hard = [rule(f"R{n:03}", f"Do not touch the {thing}.") for n, thing in enumerate(things, 1)]
    soft = [rule(f"R{n:03}", f"Do not paint the {thing}.", n) for n, thing in enumerate(things, 101)]
    found = effective(held("project", digest([], soft)), held("user", digest(hard)))
    assert len(found.rules) == 20
    assert names(found)[:11] == [f"user:R{n:03}" for n in range(1, 12)]
    assert [(out.rule, out.reason) for out in found.left_out] == [
        ("R102", "only 20 rules are delivered"),
        ("R101", "only 20 rules are delivered"),
    ]
