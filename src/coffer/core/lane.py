"""The rules lane as text: Markdown that a person writes freely, read as one rule a bullet or paragraph.

A rule may run over several lines and have bullets below it; it is delivered as one line. A heading stands before
the rules below it, because "Do not" above a list is half of each rule; only a title that says no more than that
these are rules is left away. Front matter and comments are no rules. A rule that may not be delivered is refused
and named, never shortened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from coffer.core.bundle import LaneRule
from coffer.core.digest_text import hostile, one_line
from coffer.core.regex import regex


@dataclass(frozen=True, slots=True)
class LaneRefused:
    """A rule of the lane that is not delivered. id: of its place, file and line. reason: a phrase."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Lane:
    """What the files of a lane hold, in their order."""

    rules: tuple[LaneRule, ...] = ()
    refused: tuple[LaneRefused, ...] = ()

    def __add__(self, other: Lane) -> Lane:
        return Lane(self.rules + other.rules, self.refused + other.refused)


def lane_of(text: str, name: str, *, project: bool) -> Lane:
    """The rules of one file. name: how it is named in ids, which are `name:line`."""
    rules: list[LaneRule] = []
    refused: list[LaneRefused] = []
    for found in _found(_visible_lines(text)):
        place = f"{name}:{found.line}"
        said = " ".join(found.words)
        why = "a code block, and a rule is words" if found.code else hostile(said)
        if why is None:
            rules.append(LaneRule(place, one_line(said), project))
        else:
            refused.append(LaneRefused(place, why))
    return Lane(tuple(rules), tuple(refused))


@dataclass(slots=True)
class _Found:
    """A rule while it is read. line: from 1. indent: columns before its bullet, -1 for a paragraph."""

    line: int
    words: list[str] = field(default_factory=list)
    indent: int = -1
    code: bool = False


_FENCE = regex(r"\s{0,3}(`{3,}|~{3,})")
_HEADING = regex(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_BULLET = regex(r"(\s*)(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_RULER = regex(r"\s{0,3}([-*_=])(?:\s*\1){2,}\s*$")
_ONLY_A_TITLE = regex(
    r"\b(?:rules?|regeln?|règles?|reglas?|conventions?|standing)\b|规则|規則|ルール", re.IGNORECASE
)


def _visible_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, without front matter and comments, which become blank ones."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start = 0
    if lines[0].strip() == "---":
        ends = [at for at, line in enumerate(lines) if at and line.strip() in ("---", "...")]
        start = ends[0] + 1 if ends else 0
    inside = False
    for number, line in enumerate(lines[start:], start + 1):
        shown, inside = _uncommented(line, inside=inside)
        yield number, shown


def _uncommented(line: str, *, inside: bool) -> tuple[str, bool]:
    """A line without comments that begin at its beginning; one within a rule stays, and makes it refused."""
    if not inside and not line.lstrip().startswith("<!--"):
        return line, False
    end = line.find("-->")
    return ("", True) if end < 0 else (line[end + 3 :], False)


def _found(lines: Iterator[tuple[int, str]]) -> Iterator[_Found]:
    """Each rule and code block, in order."""
    rule: _Found | None = None
    fence, blank, headings = "", True, _Headings()
    for number, line in lines:
        if fence:
            fence = "" if line.strip().startswith(fence) and not line.strip().strip(fence[0]) else fence
            continue
        opened, heading, bullet = _FENCE.match(line), _HEADING.match(line), _BULLET.match(line)
        indent = len(line) - len(line.lstrip())
        if not line.strip() or _RULER.match(line):
            blank = True
            continue
        begins = (
            opened or heading or (bullet and not _is_below(rule, indent)) or not _goes_on(rule, indent, blank)
        )
        if begins and rule is not None:
            yield rule
            rule = None
        if opened:
            fence = opened[1]
            yield _Found(number, code=True)
        elif heading:
            headings.enter(len(heading[1]), heading[2])
        elif rule is None:
            words = bullet[2] if bullet else line.strip().removeprefix("> ")
            rule = _Found(number, [*headings.before(), words], indent if bullet else -1)
        else:
            rule.words.append(bullet[2] if bullet else line.strip())
        blank = False
    if rule is not None:
        yield rule


def _is_below(rule: _Found | None, indent: int) -> bool:
    """Whether a bullet at this indent belongs to the rule above it."""
    return rule is not None and 0 <= rule.indent < indent


def _goes_on(rule: _Found | None, indent: int, blank: bool) -> bool:  # noqa: FBT001
    """Whether a line goes on with the rule: directly below it, or indented below its bullet."""
    return rule is not None and (not blank or 0 <= rule.indent < indent)


class _Headings:
    """The headings that a line stands under."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> None:
        self._open = [(above, said) for above, said in self._open if above < level]
        self._open.append((level, title))

    def before(self) -> list[str]:
        """The words that stand before a rule."""
        said = [title for level, title in self._open if not (level == 1 and _ONLY_A_TITLE.search(title))]
        return [f"{' – '.join(title.rstrip(':').strip() for title in said)}:"] if said else []
