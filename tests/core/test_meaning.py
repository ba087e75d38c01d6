"""Words and meaning in one order: what holds every word is never overtaken, nothing found by words is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coffer.core.meaning import MOST_PIECES, PIECE, Sign, merged, pieces
from coffer.core.search import covered, terms_of

SHARES = st.floats(0, 1)
SIGNS = st.lists(st.tuples(st.one_of(st.none(), SHARES), st.floats(-1, 1)), max_size=40)


def signs_of(drawn: list[tuple[float | None, float]]) -> list[Sign]:
    """Some found by words, in the order of their places, the others by meaning alone."""
    places = iter(range(len(drawn)))
    return [
        Sign(None, 0.0, likeness) if share is None else Sign(next(places), share, likeness)
        for share, likeness in drawn
    ]


@given(SIGNS)
def test_what_holds_every_word_comes_first_as_the_words_have_it(
    drawn: list[tuple[float | None, float]],
) -> None:
    signs = signs_of(drawn)
    order = merged(signs)
    whole = [at for at, sign in enumerate(signs) if sign.place is not None and sign.covered == 1]
    assert order[: len(whole)] == whole


@given(SIGNS)
def test_nothing_that_words_found_is_left_out_and_nothing_stands_twice(
    drawn: list[tuple[float | None, float]],
) -> None:
    signs = signs_of(drawn)
    order = merged(signs)
    assert len(set(order)) == len(order)
    assert {at for at, sign in enumerate(signs) if sign.place is not None} <= set(order)


def test_of_two_with_as_many_words_the_likelier_comes_first() -> None:
    unlike, like = Sign(0, 0.5, 0.1), Sign(1, 0.5, 0.6)
    assert merged([unlike, like]) == [1, 0]


def test_what_only_means_the_like_comes_before_a_chance_word_and_after_half_an_answer() -> None:
    chance, meant, half = Sign(0, 0.1, 0.1), Sign(None, 0.0, 0.3), Sign(1, 0.5, 0.3)
    assert merged([chance, meant, half]) == [2, 1, 0]


def test_what_means_something_else_is_no_answer() -> None:
    assert merged([Sign(None, 0.0, 0.05)]) == []


@given(st.lists(st.text(st.sampled_from("ab c\n#*é重"), max_size=900), max_size=12))
def test_pieces_are_short_and_hold_every_word(lines: list[str]) -> None:
    text = "\n".join(lines)
    cut = pieces(text)
    assert all(0 < len(piece) <= PIECE + 1 for piece in cut)
    if len(cut) < MOST_PIECES:
        words = text.replace("#", " ").replace("*", " ")
        assert "".join("".join(cut).split()) == "".join(words.split())


def test_a_document_has_no_end_of_pieces() -> None:
    assert len(pieces("a line of a very long log\n" * 100_000)) == MOST_PIECES


def test_how_much_of_a_question_an_entry_holds() -> None:
    terms = terms_of("retry policy of maxQueueSize")
    assert covered("Retrying is a policy; see `MaxQueueSize`.", terms) == 1
    assert covered("The retries are five.", terms) == 1 / 3
    assert covered("Nothing of it.", terms) == 0
    assert covered("anything", ()) == 0
