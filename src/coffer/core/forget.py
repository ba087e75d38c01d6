"""What is to be forgotten, found and cut out of a text of Markdown: the smallest piece that makes sense without it.

In what programs read, JSON, it goes out of the values only: a key, a path, a digest or a bare name is no words of
anybody's, and without it an undo would not find its backup.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from coffer.core.regex import regex

SHORTEST = 4
"""Characters of a phrase: a shorter one stands in everything."""
FORGOTTEN = "[forgotten]"
"""What stands in its place where a text can't be cut: in logs, in the database."""
_SHAPES = regex(
    r"(?:~|\.{1,2})?/[^\s/]+/\S*|[0-9a-f]{6,64}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\d{4}-\d\d-\d\dT[\d:.]+\S*"
)
"""A path, a digest, an id of a session, a time."""
_PLACES = ("path", "backup", "bak", "cwd", "transcript_path", "project", "folder", "archive")
"""Keys of paths, which may hold blanks."""
_NAME = regex(r"[a-z_]{1,16}")
_WORDS = ("text", "label", "note", "title", "name", "message", "where")
"""Keys of what is said, though it may be one word."""
_BULLET = regex(r"(\s*)(?:[-*+•]|\d{1,3}[.)])\s")
_HEADING = regex(r"\s{0,3}#{1,6}\s")


def spellings(phrase: str) -> tuple[str, ...]:
    """A phrase as it is, and with its accents composed and apart: they look the same."""
    return tuple(dict.fromkeys((phrase, *(unicodedata.normalize(form, phrase) for form in ("NFC", "NFD")))))


def forms(phrase: str) -> tuple[str, ...]:
    """How a phrase may stand in a file: as it is, and as JSON writes it, with and without escapes, once and twice."""
    found = spellings(phrase)
    written = [*found]
    for _ in range(2):
        found = tuple(json.dumps(one, ensure_ascii=plain)[1:-1] for one in found for plain in (True, False))
        written += found
    return tuple(dict.fromkeys([*written, *(one.replace(" ", "\\u0020") for one in spellings(phrase))]))


def struck(text: str, words: Sequence[str], *, names: bool = False) -> str:
    """A text with FORGOTTEN in the place of these words; of JSON, in its values only. words: of `forms`.

    names: a value that is one small word names something to a program, and stays.
    """
    if not any(word in text for word in words):
        return text
    try:
        said = json.loads(text) if text.lstrip()[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict | list):
        return _replaced(text, words)
    after = _without(said, words, "", names=names)
    return text if after == said else json.dumps(after)


def _without(said: Any, words: Sequence[str], key: str, *, names: bool) -> Any:
    if isinstance(said, dict):
        return {name: _without(value, words, name, names=names) for name, value in said.items()}
    if isinstance(said, list):
        return [_without(value, words, key, names=names) for value in said]
    if not isinstance(said, str):
        return said
    if said not in words and (_SHAPES.fullmatch(said) or (key in _PLACES and said[:1] == "/")):
        return said  # a part of it stands for nothing; a token that is the whole of it is meant
    if names and key not in _WORDS and _NAME.fullmatch(said):
        return said
    return struck(said, words, names=names)


def _replaced(text: str, words: Sequence[str]) -> str:
    for word in words:
        text = text.replace(word, FORGOTTEN)
    return text


def cut(text: str, phrase: str) -> str | None:
    """A text without each bullet, heading or paragraph in which a phrase stands; None where nothing is left of it."""
    at, found = text.find(phrase), []
    while at >= 0:
        found.append((at, at + len(phrase)))
        at = text.find(phrase, at + 1)
    if not found:
        return text
    kept: list[str] = []
    place, below = 0, -1
    for indent, lines in _pieces(text.split("\n")):
        end = place + sum(len(line) + 1 for line in lines)
        hit = any(start < end - 1 and stop > place for start, stop in found)
        child = below >= 0 and indent > below  # of a bullet that goes
        if hit and not child:
            below = indent
        elif not child:
            below = -1
        if not (hit or child):
            kept += lines
        place = end
    left = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip("\n")
    if all(not line.strip() or _HEADING.match(line) for line in left.split("\n")):
        return None
    return left


def _pieces(lines: list[str]) -> list[tuple[int, list[str]]]:
    """The lines in pieces: blank lines, headings, paragraphs, bullets with what is wrapped below them.

    Each with the indent of its bullet, -1 for what is none.
    """
    pieces: list[tuple[int, list[str]]] = []
    joins = False
    for line in lines:
        bullet = _BULLET.match(line)
        single = not line.strip() or _HEADING.match(line) is not None
        if joins and bullet is None and not single:
            pieces[-1][1].append(line)
            continue
        pieces.append((len(bullet[1]) if bullet is not None else -1, [line]))
        joins = not single
    return pieces
