"""What an event adds to the rule that it names, before the lifecycle moves it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from coffer.core.events import (
    Absorbed,
    Accepted,
    Corrected,
    Edited,
    Event,
    Ordered,
    Superseded,
    Upvoted,
    Withdrawn,
)
from coffer.core.rule import ACCEPTED, Evidence, Rule, Rules, Wording, day_of

COUNTS: dict[type[Event], tuple[int, int, int]] = {
    #            corrections, upvotes, downvotes; importance is their sum
    Corrected: (1, 0, 0),
    Ordered: (1, 1, 0),
    Accepted: (0, 1, 0),
    Upvoted: (0, 1, 0),
    Withdrawn: (0, 0, 1),
}


def worded(rule: Rule, said: Wording) -> Rule:
    """The rule in other words."""
    return replace(
        rule,
        title=said.title,
        text=said.text,
        scope=said.scope,
        before=said.before,
        after=said.after,
        signal=said.signal,
        trigger=said.trigger,
    )


def _turn(event: Event) -> Evidence | None:
    return event.evidence if isinstance(event, Corrected | Ordered | Upvoted | Withdrawn) else None


def told_before(rules: Rules, rule: Rule, event: Event) -> bool:
    """Whether an event's turn was counted already, for this rule or, where it brings a new one, for any."""
    turn = _turn(event)
    heard = (rule,) if rule.id else rules.all
    return turn is not None and any(piece.uuid == turn.uuid for other in heard for piece in other.evidence)


def counted(rule: Rule, event: Event, now: datetime) -> Rule:
    """The rule with what the event adds to it, still in its place."""
    turn = _turn(event)
    match event:
        case Absorbed(other=other):
            return _sum(rule, other)
        case Superseded(by=by):
            return replace(rule, superseded=f"{by} on {day_of(now)}")
        case Edited(wording=wording):
            accepted = ACCEPTED if rule.proposed else ""
            return replace(worded(rule, wording), source=rule.source + accepted)
        case Withdrawn():
            turn = replace(turn, weight=0.0) if turn else None  # remembered, but it speaks for nothing
        case Ordered() | Accepted() if not rule.ordered:
            rule = replace(rule, source=rule.source + ACCEPTED)
        case _:
            pass
    if turn is not None:
        rule = replace(rule, evidence=(*rule.evidence, turn))
        if turn.certainty == "possible" and rule.state == "active":
            return rule
    corrections, upvotes, downvotes = COUNTS.get(type(event), (0, 0, 0))
    if corrections or upvotes:
        day = day_of(turn.time if turn else now)
        rule = replace(rule, last_seen=max(day, rule.last_seen or day))
    return replace(
        rule,
        corrections=rule.corrections + corrections,
        upvotes=rule.upvotes + upvotes,
        downvotes=rule.downvotes + downvotes,
        importance=rule.importance + corrections + upvotes - downvotes,
    )


def _sum(rule: Rule, other: Rule) -> Rule:
    """A rule with all that another counted; a turn behind both counts once."""
    known = {piece.uuid for piece in rule.evidence}
    new = tuple(piece for piece in other.evidence if piece.uuid not in known)
    twice = min(len(other.evidence) - len(new), other.corrections)
    first = [day for day in (rule.first_seen, other.first_seen) if day]
    last = [day for day in (rule.last_seen, other.last_seen) if day]
    return replace(
        rule,
        evidence=rule.evidence + new,
        corrections=rule.corrections + other.corrections - twice,
        upvotes=rule.upvotes + other.upvotes,
        downvotes=rule.downvotes + other.downvotes,
        importance=rule.importance + other.importance - twice,
        first_seen=min(first, default=None),
        last_seen=max(last, default=None),
        source=rule.source + (ACCEPTED if other.ordered and not rule.ordered else ""),
    )
