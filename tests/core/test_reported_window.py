"""A window that a client reported: when it holds, and when it does not hold any more."""

from __future__ import annotations

import pytest

from coffer.core.usage import Reported, WindowMeasure, reported_window
from coffer.core.view import view
from tests.transcripts import MODEL, Claude, read, text, usage

LONG_AGO, LATER = 0.0, 4e9
"""Unix seconds before and after every record of these transcripts."""


def window(made: Claude, reported: Reported) -> int | None:
    found = reported_window(reported, view(read(made)).branch.records)
    return found.tokens if found else None


def answered(tokens: int = 1000, model: str = MODEL) -> Claude:
    made = Claude(model=model)
    made.user("question")
    made.answer(text("answer"), counts=usage(tokens))
    return made


def test_a_report_of_the_answering_model_holds() -> None:
    said = Reported(f"{MODEL}[1m]", 1_000_000, "statusline", LONG_AGO)
    found = reported_window(said, view(read(answered())).branch.records)
    assert found == WindowMeasure(1_000_000, "statusline")


def test_it_expires_when_another_model_answers() -> None:
    said = Reported("claude-other-1[1m]", 1_000_000, "statusline", LONG_AGO)
    assert window(answered(), said) is None


def test_a_model_that_was_chosen_after_the_last_answer_holds() -> None:
    assert window(answered(), Reported("claude-other-1", 500_000, "statusline", LATER)) == 500_000


def test_before_the_first_answer_it_holds() -> None:
    assert window(Claude(), Reported("claude-other-1", 500_000, "statusline", LONG_AGO)) == 500_000


@pytest.mark.parametrize(
    ("model", "tokens"), [(f"{MODEL}[1m]", 1_000_000), (MODEL, 200_000), ("claude-sonnet-5", 1_000_000)]
)
def test_a_name_alone_says_its_window(model: str, tokens: int) -> None:
    assert window(Claude(), Reported(model, 0, "SessionStart", LATER)) == tokens


def test_a_context_that_is_larger_shows_that_it_was_wrong() -> None:
    assert window(answered(230_000), Reported(MODEL, 200_000, "statusline", LATER)) is None
