"""The lines of a behavioural digest: sections, headings, fields, and which texts may be a rule.

The format is the seed's ("Rule Structure"). A line comes without its line feed; a carriage return before that
stays with the line. Line numbers count from 1.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal

from coffer.core.regex import regex
from coffer.core.rule import Priority, State

FORMAT = "<!-- cozempic: behavioral-digest v1 -->"
TITLE = "# Behavioral Digest"
MARKER = "<!-- __cozempic_behavioral_digest__: true -->"
"""Begins a delivered block (fixed, DESIGN section 4)."""
LONGEST_RULE = 400
"""Characters that a rule text may have; one or two sentences need fewer."""


class DigestUnreadable(ValueError):
    """A digest that can't be understood. line: where, from 1. reason: a phrase without a full stop."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Section:
    """A heading under which rules stand, and what a rule under it is. priority: None where it may be either."""

    heading: str
    state: State
    priority: Priority | None
    pattern: re.Pattern[str]


SECTIONS = (
    Section(
        "## Active Rules — Hard (always injected)",
        "active",
        "hard",
        regex(r"##\s+active\s+rules\s*[-–—:]+\s*hard\b", re.IGNORECASE),
    ),
    Section(
        "## Active Rules — Soft (injected by scope relevance)",
        "active",
        "soft",
        regex(r"##\s+active\s+rules\s*[-–—:]+\s*soft\b", re.IGNORECASE),
    ),
    Section(
        "## Pending Rules (< 3 occurrences, under observation)",
        "pending",
        None,
        regex(r"##\s+pending\s+rules\b", re.IGNORECASE),
    ),
    Section("## Archived Rules", "archived", None, regex(r"##\s+archived\s+rules\b", re.IGNORECASE)),
)
"""In the file's order. A heading is known by its first words, so that a hand-typed hyphen does no harm."""


def section_of(line: str) -> Section | None:
    """The section that a heading begins."""
    bare = line.removeprefix("\ufeff").strip()
    return next((section for section in SECTIONS if section.pattern.match(bare)), None)


def home_of(state: State, priority: Priority) -> Section:
    """The section in which a rule of that state and priority stands."""
    return next(s for s in SECTIONS if s.state == state and s.priority in (None, priority))


Kind = Literal["part", "rule", "comment", "fence", "blank", "text"]
"""part: a heading of the first or second level. rule: of the third. A comment or a fenced block is all its lines."""

_CONFLICT = regex(r"(<{7}|\|{7}|>{7})( |$)")
_HEADING = regex(r" {0,3}(#{1,3})([ \t]|$)")
_FENCE = regex(r" {0,3}(`{3,}|~{3,})")


def kinds(lines: Sequence[str]) -> list[Kind]:
    """What each line is. Raises DigestUnreadable for a comment or fence without an end and for a merge conflict."""
    found: list[Kind] = []
    opened, until = 0, ""
    for number, line in enumerate(lines, 1):
        bare = line.rstrip("\r").removeprefix("\ufeff" if number == 1 else "")
        if _CONFLICT.match(bare):
            raise DigestUnreadable(number, "an unresolved merge conflict")
        if until:
            found.append("comment" if until == "-->" else "fence")
            until = "" if _closes(bare, until) else until
            continue
        kind, until = _begins(bare)
        opened = number if until else opened
        found.append(kind)
    if until:
        what = "a comment that is never closed" if until == "-->" else "a code block that is never closed"
        raise DigestUnreadable(opened, what)
    return found


def _begins(line: str) -> tuple[Kind, str]:
    """What a line outside comments and fences is, and what closes it if it opens one."""
    heading, fence = _HEADING.match(line), _FENCE.match(line)
    if heading:
        return ("rule" if len(heading[1]) == 3 else "part"), ""
    if fence:
        return "fence", fence[1]
    if line.lstrip().startswith("<!--"):
        return "comment", "" if "-->" in line.lstrip()[4:] else "-->"
    return ("text" if line.strip() else "blank"), ""


def _closes(line: str, until: str) -> bool:
    if until == "-->":
        return "-->" in line
    return line.strip().startswith(until) and not line.strip().strip(until[0])


_RULE_HEADING = regex(r" {0,3}###[ \t]+\[([RP]\d{1,9})\][ \t]*(.*?)\s*$", re.IGNORECASE | re.ASCII)


def rule_heading(line: str) -> tuple[str, str] | None:
    """Id and title of a rule's heading."""
    match = _RULE_HEADING.match(line.removeprefix("\ufeff"))
    return (match[1].upper(), match[2]) if match else None


def write_heading(line: str, name: str, title: str) -> str:
    """A rule's heading with another id or title, its blanks as they were."""
    match = _RULE_HEADING.match(line)
    assert match is not None
    if name != match[1].upper():
        line = line[: match.start(1)] + name + line[match.end(1) :]
        match = _RULE_HEADING.match(line)
        assert match is not None
    if title == match[2]:
        return line
    blank = "" if match.start(2) > match.end(1) + 1 or not title else " "
    return line[: match.start(2)] + blank + title + line[match.end(2) :]


FIELDS = (
    "Priority",
    "Source",
    "First seen",
    "Last reinforced",
    "Importance",
    "Scope",
    "Persistence",
    "Rule",
    "Before",
    "After",
    "Signal",
    "Trigger",
    "Superseded by",
)
"""In the seed's order. Persistence and Superseded by are ours, and stand only where they say something."""
ONCE = ("Priority", "Source", "First seen", "Last reinforced", "Importance", "Persistence", "Rule")
"""Fields that decide something; two of them contradict each other."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a rule. line: its place in the block, from 0; start, end: its value in that line.

    more: how many lines after it go on with the value (a rule text that was wrapped by hand).
    """

    name: str
    value: str
    line: int
    start: int
    end: int
    more: int = 0


_FIELD = regex(r"[ \t]{0,3}(?:[-*+][ \t]+)?\*\*([A-Za-z][A-Za-z ]{0,30}?)(?:\*\*[ \t]*:|:\*\*)")
_DATES = regex(r"\*\*(First seen|Last reinforced)(?:\*\*[ \t]*:|:\*\*)[ \t]*([^|]*)", re.IGNORECASE)
_KNOWN = {name.lower(): name for name in FIELDS}
_GOES_ON = regex(r"(?![ \t]{0,3}([-*+>|][ \t]|\d+[.)][ \t]|#|={3}|-{3}|_{3}|\*{2,3}))")


def fields(block: Sequence[str], what: Sequence[Kind]) -> list[Field]:
    """The fields of a block in order, unknown ones with the name as it stands."""
    return [
        found
        for place, line in enumerate(block)
        if what[place] == "text"
        for found in _fields_of(place, line, block, what)
    ]


def _fields_of(place: int, line: str, block: Sequence[str], what: Sequence[Kind]) -> Iterator[Field]:
    match = _FIELD.match(line)
    if match is None:
        return
    name = _KNOWN.get(match[1].lower(), match[1])
    if name in ("First seen", "Last reinforced"):
        for each in _DATES.finditer(line):
            yield _field(_KNOWN[each[1].lower()], line, place, each.start(2), each.end(2))
        return
    field = _field(name, line, place, match.end(), len(line))
    yield _wrapped(field, block, what) if name == "Rule" else field


def _field(name: str, line: str, place: int, start: int, end: int) -> Field:
    value = line[start:end]
    start += len(value) - len(value.lstrip(" \t"))
    return Field(name, value.strip(), place, start, max(start, start + len(value.strip())))


def _wrapped(field: Field, block: Sequence[str], what: Sequence[Kind]) -> Field:
    """A rule text with the lines that go on with it: half a rule may say the opposite."""
    more = 0
    for line, kind in zip(block[field.line + 1 :], what[field.line + 1 :], strict=True):
        if kind != "text" or _FIELD.match(line) or not _GOES_ON.match(line):
            break
        more += 1
    rest = [line.strip() for line in block[field.line + 1 : field.line + 1 + more]]
    return Field(field.name, " ".join([field.value, *rest]).strip(), field.line, field.start, field.end, more)


_COUNT = regex(r"[ \t]*\((\d{1,9}) occurrences?\)", re.IGNORECASE | re.ASCII)
_IMPORTANCE = regex(r"([-−+]?\d{1,9})(?:[ \t]*\(([^()]*)\))?(?![\w.,])", re.ASCII)
_PART = regex(r"(\d{1,9})[ \t]*(correction|upvote|downvote)s?\b", re.IGNORECASE | re.ASCII)


def read_source(value: str) -> tuple[str, int | None]:
    """A source without its count of occurrences, and that count if it is there."""
    match = _COUNT.search(value)
    return (value, None) if match is None else (_COUNT.sub("", value, count=1).strip(), int(match[1]))


def write_source(value: str, source: str, count: int) -> str:
    """The source field for a source and a count, with as much of the old value as still holds."""
    said = f"({count} occurrence{'' if count == 1 else 's'})"
    old, counted = read_source(value)
    if old == source and counted is not None:
        return _COUNT.sub(lambda match: match[0][: match[0].index("(")] + said, value, count=1)
    return f"{source} {said}"


@dataclass(frozen=True, slots=True)
class Importance:
    """An importance and, where the field has them, its parts."""

    number: int
    parts: dict[str, int] | None = None


def read_importance(value: str) -> Importance | None:
    """`5 (3 corrections + 2 upvotes)` or `2`; None for what begins with no number."""
    match = _IMPORTANCE.match(value)
    if match is None:
        return None
    parts = {part[2].lower(): int(part[1]) for part in _PART.finditer(match[2] or "")}
    return Importance(int(match[1].replace("−", "-")), parts or None)


def write_importance(number: int, corrections: int, upvotes: int, downvotes: int, *, long: bool) -> str:
    """The number, with its parts where it had them or where they say more than the number."""
    if not (long or upvotes or downvotes):
        return str(number)
    parts = [_counted(corrections, "correction")]
    if upvotes:
        parts.append("+ " + _counted(upvotes, "upvote"))
    if downvotes:
        parts.append("- " + _counted(downvotes, "downvote"))
    return f"{number} ({' '.join(parts)})"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def first_word(value: str) -> str:
    """A value up to its first blank."""
    return value.split(maxsplit=1)[0] if value.strip() else ""


def read_day(value: str) -> date | None:
    """The UTC day of a date or an ISO time, words after it aside; None for anything else."""
    word = first_word(value).rstrip(",;.")
    try:
        moment = datetime.fromisoformat(word)
        return (moment.astimezone(UTC) if moment.tzinfo else moment).date()
    except (ValueError, OverflowError):
        return None


_BIDI = {*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}
_INVISIBLE = {"\u00ad", "\u200b", "\u2028", "\u2029", "\u2060", "\ufeff", *map(chr, range(0xE0000, 0xE0080))}
_FORBIDDEN = (
    ("__cozempic_behavioral_digest__", "the marker of a delivered block"),
    ("[behavioral contract]", "the first line of a delivered block"),
    ("[end of behavioral contract", "the end line of a delivered block"),
    ("<!--", "the beginning of a comment"),
    ("-->", "the end of a comment"),
    ("<system-reminder", "a tag of the client's"),
    ("</system-reminder", "a tag of the client's"),
)
_LOOKS_LIKE_HEADING = regex(r"\s*(#{1,6}(\s|$)|\*\*(always apply|apply when)\b)", re.IGNORECASE)


def hostile(text: str) -> str | None:
    """Why a text may not be a rule: the phrase for the person; None for a text that may (DESIGN section 10)."""
    if not text.strip():
        return "it is empty"
    if len(text) > LONGEST_RULE:
        return f"it has {len(text)} characters, more than {LONGEST_RULE}"
    return hidden(text) or ("it begins like a heading" if _LOOKS_LIKE_HEADING.match(text) else None)


def hidden(text: str) -> str | None:
    """Why a text may not stand beside a rule: what breaks out of its line or shows something that isn't there."""
    for char in text:
        if char in _BIDI:
            return f"it holds a change of writing direction (U+{ord(char):04X})"
        if char in _INVISIBLE or (unicodedata.category(char) in ("Cc", "Cs") and char != "\t"):
            return f"it holds a control or invisible character (U+{ord(char):04X})"
    flat = unicodedata.normalize("NFKC", text).casefold()
    return next((f"it holds {what}" for word, what in _FORBIDDEN if word in flat), None)


def one_line(text: str) -> str:
    """A text as the value of a field: one line, without control characters."""
    kept = "".join(
        " " if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char in _BIDI | _INVISIBLE else char
        for char in text
    )
    return " ".join(kept.split())
