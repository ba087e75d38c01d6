"""The behavioural digest as a file: Markdown that a person may edit anywhere (seed, "The Behavioral Digest").

A digest is its lines, cut into segments; a rule is a view of one of them. Rendering an unchanged digest gives the
same characters back, whatever else stands in it. A change writes the lines of the fields that changed, no other,
and reads the result again before it is handed out: a digest that doesn't give back what was put in is an error,
not a file.

Text is str as decoded from the file (UTF-8 with surrogateescape keeps every byte).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import reduce

from coffer.core.digest_block import edited, extent, filed, new_block, read_rule, refusal
from coffer.core.digest_text import (
    FORMAT,
    SECTIONS,
    TITLE,
    DigestUnreadable,
    Kind,
    Section,
    home_of,
    kinds,
    one_line,
    rule_heading,
    section_of,
)
from coffer.core.regex import regex
from coffer.core.rule import Numbers, Persistence, Rule, Rules

__all__ = ["Digest", "DigestUnreadable", "Refused", "new_digest", "parse"]


@dataclass(frozen=True, slots=True)
class Refused:
    """A rule that stays in the file and is never delivered. line: of its heading. reason: a phrase."""

    line: int
    reason: str
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """Lines that stay together. heading: whether it is one that begins a part, then section says which.

    rule: what a block of a rule says; None for a refused one and for all else.
    """

    lines: tuple[str, ...]
    heading: bool = False
    section: Section | None = None
    rule: Rule | None = None


@dataclass(frozen=True, slots=True)
class Digest:
    """A digest file. ended: whether its last line has a line end. numbers: the highest that it ever had.

    project: the folder in its header, "" for a person's own file. updated, session: as in its header.
    """

    segments: tuple[Segment, ...]
    ended: bool
    refused: tuple[Refused, ...] = ()
    numbers: Numbers = field(default_factory=Numbers)
    project: str = ""
    updated: str = ""
    session: str = ""

    def render(self) -> str:
        """The file's text."""
        lines = [line for segment in self.segments for line in segment.lines]
        return "\n".join(lines) + ("\n" if self.ended else "")

    @property
    def rules(self) -> Rules:
        """The rules in the file's order, without their evidence; refused ones are not among them."""
        return Rules(tuple(segment.rule for segment in self.segments if segment.rule), self.numbers)

    @property
    def loose(self) -> tuple[int, ...]:
        """The numbers of lines that stand among the rules and belong to none: nobody is given what they say."""
        what = kinds([line for segment in self.segments for line in segment.lines])
        refused = {one.line for one in self.refused}
        found, place, among = [], 0, False
        for segment in self.segments:
            among = among if not segment.heading else segment.section is not None
            if among and not (segment.heading or segment.rule or place + 1 in refused):
                lines = range(place, place + len(segment.lines))
                found += [at + 1 for at in lines if what[at] in ("text", "rule")]
            place += len(segment.lines)
        return tuple(found)

    @property
    def default_persistence(self) -> Persistence:
        """What a rule is that doesn't say: a file of ours without a project is the person's own."""
        return "session" if self.project or not self._ours() else "persistent"

    def _ours(self) -> bool:
        return any(_FORMAT.match(line) for segment in self.segments for line in segment.lines)

    def with_rules(self, rules: Rules) -> Digest:
        """The digest with these rules: changed ones in place, new ones appended, missing ones removed.

        Raises ValueError for rules that no digest may hold, or that are another digest's.
        """
        for rule in rules.all:
            _writable(rule)
        parts = [_Part(list(segment.lines), segment) for segment in self.segments]
        wanted = [rule.handle for rule in rules.all if rule.handle >= 0]
        if len(set(wanted)) < len(wanted) or not set(wanted) <= {rule.handle for rule in self.rules.all}:
            raise ValueError("rules of another digest")
        arrivals = []
        end = "\r" if self.segments and self.segments[0].lines[0].endswith("\r") else ""
        for rule in self.rules.all:
            if rule.handle not in wanted:
                _take(parts, rule.handle)
        for rule in rules.all:
            if rule.handle < 0:
                block = [line + end for line in new_block(rule, self.default_persistence)]
                arrivals.append((home_of(rule.state, rule.priority), block))
                continue
            before = self.segments[rule.handle].rule
            assert before is not None
            block = edited(parts[rule.handle].lines, before, rule, self.default_persistence)
            if (before.state, before.priority) == (rule.state, rule.priority):
                parts[rule.handle].lines = block
            else:
                note = _take(parts, rule.handle, with_note=True)
                arrivals.append((home_of(rule.state, rule.priority), block + note))
        if arrivals and not self.ended:
            last = next((part.lines for part in reversed(parts) if part.lines), [""])
            last[-1] = last[-1].removesuffix("\r") + end
        for section, block in arrivals:
            _put(parts, section, block, end)
        lines = _mark_first([line for part in parts for line in part.lines])
        if self.segments and not _blank(self.segments[-1].lines[-1]):
            while lines and _blank(lines[-1]):
                lines.pop()
        numbers = _used(rules.all, self.numbers | rules.numbers)
        if sorted(r.id for r in rules.all) != sorted(r.id for r in self.rules.all):
            lines = _comment(lines, "numbers", f"R{numbers.active} P{numbers.pending}")
        return _read_back(lines, rules.all, ended=self.ended or bool(arrivals))

    def stamped(self, now: datetime, session: str = "", project: str = "") -> Digest:
        """The digest with its header comments set; "" leaves one as it is. now is aware."""
        lines = [line for segment in self.segments for line in segment.lines]
        for key, value in (("project", project), ("updated", _moment(now)), ("session", session)):
            lines = _comment(lines, key, value) if value else lines
        return _read_back(lines, self.rules.all, ended=self.ended or not self.segments)


def new_digest(project: str | None, now: datetime) -> Digest:
    """The empty file of the seed. project: the folder, None for the person's own file. now is aware."""
    header = [
        TITLE,
        FORMAT,
        *([_said("project", project)] if project else []),
        _said("updated", _moment(now)),
    ]
    lines = [*header, *(line for section in SECTIONS[:3] for line in ("", section.heading))]
    return parse("\n".join(lines) + "\n")


def parse(text: str) -> Digest:
    """Read a digest. Raises DigestUnreadable, with the line, for one that can't be understood.

    Rules whose text is hostile are no error: they are `refused` (DESIGN section 10).
    """
    lines = text.split("\n")
    ended = len(lines) > 1 and not lines[-1]
    if ended or lines == [""]:
        lines.pop()
    what = kinds(lines)
    header = _header(lines, what)
    bare = Digest((Segment(tuple(lines)),), ended, project=header.get("project", ""))
    segments, refused = _segments(lines, what, bare.default_persistence)
    numbers = reduce(Numbers.__or__, _numbers(lines), Numbers())
    return Digest(
        tuple(segments),
        ended,
        tuple(refused),
        numbers,
        bare.project,
        header.get("updated", ""),
        header.get("session", ""),
    )


_FORMAT = regex(r"\ufeff?\s*<!--\s*cozempic:\s*behavioral-digest\s+v(\d+)\s*-->", re.ASCII)
_HEADER = regex(r"\ufeff?\s*<!--\s*(project|updated|session):\s*(.*?)\s*-->\s*$")
_NUMBERS = regex(r"\s*<!--\s*cozempic:\s*numbers\s+R(\d{1,9})\s+P(\d{1,9})\s*-->", re.ASCII)


def _header(lines: Sequence[str], what: Sequence[Kind]) -> dict[str, str]:
    found: dict[str, str] = {}
    for place, line in enumerate(lines):
        version = _FORMAT.match(line) if what[place] == "comment" else None
        if version and version[1] != "1":
            raise DigestUnreadable(place + 1, f"format v{version[1]}, this version reads v1")
        if what[place] == "part" and section_of(line):
            break
        match = _HEADER.match(line) if what[place] == "comment" else None
        if match:
            found.setdefault(match[1], match[2])
    return found


def _numbers(lines: Iterable[str]) -> Iterable[Numbers]:
    """The numbers that a file shows to be used up, also by rules that are commented out."""
    for line in lines:
        kept, heading = _NUMBERS.match(line), rule_heading(line)
        if kept:
            yield Numbers(int(kept[1]), int(kept[2]))
        if heading:
            yield Numbers.of(heading[0])


def _segments(
    lines: Sequence[str], what: Sequence[Kind], default: Persistence
) -> tuple[list[Segment], list[Refused]]:
    segments: list[Segment] = []
    refused: list[Refused] = []
    section: Section | None = None
    place = 0
    while place < len(lines):
        end = next((at for at in range(place + 1, len(lines)) if _begins(what[at], section)), len(lines))
        if what[place] == "part":
            section = section_of(lines[place])
            segments.append(Segment((lines[place],), heading=True, section=section))
            place += 1
        elif what[place] == "rule" and section is not None:
            block, kind = lines[place:end], what[place:end]
            length = extent(block, kind)
            rule, why = read_rule(block[:length], kind[:length], section, default, place + 1)
            if why:
                refused.append(Refused(place + 1, why, rule.id))
            segments.append(
                Segment(tuple(block[:length]), rule=None if why else replace(rule, handle=len(segments)))
            )
            place += length
        else:
            _no_rules(lines, what, place, end)
            segments.append(Segment(tuple(lines[place:end])))
            place = end
    return segments, refused


def _begins(kind: Kind, section: Section | None) -> bool:
    return kind == "part" or (kind == "rule" and section is not None)


def _no_rules(lines: Sequence[str], what: Sequence[Kind], start: int, end: int) -> None:
    for place in range(start, end):
        heading = rule_heading(lines[place]) if what[place] == "rule" else None
        if heading:
            raise DigestUnreadable(place + 1, f"rule {heading[0]} stands under none of the rule sections")


@dataclass(slots=True)
class _Part:
    """A segment while it is being changed."""

    lines: list[str]
    segment: Segment


def _blank(line: str) -> bool:
    return not line.strip()


def _take(parts: list[_Part], handle: int, *, with_note: bool = False) -> list[str]:
    """Empty a rule's part and the blank lines after it. with_note: also the words up to the next comment."""
    parts[handle].lines = []
    after = parts[handle + 1] if handle + 1 < len(parts) else None
    if after is None or after.segment.heading or after.segment.rule or rule_heading(after.segment.lines[0]):
        return []
    rest, note = after.lines, 0
    if with_note:
        note = next((at for at, line in enumerate(rest) if line.lstrip().startswith("<!--")), len(rest))
    taken, rest = rest[:note], rest[note:]
    while rest and _blank(rest[0]):
        rest = rest[1:]
    while taken and _blank(taken[-1]):
        taken = taken[:-1]
    after.lines = rest
    return taken


def _put(parts: list[_Part], section: Section, block: list[str], end: str) -> None:
    """Append a block to a section, which is made in the seed's order where it is missing."""
    place = _end_of(parts, section)
    if place is None:
        before = SECTIONS[: SECTIONS.index(section)]
        places = [found for earlier in before if (found := _end_of(parts, earlier)) is not None]
        later = [at for at, part in enumerate(parts) if part.segment.heading and part.segment.section]
        place = max(places) if places else min(later, default=len(parts))
        heading = Segment((section.heading,), heading=True, section=section)
        parts[place:place] = [_Part(_apart(parts, place, [section.heading + end], end), heading)]
        place += 1
    parts[place:place] = [_Part(_apart(parts, place, block, end), Segment(tuple(block)))]


def _end_of(parts: list[_Part], section: Section) -> int | None:
    found = [at for at, part in enumerate(parts) if part.segment.heading and part.segment.section is section]
    if not found:
        return None
    return next((at for at in range(found[0] + 1, len(parts)) if parts[at].segment.heading), len(parts))


def _apart(parts: list[_Part], place: int, block: list[str], end: str) -> list[str]:
    """A block with a blank line before and after it, unless it is first or last."""
    before = next((part.lines[-1] for part in reversed(parts[:place]) if part.lines), end)
    after = next((part.lines[0] for part in parts[place:] if part.lines), end)
    first = [] if _blank(before) else [end]
    return [*first, *block, *([] if _blank(after) else [end])]


def _mark_first(lines: list[str]) -> list[str]:
    """The lines with a byte order mark before the first: what is put before a marked heading would hide it."""
    place = next((at for at, line in enumerate(lines) if line.startswith("\ufeff#")), 0)
    if place == 0:
        return lines
    lines[place] = lines[place].removeprefix("\ufeff")
    return ["\ufeff" + lines[0], *lines[1:]]


def _comment(lines: list[str], key: str, value: str) -> list[str]:
    """The lines with a header comment set in place, or added after the last one of the header."""
    head = next((at for at, line in enumerate(lines) if section_of(line)), len(lines))
    pattern = _NUMBERS if key == "numbers" else re.compile(rf"\ufeff?\s*<!--\s*{key}:.*-->\s*$")
    last = -1
    for place, line in enumerate(lines):
        if pattern.match(line) and (key == "numbers" or place < head):
            said = _said(key, value) + ("\r" if line.endswith("\r") else "")
            mark = "\ufeff" if line.startswith("\ufeff") else ""
            return [*lines[:place], mark + said, *lines[place + 1 :]]
        if place < head and (_HEADER.match(line) or _FORMAT.match(line)):
            last = place
    titled = bool(lines) and lines[0].removeprefix("\ufeff").startswith("# ")
    place = last + 1 if last >= 0 else int(titled)
    said = _said(key, value) + ("\r" if lines and lines[0].endswith("\r") else "")
    if place == 0 and lines and lines[0].startswith("\ufeff"):
        return ["\ufeff" + said, lines[0].removeprefix("\ufeff"), *lines[1:]]
    return [*lines[:place], said, *lines[place:]]


def _said(key: str, value: str) -> str:
    safe = one_line(value).replace("-->", "--%3E").replace("<!--", "%3C!--")
    return f"<!-- cozempic: numbers {safe} -->" if key == "numbers" else f"<!-- {key}: {safe} -->"


def _moment(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _used(rules: Iterable[Rule], numbers: Numbers) -> Numbers:
    return reduce(Numbers.__or__, (Numbers.of(rule.id) for rule in rules), numbers)


def _writable(rule: Rule) -> None:
    heading = rule_heading(f"### [{rule.id}]")
    if heading is None or heading[0] != rule.id:
        raise ValueError(f"“{rule.id}” is no rule id")
    why = refusal(rule)
    if why:
        raise ValueError(f"rule {rule.id}: {why}")


def _read_back(lines: list[str], wanted: Iterable[Rule], *, ended: bool) -> Digest:
    digest = parse("\n".join(lines) + ("\n" if ended else ""))
    if sorted(map(repr, map(filed, digest.rules.all))) != sorted(map(repr, map(filed, wanted))):
        raise ValueError("the digest would not give back the rules that were put in")
    return digest
