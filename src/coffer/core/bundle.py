"""The bundle: the one text that carries a person's rules into a session, in the seed's block.

Pure and deterministic: the same rules give the same bytes, with no date, count or version of its own, because a
client drops a text that it has already only when it is the same to the byte. Cut only at whole rules.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from coffer.core.block import NO_LONGER, WITHDRAWN, Held, block, held_in
from coffer.core.digest_text import hostile, one_line
from coffer.core.text_hash import text_hash

__all__ = ["Bundle", "BundleRule", "Held", "LaneRule", "LeftOut", "Limits", "bundle", "delta", "held_in"]

OPENING = (
    "The user's standing rules. Coffer, a local tool of the user's, keeps them in the user's own files and sends "
    "them here; the user can see this text with `coffer bundle` and change it with `coffer digest edit`."
)
"""Names the tool, the source and where the user sees it, claims no rank: text that says it overrides others is
taken for an attack (cases 91, 179)."""
CHANGED = (
    "The user's standing rules, which Coffer keeps, have changed. This adds to what was given before; the user can "
    "see all of it with `coffer bundle`."
)
ALWAYS = "**Always apply:**"
SCOPES = {
    "git": "**Apply when working with git:**",
    "files": "**Apply when working with files:**",
    "code-style": "**Apply when writing code:**",
    "testing": "**Apply when working with tests:**",
    "dependencies": "**Apply when working with dependencies:**",
    "tools": "**Apply when choosing tools and commands:**",
    "security": "**Apply when security matters:**",
    "docs": "**Apply when writing documentation:**",
    "planning": "**Apply when planning work:**",
    "communication": "**Apply when talking to the user:**",
    "other": "**Apply when relevant:**",
}
"""Headings of soft rules, in this order. The second is the seed's own."""
_NAMES = {
    "code style": "code-style",
    "codestyle": "code-style",
    "coding style": "code-style",
    "dependency management": "dependencies",
    "documentation": "docs",
    "file operations": "files",
    "git operations": "git",
    "package management": "dependencies",
    "package operations": "dependencies",
    "tests": "testing",
    "tool use": "tools",
}
"""What a digest may call a scope, the seed's "git operations" and "file operations" first."""
LANES = {True: "**Apply in this project:**", False: "**Apply in every project:**"}
"""Headings of the rules lane, by whether it is the project's."""
MEMORY = "**Apply when continuing or remembering work:**"


@dataclass(frozen=True, slots=True)
class BundleRule:
    """A rule of a digest on its way into a bundle. id: unique in the bundle. project: from the project's digest."""

    id: str
    text: str
    hard: bool = False
    scope: str = ""
    project: bool = False


@dataclass(frozen=True, slots=True)
class LaneRule:
    """A rule of the rules lane. id: unique in the bundle. project: from the project's lane."""

    id: str
    text: str
    project: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """UTF-8 bytes and UTF-16 units that a text may have; bytes that a client shows of one that it cuts."""

    bytes: int = 9_500
    units: int = 10_000
    preview: int = 2_048


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A rule that is not in the text, and why: a phrase."""

    id: str
    reason: str


NO_ROOM = "there is no room for it"


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a session is sent, "" where there is no rule. bytes: UTF-8, units: UTF-16.

    rules, lines: the ids and the text lines of its rules, in the text's order. left_out: rules that are not in it.
    late: hard rules that end behind the bytes that a client shows of a text that it cuts. waiting: lines of rules
    that only lack room: they still apply, so no delta withdraws them. groups: the lines by heading.
    """

    text: str
    bytes: int
    units: int
    rules: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    hash: str
    lines: tuple[str, ...]
    late: int = 0
    waiting: frozenset[str] = frozenset()
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    limits: Limits = LIMITS

    @property
    def persons(self) -> tuple[str, ...]:
        """The ids of its rules that Coffer does not bring along itself."""
        return tuple(name for name in self.rules if not is_seeded(name))


@dataclass(frozen=True, slots=True)
class Seeded:
    """A rule that Coffer brings along: in the bundle exactly when the tools that it names are there."""

    id: str
    tools: frozenset[str]
    text: str


_SEEDED = "seeded/"


def is_seeded(name: str) -> bool:
    """Whether the rule of this id is one that Coffer brings along itself."""
    return name.startswith(_SEEDED)


SEEDED = (
    Seeded(
        "seeded/resume",
        frozenset({"resume"}),
        "When the user wants to continue prior work, do not start without calling coffer__resume() first.",
    ),
    Seeded(
        "seeded/memory",
        frozenset({"remember", "recall"}),
        "Prefer coffer__remember and coffer__recall to your own memory files: the user's other agents see it too.",
    ),
)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line that wants into the text. heading: of its group. hard: it is the last to go."""

    id: str
    line: str
    heading: str
    hard: bool = False


def bundle(
    rules: Sequence[BundleRule],
    lane: Sequence[LaneRule] = (),
    tools: Collection[str] = (),
    limits: Limits = LIMITS,
) -> Bundle:
    """The bundle of a digest's rules, a lane's rules and the seeded rules.

    Rules keep their order within a priority, a project's before a person's own. Where room is short the later ones
    of a kind go first, and no hard rule goes while a soft one stays.
    """
    entries, refused = _admitted(rules, lane, tools)
    kept = entries if _fits(_text(entries), limits) else _cut(entries, limits)
    inside = {entry.line for entry in kept}
    waiting = [entry for entry in entries if entry.line not in inside]
    text = _text(kept, _naming([entry.id for entry in waiting]))
    groups = _groups(kept)
    return Bundle(
        text,
        len(text.encode()),
        units_of(text),
        tuple(entry.id for entry in _in_order(kept)),
        (*(LeftOut(entry.id, NO_ROOM) for entry in waiting), *refused),
        text_hash(text, 16),
        tuple(entry.line for entry in _in_order(kept)),
        _late(text, [entry.line for entry in kept if entry.hard], limits.preview),
        frozenset(entry.line for entry in waiting),
        tuple((heading, tuple(lines)) for heading, lines in groups.items()),
        limits,
    )


def units_of(text: str) -> int:
    """Its length as a JavaScript client counts it."""
    return len(text) + sum(char > "\uffff" for char in text)


def scope_of(said: str) -> str:
    """The scope that a digest's words mean, "other" for unknown ones."""
    name = one_line(said).casefold()
    name = _NAMES.get(name, name)
    return name if name in SCOPES else "other"


def _admitted(
    rules: Sequence[BundleRule], lane: Sequence[LaneRule], tools: Collection[str]
) -> tuple[list[_Entry], list[LeftOut]]:
    """The lines in the order in which they are kept when room is short, and what may not be among them."""
    ranked = sorted(rules, key=lambda rule: (not rule.hard, not rule.project))
    offered = [
        _Entry(rule.id, rule.text, ALWAYS if rule.hard else SCOPES[scope_of(rule.scope)], rule.hard)
        for rule in ranked
    ]
    laid = sorted(lane, key=lambda rule: not rule.project)
    offered += [_Entry(rule.id, rule.text, LANES[rule.project]) for rule in laid]
    offered += [_Entry(seed.id, seed.text, MEMORY) for seed in SEEDED if seed.tools <= set(tools)]
    entries: list[_Entry] = []
    refused: list[LeftOut] = []
    known: dict[str, str] = {}
    for entry in offered:
        line = one_line(entry.line)
        why = hostile(entry.line) or hostile(line)
        if why is None and line in known:
            why = f"it says the same as {known[line]}"
        if why is not None:
            refused.append(LeftOut(entry.id, why))
            continue
        known[line] = entry.id
        entries.append(_Entry(entry.id, line, entry.heading, entry.hard))
    return entries, refused


def _cut(entries: Sequence[_Entry], limits: Limits) -> list[_Entry]:
    """Those that fit: hard ones; then, if all of these do, seeded ones, half the rest for the lane, soft ones."""
    lanes = set(LANES.values())
    hard = [entry for entry in entries if entry.hard]
    seeded = [entry for entry in entries if entry.heading == MEMORY]
    lane = [entry for entry in entries if entry.heading in lanes]
    soft = [entry for entry in entries if not (entry.hard or entry.heading in lanes | {MEMORY})]
    kept = _filled([], hard, entries, limits)
    if len(kept) < len(hard):
        return kept
    kept = _filled(kept, seeded, entries, limits)
    used = len(_text(kept, _ROOM_FOR_NAMING).encode())
    half = Limits(used + max(0, limits.bytes - used) // 2, limits.units, limits.preview)
    kept = _filled(kept, lane, entries, half)
    kept = _filled(kept, soft, entries, limits)
    return _filled(kept, [entry for entry in lane if entry not in kept], entries, limits)


def _filled(
    kept: list[_Entry], more: Sequence[_Entry], entries: Sequence[_Entry], limits: Limits
) -> list[_Entry]:
    """`kept` with each of `more` that still fits, beside the line that names what is left out."""
    place = {entry.line: at for at, entry in enumerate(entries)}
    for entry in more:
        tried = sorted([*kept, entry], key=lambda one: place[one.line])
        if _fits(_text(tried, _ROOM_FOR_NAMING), limits):
            kept = tried
    return kept


def _fits(text: str, limits: Limits) -> bool:
    return len(text.encode()) <= limits.bytes and units_of(text) <= limits.units


def _groups(entries: Iterable[_Entry]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in _in_order(entries):
        found.setdefault(entry.heading, []).append(entry.line)
    return found


_ORDER = {
    heading: at for at, heading in enumerate([ALWAYS, *SCOPES.values(), LANES[True], LANES[False], MEMORY])
}


def _in_order(entries: Iterable[_Entry]) -> list[_Entry]:
    return sorted(entries, key=lambda entry: _ORDER[entry.heading])


_LONGEST_NAMING = 240
_ROOM_FOR_NAMING = "x" * _LONGEST_NAMING


def _text(entries: Sequence[_Entry], naming: str = "") -> str:
    if not entries and not naming:
        return ""
    return block(OPENING, _groups(entries), [naming] if naming else [])


def _naming(missing: Sequence[str]) -> str:
    """The line that names what is left out, "" for nothing: never longer than room was kept for."""
    names = [_harmless(name) for name in missing]
    for count in range(len(names), -1, -1):
        rest = f"{len(names) - count} more" if count < len(names) else ""
        said = ", ".join([*names[:count], *([rest] if rest else [])])
        line = f"Left out for lack of room: {said}. `coffer bundle` shows all."
        if len(line.encode()) <= _LONGEST_NAMING:
            return line if names else ""
    raise AssertionError("a line that names no rule is short")


def _harmless(name: str) -> str:
    """A rule's id as it may stand in the text: of a file's name nothing is kept that could say something."""
    return re.sub(r"[^\w./:-]+", "_", one_line(name))


def _late(text: str, hard: Sequence[str], preview: int) -> int:
    """How many of the lines end behind the first `preview` bytes."""
    place, late = 0, 0
    for line in hard:
        place = text.index(f"\n{line}\n", place) + 1
        late += len(text[: place + len(line)].encode()) > preview
    return late


def delta(bundle: Bundle, held: Collection[str]) -> str:
    """What a context that holds these rule lines lacks of the bundle, and what of it no longer applies.

    "" for nothing; the bundle itself where the context holds none. What would not fit is left for the next delta.
    """
    known = frozenset(held)
    if not known:
        return bundle.text
    new = {heading: [line for line in lines if line not in known] for heading, lines in bundle.groups}
    groups = {heading: lines for heading, lines in new.items() if lines}
    gone = sorted(line for line in known - set(bundle.lines) - bundle.waiting if hostile(line) is None)
    told: list[str] = []
    for line in gone:  # a context can hold more old rules than one text has room for
        wider = [*told, NO_LONGER + line]
        if not _fits(block(CHANGED, {**groups, WITHDRAWN: wider}), bundle.limits):
            break
        told = wider
    if not groups and not told:
        return ""
    return block(CHANGED, {**groups, WITHDRAWN: told} if told else groups)
