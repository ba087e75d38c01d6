"""What is to be forgotten, found and cut out of a text of Markdown: the smallest piece that makes sense without it."""

from __future__ import annotations

import json
import re

SHORTEST = 4
"""Characters of a phrase: a shorter one stands in everything."""
FORGOTTEN = "[forgotten]"
"""What stands in its place where a text can't be cut: in logs, in the database."""
_BULLET = re.compile(r"(\s*)(?:[-*+•]|\d{1,3}[.)])\s")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")


def forms(phrase: str) -> tuple[str, ...]:
    """How a phrase may stand in a file: as it is, and as JSON writes it, with and without escapes."""
    written = [phrase, json.dumps(phrase)[1:-1], json.dumps(phrase, ensure_ascii=False)[1:-1]]
    return tuple(dict.fromkeys(written))


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
