"""What can happen to the rules of a digest, and what comes of it, as values. Which does what is in `lifecycle`."""

from __future__ import annotations

from dataclasses import dataclass, field

from coffer.core.rule import Evidence, Persistence, Rule, Rules, Weights, Wording


@dataclass(frozen=True, slots=True)
class Settings:
    """The numbers of the lifecycle. Occurrences, shares, rules and days."""

    promote_at: int = 3
    threshold: float = 0.55
    cap: int = 20
    forget_days: int = 30
    forget_importance: int = 1
    archive_days: int = 90
    pending_cap: int = 50
    weights: Weights = field(default_factory=Weights)


@dataclass(frozen=True, slots=True)
class Corrected:
    """A turn corrected the agent. rule: the id that it repeats, "" for a new one, which `wording` then says.

    hard: the person's words ask for a hard rule. delivered: the rule was in the context when it was broken.
    proposed: the words of a new rule are an agent's.
    """

    evidence: Evidence
    rule: str = ""
    wording: Wording | None = None
    hard: bool = False
    delivered: bool = False
    proposed: bool = False
    persistence: Persistence = "session"


@dataclass(frozen=True, slots=True)
class Upvoted:
    """The person repeated a rule approvingly. evidence: the turn, None for a command."""

    rule: str
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The person said that a rule is no longer needed."""

    rule: str
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Ordered:
    """The person ordered a rule outright. rule: the id that it repeats, "" for a new one."""

    rule: str = ""
    wording: Wording | None = None
    hard: bool = False
    evidence: Evidence | None = None
    persistence: Persistence = "session"


@dataclass(frozen=True, slots=True)
class Accepted:
    """The person accepted a rule that was noticed or proposed. hard: and wants it hard."""

    rule: str
    hard: bool = False


@dataclass(frozen=True, slots=True)
class Superseded:
    """The rule `by` contradicts an older one and is newer."""

    rule: str
    by: str


@dataclass(frozen=True, slots=True)
class Merged:
    """A rule says the same as the rule `into`, which takes over its counts and evidence."""

    rule: str
    into: str


@dataclass(frozen=True, slots=True)
class Edited:
    """The person worded a rule anew."""

    rule: str
    wording: Wording


@dataclass(frozen=True, slots=True)
class Demoted:
    """The person no longer wants a rule delivered."""

    rule: str


@dataclass(frozen=True, slots=True)
class Removed:
    """The person wants a rule gone."""

    rule: str


@dataclass(frozen=True, slots=True)
class DayPassed:
    """Time went by; every rule of the file is looked at."""


@dataclass(frozen=True, slots=True)
class Absorbed:
    """A rule took over what another had counted. other: that one, as it was. Only `step` says so."""

    rule: str
    other: Rule


@dataclass(frozen=True, slots=True)
class Crowded:
    """There are more rules of a state than it holds, and this one is the first to leave. Only `step` says so."""

    rule: str


Event = (
    Corrected
    | Upvoted
    | Withdrawn
    | Ordered
    | Accepted
    | Superseded
    | Merged
    | Edited
    | Demoted
    | Removed
    | DayPassed
    | Absorbed
    | Crowded
)


@dataclass(frozen=True, slots=True)
class Change:
    """What a receipt records. before: None for a rule that is new; after: None for one that is gone."""

    kind: str
    rule: str
    before: Rule | None
    after: Rule | None
    why: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The rules after an event, and every change that led there, in order; no change: nothing to write."""

    rules: Rules
    changes: tuple[Change, ...] = ()
