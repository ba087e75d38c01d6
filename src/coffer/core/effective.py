"""Which rules hold: the project's digest and the person's own, merged for delivery (DESIGN sections 8 and 10).

Only active rules whose text is trusted. The project's digest wins: a rule of the person's own file that says the
same as one of the project's, or the opposite, stays behind. At most 20 in all: hard ones first, then the project's,
then the more important. Whatever is left out is named with a reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from coffer.core.digest import Digest
from coffer.core.rule import Rule
from coffer.core.similar import Label, compare

MOST = 20
"""Rules that a context gets (seed, "Enforcing the Hard Cap")."""

Origin = Literal["project", "user"]
UNTRUSTED = "not trusted; `coffer trust` shows it"


def key(text: str) -> str:
    """What a rule text is trusted by: the sha256 of its words. Any edited word makes it another text."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Held:
    """A digest that counts. file: its path, for names only. trusted: keys of the texts that may be delivered."""

    origin: Origin
    file: str
    digest: Digest
    trusted: frozenset[str]


@dataclass(frozen=True, slots=True)
class Delivered:
    """A rule that holds, and where it stands."""

    rule: Rule
    origin: Origin
    file: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An active rule that is not delivered. reason: a phrase. line: of its heading. text: "" for a refused one."""

    rule: str
    text: str
    file: str
    reason: str
    line: int


@dataclass(frozen=True, slots=True)
class Effective:
    """The rules that hold, in the order of their delivery, and those that don't, in the files' order."""

    rules: tuple[Delivered, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def effective(project: Held | None, user: Held | None, most: int = MOST) -> Effective:
    """What holds where these two digests count; None: there is none, or it can't be read.

    A rule that is not trusted also keeps none of the other file's rules from holding.
    """
    rules: list[Delivered] = []
    left_out: list[LeftOut] = []
    for held in (one for one in (project, user) if one is not None):
        left_out += [LeftOut(r.rule, "", held.file, r.reason, r.line) for r in held.digest.refused]
        own: list[Delivered] = []
        for rule, line in active(held.digest):
            why = UNTRUSTED if key(rule.text) not in held.trusted else _behind(rule, rules, own)
            if why:
                left_out.append(LeftOut(rule.id, rule.text, held.file, why, line))
            else:
                own.append(Delivered(rule, held.origin, held.file))
        rules += own
    rules.sort(key=_rank)
    beyond = [
        LeftOut(one.rule.id, one.rule.text, one.file, f"only {most} rules are delivered", 0)
        for one in rules[most:]
    ]
    return Effective(tuple(rules[:most]), (*left_out, *beyond))


def active(digest: Digest) -> Iterator[tuple[Rule, int]]:
    """The active rules of a digest, each with the line of its heading, from 1."""
    line = 1
    for segment in digest.segments:
        if segment.rule is not None and segment.rule.state == "active":
            yield segment.rule, line
        line += len(segment.lines)


def _behind(rule: Rule, winners: Iterable[Delivered], own: Iterable[Delivered]) -> str:
    """Why a rule stays behind others: those of the file that wins, and the same text in its own."""
    if any(key(other.rule.text) == key(rule.text) for other in own):
        return "it stands in this file twice"
    for other in winners:
        if key(other.rule.text) == key(rule.text):
            return f"the project's {other.rule.id} says the same"
        relation = _relation(other.rule.text, rule.text)
        if relation != "DISTINCT":
            says = "the same" if relation == "DUPLICATE" else "otherwise"
            return f"the project's {other.rule.id} says {says}"
    return ""


@lru_cache(maxsize=4096)
def _relation(one: str, other: str) -> Label:
    """Kept, since a comparison takes 2 ms and a session start looks at the same pairs as the one before."""
    return compare(one, other).label


def _rank(one: Delivered) -> tuple[bool, bool, int]:
    return one.rule.priority != "hard", one.origin != "project", -one.rule.importance
