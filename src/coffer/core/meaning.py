"""Finding by meaning: into which pieces an entry is cut, each with a vector, and how words and meaning rank together.

A vector is a weak witness: of two entries about the same thing it can't tell which one was asked for, and something
is always nearest. So words come first where they answer, and an entry that holds every word of a question is never
overtaken by one that only means the like.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coffer.core.regex import regex

PIECE = 400
"""Characters of a piece: of a longer one the vector is the middle of several subjects."""
MOST_PIECES = 60
"""Of an entry; a text that is longer is a document, and its beginning says what it is about."""
_MARKUP = regex(r"[*`#_>|\[\]()]+")
_LEAST = 0.15
"""Cosine under which an entry that holds none of the words is left out."""
_WORDS = 0.3
"""What holding all words is worth, in cosine."""
_PLACES = 100
"""So many places down, the words that an entry holds count nothing any more."""


@dataclass(frozen=True, slots=True)
class Sign:
    """What speaks for an entry.

    place: among those that were found by words, from 0; None where it was not. covered: the share of the question's
    words that it holds, 0 to 1. likeness: cosine of the question and its nearest piece, -1 to 1.
    """

    place: int | None
    covered: float
    likeness: float


def merged(signs: Sequence[Sign]) -> list[int]:
    """The order in which entries answer, as indices of `signs`; those for which too little speaks are left out."""
    whole = [at for at, sign in enumerate(signs) if sign.place is not None and sign.covered >= 1]
    rest = [
        at
        for at, sign in enumerate(signs)
        if (sign.place is not None and sign.covered < 1) or (sign.place is None and sign.likeness >= _LEAST)
    ]
    return [
        *sorted(whole, key=lambda at: signs[at].place or 0),
        *sorted(rest, key=lambda at: _worth(signs[at]), reverse=True),
    ]


def _worth(sign: Sign) -> float:
    if sign.place is None:
        return sign.likeness
    return sign.likeness + _WORDS * sign.covered * max(0.0, 1 - sign.place / _PLACES)


def pieces(text: str) -> list[str]:
    """A text in pieces, without its markup: whole lines as far as they fit, a long line broken between words."""
    found: list[str] = []
    held = ""
    for line in _lines(text):
        if held and len(held) + len(line) > PIECE:
            found.append(held)
            held = ""
            if len(found) == MOST_PIECES:
                return found
        held = f"{held} {line}" if held else line
    return [*found, held] if held else found


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        rest = " ".join(_MARKUP.sub(" ", line).split())
        while len(rest) > PIECE:
            space = rest.rfind(" ", PIECE // 2, PIECE)
            end = space if space > 0 else PIECE
            yield rest[:end]
            rest = rest[end:].lstrip()
        if rest:
            yield rest
