"""The end of the conversation on the screen: every captured instant that has a screen, and drawn ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coffer.core.last_words import is_shown, last_words
from tests.transcripts import Claude, call, read, text

HARNESS = Path(__file__).parents[1] / "fixtures" / "harness"
SEEN = sorted(
    path.parent for path in HARNESS.glob("*/screen.txt") if (path.parent / "transcript.jsonl").exists()
)
TAKEN_OFF = {"rewound", "prompt-put-back-cleared"}
"""What ended the conversation was taken off by the person; the file still ends with it."""


def words(made: Claude) -> str:
    data = made.data
    return last_words(read(data), lambda record: data[record.start : record.end])


def test_there_are_instants() -> None:
    assert len(SEEN) > 60
    assert {folder.name for folder in SEEN} >= TAKEN_OFF


@pytest.mark.parametrize("folder", SEEN, ids=lambda folder: folder.name)
def test_every_captured_screen(folder: Path) -> None:
    """Where a reload may be typed the end is shown, and where a person took it off it is not."""
    told = json.loads((folder / "expect.json").read_bytes())
    data = (folder / "transcript.jsonl").read_bytes()
    found = last_words(read(data), lambda record: data[record.start : record.end])
    shown = is_shown(found, (folder / "screen.txt").read_text().splitlines())
    if folder.name in TAKEN_OFF:
        assert not shown
    elif told.get("typed", told["safe"]):
        assert shown


def test_an_answer_ends_it() -> None:
    made = Claude()
    made.user("Do it")
    made.answer(text("Begin."), call("c1"))
    made.result("c1")
    made.answer(text("**All** of `src/main.py` is done, see [the notes](https://x.invalid/notes)."))
    found = words(made)
    assert is_shown(found, ["● All of src/main.py is done, see the", "  notes.", "", "❯"])
    assert not is_shown(found, ["● Begin.", "❯"])


@pytest.mark.parametrize(
    ("said", "drawn"),
    [
        ("Run this:\n\n```bash\nmake test\n```", ["● Run this:", "  make test"]),
        ("Run this:\n\n~~~python\nx = 1\n~~~", ["● Run this:", "  x = 1"]),
        ("> So:\n> ```sh\n> make\n> ```", ["● ▎ So:", "  ▎ make"]),
        ("Steps:\n\n1. one\n1. two\n1. three", ["● Steps:", "  1. one", "  2. two", "  3. three"]),
        ("7. one\n8. two\n   1) three", ["● 7. one", "  8. two", "    a. three"]),
        ("See [the notes](https://x.invalid/n) of all", ["● See the notes (https://x.invalid/n) of all"]),
        ("See [the notes](https://x.invalid/n) of all", ["● See the notes of all"]),
        ("[One](https://x.invalid/n) is what we all have", ["● One is what", "  we all have"]),
        ("Use\n3.11 or\n3. of them", ["● Use", "  3.11 or", "  3. of them"]),
    ],
)
def test_markdown_is_found_as_the_client_draws_it(said: str, drawn: list[str]) -> None:
    """Seen with 2.1.197: no fence, no name of a language, and numbers of its own."""
    made = Claude()
    made.user("Do it")
    made.answer(text(said))
    assert len(words(made)) > 5
    assert is_shown(words(made), [*drawn, "", "❯"])
    assert not is_shown(words(made), [*drawn[:-1], "", "❯"])


def test_a_prompt_without_an_answer_ends_it() -> None:
    made = Claude()
    made.user("Do it")
    made.answer(text("Done."))
    made.user("And now the other thing, please")
    assert is_shown(words(made), ["❯ And now the other", "  thing, please"])
    assert not is_shown(words(made), ["● Done."])
    made.user("\n".join(["Here is the log", *(f"line {number}" for number in range(100)), "What is this?"]))
    assert is_shown(words(made), ["  line 98", "  line 99", "  What is this?"])  # its beginning is far above


def test_a_refused_prompt_ends_it_whatever_the_client_draws_of_the_refusal() -> None:
    made = Claude()
    made.user("Do it")
    made.answer(text("Done."))
    made.user("And now the other thing, please")
    made.answer(text("Prompt is too long"), isApiErrorMessage=True)
    assert is_shown(words(made), ["❯ And now the other thing, please", "  ⎿  Context limit reached"])
    assert not is_shown(words(made), ["❯ Do it", "● Done."])
    made.user("Try again")
    made.answer(text("API Error: 500 scripted"), isApiErrorMessage=True)
    assert not is_shown(words(made), ["❯ Try again", "  ⎿  Context limit reached"])
    assert is_shown(words(made), ["  ⎿  API Error: 500 scripted"])


def test_what_says_nothing_is_always_shown() -> None:
    made = Claude()
    assert words(made) == ""
    made.user("Do it")
    made.answer(text("✅"))
    assert words(made) == ""
    made.answer(text("Done for now"))
    made.compact()
    assert words(made) == ""
    assert is_shown("", [])
