"""What was forgotten is known again wherever it stands, and nothing else is taken for it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coffer.core.forget import FORGOTTEN
from coffer.core.forgotten import Forgotten, is_of, struck_out, tokens_of, unforgotten, without
from coffer.core.steps import PERSON, Committed, Happened, Planned, Ran, Said, Step, Story, Touched
from tests.effort import examples

LONG = "a sentence of more than twenty-four bytes"
SALT = bytes(range(16))


def forgotten(*phrases: str) -> Forgotten:
    return Forgotten(7, tuple(token for phrase in phrases for token in tokens_of(phrase, 7, SALT)))


@pytest.mark.parametrize(
    ("phrase", "text", "left"),
    [
        ("Hermes 4711", "The code is Hermes 4711.", f"The code is {FORGOTTEN}."),
        ("Hermes 4711", "Hermes\n   4711 and Hermes 4711", f"{FORGOTTEN} and {FORGOTTEN}"),
        ("Hermes  4711 ", "a Hermes 4711", f"a {FORGOTTEN}"),
        ("Hermes 4711", "hermes 4711, Hermes 471", "hermes 4711, Hermes 471"),
        ("4711", "x4711y", f"x{FORGOTTEN}y"),
        ("Zürich", "Zürich, Zu\u0308rich", f"{FORGOTTEN}, {FORGOTTEN}"),
        ("数据库密码", "这是数据库密码。", f"这是{FORGOTTEN}。"),
        ("aaaa", "baaaaaa", f"b{FORGOTTEN}"),
        (LONG, "So: a sentence of more than\ntwenty-four bytes!", f"So: {FORGOTTEN}!"),
        (LONG, "a sentence of more than twenty-five", "a sentence of more than twenty-five"),
        ("word", "\udce4 word \ud800", f"\udce4 {FORGOTTEN} \ud800"),
        ("word", "", ""),
    ],
)
def test_words_are_struck(phrase: str, text: str, left: str) -> None:
    assert struck_out(text, forgotten(phrase)) == left


def test_several_and_where_one_is_a_part_of_another() -> None:
    assert struck_out("key=abcdef, key", forgotten("key=abcdef", "abcd")) == f"{FORGOTTEN}, key"
    assert struck_out("abcd, key", forgotten("key=abcdef", "abcd")) == f"{FORGOTTEN}, key"


@settings(max_examples=examples(20, 50), deadline=None)
@given(
    st.text("ab \nü", max_size=30), st.text("ab \nü", min_size=4, max_size=6), st.text("ab \nü", max_size=30)
)
def test_nothing_of_a_phrase_is_left_and_a_text_without_it_stays(
    before: str, phrase: str, after: str
) -> None:
    words = " ".join(phrase.split())
    if not words:
        return
    known = forgotten(phrase)
    said = struck_out(before + words + after, known)
    assert words not in " ".join(said.replace(FORGOTTEN, "\0").split(" "))
    if words not in " ".join(f"{before}{after}".split()):
        assert struck_out(before + "\0" + after, known) == before + "\0" + after


def test_a_token_holds_nothing_of_its_phrase_and_knows_it() -> None:
    (token,) = tokens_of("Hermes 4711", 7, SALT)
    assert "Hermes" not in repr(token)
    assert is_of(token, " Hermes\n4711")
    assert not is_of(token, "Hermes 4712")
    (other,) = tokens_of("Hermes 4711", 7, bytes(16))
    assert other.digest != token.digest, "two homes can't be compared"


def test_every_text_of_a_story_is_struck_and_its_names_stay() -> None:
    steps: list[Step] = [
        Said(PERSON, "use Hermes 4711", id="Hermes 4711"),
        Ran("curl Hermes 4711", ok=False, why="no Hermes 4711"),
        Committed("abc1234", "Hermes 4711"),
        Planned(("ask Hermes 4711", "go on")),
        Touched("docs/Hermes 4711.md", "edited"),
    ]
    story = Story("claude", [Happened(step, "", 0) for step in steps])
    told = [one.step for one in without(story, forgotten("Hermes 4711")).steps]
    assert told == [
        Said(PERSON, f"use {FORGOTTEN}", id="Hermes 4711"),
        Ran(f"curl {FORGOTTEN}", ok=False, why=f"no {FORGOTTEN}"),
        Committed("abc1234", FORGOTTEN),
        Planned((f"ask {FORGOTTEN}", "go on")),
        Touched(f"docs/{FORGOTTEN}.md", "edited"),
    ]


def test_of_a_session_that_was_forgotten_only_what_came_later_is_told() -> None:
    times = ("2026-11-30T10:00:00.000Z", "", "2026-11-30T12:00:00.000Z")
    story = Story("claude", [Happened(Said(PERSON, "x"), time, 0) for time in times])
    known = Forgotten(sessions={"journal s": "2026-11-30T11:00:00.000Z"})
    assert [one.time for one in unforgotten(story, known, "journal", "s").steps] == [times[2]]
    assert unforgotten(story, known, "handoff", "s") == story
