"""A rule of the behavioural digest, the evidence behind it, and how sure that evidence makes us.

Values only; what happens to rules is in `lifecycle`, how they stand in a file in `digest`. Days are UTC days,
as the file writes them. Confidence is a number from 0 to 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Literal

from coffer.core.regex import regex

Priority = Literal["hard", "soft"]
"""hard: always delivered. soft: delivered by scope (seed, "Rule Classifications")."""
State = Literal["active", "pending", "archived"]
Persistence = Literal["session", "persistent"]
"""session: this project. persistent: this person, in every project (seed, "Persistence Logic")."""
Certainty = Literal["certain", "possible"]
"""certain: counts by itself. possible: only asks, so it never promotes, hardens or supersedes."""
Label = Literal[
    "EXPLICIT_CORRECTION", "IMPLICIT_CORRECTION", "PREFERENCE", "CLARIFICATION", "ONE_OFF", "NONE"
]
"""The seed's six classes of a human turn."""
Reliability = Literal["ordered", "typed", "rejected", "interrupted", "proposed"]
"""How the words came: an order, a plain turn, a rejected call with its reason, a turn after an interruption, a
proposal by the agent in the room."""

UNTRUSTED_SOURCE = "Agent proposal"
"""How `source` begins where an agent worded the rule; such a rule waits until the person accepts it."""
LEARNED_SOURCE = "User correction"
ORDERED_SOURCE = "User order"
ACCEPTED = ", accepted"
"""How `source` ends once the person accepted the rule."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One human turn that speaks for a rule. uuid: of its record; the same uuid never counts twice.

    time: when it was said, aware. weight: the classifier's own confidence, 0 to 1.
    """

    uuid: str
    time: datetime
    session: str
    project: str = ""
    reliability: Reliability = "typed"
    label: Label = "EXPLICIT_CORRECTION"
    certainty: Certainty = "certain"
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Wording:
    """What a rule says; everything but `text` may be empty. text: one or two sentences, one line."""

    title: str
    text: str
    scope: str = ""
    before: str = ""
    after: str = ""
    signal: str = ""
    trigger: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as its file holds it.

    id: R001 once it was active, P001 before; "" for one without a number. source: the field without its count
    of occurrences, "" where a person wrote the rule into the file and gave none. corrections: occurrences.
    importance: the number in the file is the truth, also where it is not the sum of what was counted.
    superseded: by whom and when, "" if not. evidence: the turns behind it, kept outside the file. handle: which
    block of its digest it is, -1 for a rule that is in no file yet.
    """

    id: str
    title: str
    text: str
    priority: Priority = "soft"
    state: State = "pending"
    scope: str = ""
    before: str = ""
    after: str = ""
    signal: str = ""
    trigger: str = ""
    source: str = LEARNED_SOURCE
    first_seen: date | None = None
    last_seen: date | None = None
    importance: int = 1
    corrections: int = 1
    upvotes: int = 0
    downvotes: int = 0
    persistence: Persistence = "session"
    superseded: str = ""
    evidence: tuple[Evidence, ...] = field(default=(), compare=False, repr=False)
    handle: int = field(default=-1, compare=False)

    @property
    def ordered(self) -> bool:
        """Whether the person asked for it outright: ordered, accepted, or written by hand into the file."""
        return not self.source or self.source.startswith(ORDERED_SOURCE) or ACCEPTED in self.source

    @property
    def proposed(self) -> bool:
        """Whether its words are an agent's and nobody accepted them yet."""
        return self.source.startswith(UNTRUSTED_SOURCE) and ACCEPTED not in self.source

    @property
    def number(self) -> int:
        """The number in its id, 0 without one."""
        return int(self.id[1:]) if self.id[1:].isdecimal() else 0


@dataclass(frozen=True, slots=True)
class Numbers:
    """The highest R and P number that a file ever had; the next rule gets one more."""

    active: int = 0
    pending: int = 0

    def __or__(self, other: Numbers) -> Numbers:
        return Numbers(max(self.active, other.active), max(self.pending, other.pending))

    @staticmethod
    def of(name: str) -> Numbers:
        """The numbers that an id uses up; none for what is no id."""
        if not name[1:].isdecimal():
            return Numbers()
        return Numbers(active=int(name[1:])) if name[0] == "R" else Numbers(pending=int(name[1:]))


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules of one file, in its order, and the numbers that are used up."""

    all: tuple[Rule, ...] = ()
    numbers: Numbers = field(default_factory=Numbers)

    def get(self, name: str) -> Rule | None:
        """The first rule of that id."""
        return next((rule for rule in self.all if rule.id == name), None)

    def active(self) -> list[Rule]:
        """The rules that are delivered, in the file's order."""
        return [rule for rule in self.all if rule.state == "active"]


@dataclass(frozen=True, slots=True)
class Weights:
    """What evidence is worth. Each number is a share of a perfect piece of evidence, 0 to 1.

    share: what one perfect piece closes of the gap to certainty. With 0.35 three explicit corrections of this
    month pass the gate of 0.55 (0.67 at two weeks of age), three implicit ones barely (0.58), one never.
    half_life: days after which a piece is worth half: three corrections spread over a quarter still pass, over
    half a year they don't and the person is asked.
    possible: a guess is worth less than half. ceiling: guesses alone never pass the gate, however many.
    A rejected call and an interruption are surer signs than plain words that something was unwanted, but what
    was unwanted has to be inferred; a proposal is the agent's reading of a turn.
    Labels: how often a turn of that class was worth a rule to two human readers. What holds for one task only,
    or says what is wanted and not how, is nearly or quite none.
    """

    share: float = 0.35
    half_life: float = 90.0
    possible: float = 0.4
    ceiling: float = 0.5
    reliability: tuple[tuple[Reliability, float], ...] = (
        ("ordered", 1.0),
        ("typed", 1.0),
        ("rejected", 1.0),
        ("interrupted", 0.9),
        ("proposed", 0.8),
    )
    label: tuple[tuple[Label, float], ...] = (
        ("EXPLICIT_CORRECTION", 1.0),
        ("PREFERENCE", 0.9),
        ("IMPLICIT_CORRECTION", 0.8),
        ("ONE_OFF", 0.1),
        ("CLARIFICATION", 0.05),
        ("NONE", 0.0),
    )


def confidence(evidence: Iterable[Evidence], now: datetime, weights: Weights) -> float:
    """How sure the turns make us that this is a rule, 0 to 1; 0 without a turn.

    Each turn closes a share of the gap to certainty: its class × its source × its age × the classifier's own
    confidence. The order of turns and turns told twice change nothing. now is aware.
    """
    once = {piece.uuid: piece for piece in sorted(evidence, key=_told)}
    gap = math.prod(1 - weights.share * _worth(once[uuid], now, weights) for uuid in sorted(once))
    sure = any(piece.certainty == "certain" for piece in once.values())
    return 1 - gap if sure else min(1 - gap, weights.ceiling)


def _told(piece: Evidence) -> tuple[str, datetime, str]:
    return piece.uuid, piece.time, piece.label


def _worth(piece: Evidence, now: datetime, weights: Weights) -> float:
    age = max(0.0, (now - piece.time).total_seconds() / 86400)
    certainty = 1.0 if piece.certainty == "certain" else weights.possible
    said = dict(weights.label)[piece.label] * dict(weights.reliability)[piece.reliability]
    return said * certainty * min(1.0, max(0.0, piece.weight)) * math.exp2(-age / weights.half_life)


def day_of(moment: datetime) -> date:
    """The UTC day of a moment, as the file writes it."""
    return moment.astimezone(UTC).date()


LONGEST_TITLE = 64


def title_of(text: str) -> str:
    """A title for a rule that has none: its first clause, cut at a word."""
    first = re.split(r"[;.](?:\s|$)", text.strip(), maxsplit=1)[0]
    if len(first) <= LONGEST_TITLE:
        return first
    return first[: LONGEST_TITLE - 1].rsplit(" ", 1)[0] + "…"


_HARD_WORDS = regex(
    r"\bnever,?\s+ever\b|\bunder\s+no\s+circumstances\b|\bon\s+no\s+account\b"
    r"|\bnie(?:mals)?\s+und\s+nimmer\b|\bunter\s+(?:gar\s+)?keinen\s+umständen\b|\bauf\s+keinen\s+fall\b"
    r"|\bsous\s+aucun\s+prétexte\b|\ben\s+aucun\s+cas\b|\bjamais\s+au\s+grand\s+jamais\b"
    r"|\bbajo\s+ning(?:ún|una)\s+(?:concepto|circunstancia)\b|\bnunca\s+jamás\b"
    r"|\bsob\s+nenhuma\s+circunstância\b|\bin\s+nessun\s+caso\b|\bmai\s+e\s+poi\s+mai\b"
    r"|ни\s+в\s+коем\s+случае|ни\s+при\s+каких\s+обстоятельствах|无论如何都不|绝对不|千万不|絶対に|절대로?",
    re.IGNORECASE,
)


def is_hard(text: str) -> bool:
    """Whether a person's words ask for a hard rule: "never ever", "under no circumstances", and their like."""
    return _HARD_WORDS.search(text) is not None
