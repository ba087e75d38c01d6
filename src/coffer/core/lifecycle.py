"""What happens to a rule, and why: one table (DESIGN section 7; seed, "AutoRefine model").

Theory. A rule is *new* (in no file), *pending* (under observation), *active* (delivered), *archived* (kept, not
delivered) or *gone*. Nothing moves by itself: an event names a rule, `COUNTS` says what the event adds, and then
the rows of `LIFECYCLE` are tried from top to bottom. Every row that fits fires and sees what the rows above it
did, so an archived rule that is corrected a third time wakes and is promoted in one step, and one that is pushed
out (the last row) isn't archived by the row above it.

- A correction is an occurrence and +1 importance; an approving repetition +1; "no longer needed" −1. An order is
  both an occurrence and the person's own reinforcement, so it starts at 2 and isn't forgotten after 30 quiet days.
- The gate to active is two-fold: three occurrences *and* confidence. Words that an agent chose never pass it;
  the person's order or acceptance opens it at once. Nothing but pruning, the person or a newcomer demotes: an
  active rule with two occurrences stays.
- A turn counts once: evidence whose uuid the rule already has changes nothing. A merely *possible* turn is kept
  and counts under observation, but adds nothing to an active rule, never hardens and never supersedes.
- The house holds 20. A newcomer pushes one out: soft before hard, learned before ordered, least important,
  longest unseen. A house full of hard rules refuses the newcomer, which waits in pending.
- A rule that was once active keeps its R number for good, also in pending; a promoted P rule gets the next R.

`DayPassed` twice on one day is once. The result depends on nothing but the arguments; `now` must be aware.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Literal

from coffer.core.counts import counted, told_before, worded
from coffer.core.events import (
    Absorbed,
    Accepted,
    Change,
    Corrected,
    Crowded,
    DayPassed,
    Demoted,
    Edited,
    Event,
    Merged,
    Ordered,
    Outcome,
    Removed,
    Settings,
    Superseded,
    Upvoted,
    Withdrawn,
)
from coffer.core.rule import (
    LEARNED_SOURCE,
    ORDERED_SOURCE,
    UNTRUSTED_SOURCE,
    Numbers,
    Rule,
    Rules,
    State,
    confidence,
    day_of,
)

Place = State | Literal["new", "gone"]
"""Where a rule is. new: in no file yet. gone: in none any more."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a row looks at. rule: as the event and the rows above left it."""

    rule: Rule
    event: Event
    rules: Rules
    now: datetime
    settings: Settings


def _always(_: Case) -> bool:
    return True


def _proven(case: Case) -> bool:
    rule, settings = case.rule, case.settings
    enough = rule.corrections >= settings.promote_at and not rule.proposed
    return enough and confidence(rule.evidence, case.now, settings.weights) >= settings.threshold


def _hard_words(case: Case) -> bool:
    asked = isinstance(case.event, Corrected | Ordered | Accepted) and case.event.hard
    return asked and case.rule.priority != "hard"


def _violated(case: Case) -> bool:
    event = case.event
    broken = isinstance(event, Corrected) and event.delivered and event.evidence.certainty == "certain"
    return broken and case.rule.priority != "hard"


def _worthless(case: Case) -> bool:
    return case.rule.importance <= 0


def _forgotten(case: Case) -> bool:
    days = _unseen(case.rule, day_of(case.now))
    return case.rule.importance <= case.settings.forget_importance and days >= case.settings.forget_days


def _stale(case: Case) -> bool:
    return _unseen(case.rule, day_of(case.now)) >= case.settings.archive_days


def _outweighed(case: Case) -> bool:
    newer = case.rules.get(case.event.by) if isinstance(case.event, Superseded) else None
    if newer is None or newer.id == case.rule.id:
        return False
    sure = newer.ordered or any(piece.certainty == "certain" for piece in newer.evidence)
    return sure and (newer.last_seen or date.max) >= (case.rule.last_seen or date.min)


def _was_active(case: Case) -> bool:
    return isinstance(case.event, Absorbed) and case.event.other.state == "active"


def _was_hard(case: Case) -> bool:
    hard = isinstance(case.event, Absorbed) and case.event.other.priority == "hard"
    return hard and case.rule.priority != "hard"


def _unseen(rule: Rule, today: date) -> int:
    """Days since a rule was last seen; 0 where its file doesn't say."""
    seen = rule.last_seen or rule.first_seen
    return max(0, (today - seen).days) if seen else 0


@dataclass(frozen=True, slots=True)
class Row:
    """Where an event finds a rule in one of the states and the condition holds: where the rule goes.

    to: None leaves the state as it is. hard: the rule becomes hard. kind, why: what the receipt says.
    """

    event: type[Event]
    states: str
    when: Callable[[Case], bool]
    to: Place | None
    kind: str
    why: str
    hard: bool = False


PROVEN = "seen {corrections} times, confidence {confidence:.2f}"

LIFECYCLE: tuple[Row, ...] = (
    Row(Corrected, "new", _always, "pending", "learned", "corrected for the first time"),
    Row(Corrected, "archived", _always, "pending", "woken", "corrected again"),
    Row(Corrected, "pending active", _hard_words, None, "hardened", "the person's words", hard=True),
    Row(Corrected, "active", _violated, None, "hardened", "broken after it was delivered", hard=True),
    Row(Corrected, "pending", _proven, "active", "promoted", PROVEN),
    Row(Upvoted, "archived", _always, "pending", "woken", "repeated approvingly"),
    Row(Upvoted, "pending", _proven, "active", "promoted", PROVEN),
    Row(Withdrawn, "pending active archived", _worthless, "gone", "deleted", "importance {importance}"),
    Row(Ordered, "new pending archived", _always, "active", "ordered", "the person's order"),
    Row(Ordered, "active", _hard_words, None, "hardened", "the person's words", hard=True),
    Row(Accepted, "pending archived", _always, "active", "accepted", "the person accepted it"),
    Row(Accepted, "active", _hard_words, None, "hardened", "the person's words", hard=True),
    Row(Superseded, "pending active", _outweighed, "archived", "superseded", "a newer rule contradicts it"),
    Row(Merged, "pending active archived", _always, "gone", "merged", "another rule says the same"),
    Row(Absorbed, "archived", _always, "pending", "woken", "merged with {other}"),
    Row(Absorbed, "pending", _was_active, "active", "promoted", "merged with {other}, which was active"),
    Row(Absorbed, "pending", _proven, "active", "promoted", PROVEN),
    Row(Absorbed, "pending active", _was_hard, None, "hardened", "merged with {other}", hard=True),
    Row(Demoted, "active", _always, "pending", "demoted", "the person's word"),
    Row(Removed, "pending active archived", _always, "gone", "removed", "the person's word"),
    Row(DayPassed, "active", _worthless, "gone", "deleted", "importance {importance}"),
    Row(
        DayPassed,
        "active",
        _forgotten,
        "pending",
        "demoted",
        "unseen for {days} days, importance {importance}",
    ),
    Row(DayPassed, "pending", _stale, "archived", "archived", "unseen for {days} days while pending"),
    Row(Crowded, "pending", _always, "archived", "archived", "too many are pending"),
    Row(Crowded, "active", _always, "pending", "pushed out", "the house is full"),
)

UNMOVED: dict[type[Event], tuple[str, str]] = {
    Corrected: ("reinforced", "corrected again"),
    Ordered: ("reinforced", "ordered again"),
    Accepted: ("upvoted", "accepted again"),
    Upvoted: ("upvoted", "repeated approvingly"),
    Withdrawn: ("downvoted", "no longer needed"),
    Edited: ("edited", "the person's words"),
    Absorbed: ("merged", "took over {other}"),
}
"""What the receipt says where no row fires and yet something was counted."""


def step(rules: Rules, event: Event, now: datetime, settings: Settings) -> Outcome:
    """What an event makes of the rules. An id that no rule has changes nothing."""
    if isinstance(event, DayPassed):
        outcome = Outcome(rules)
        for each in rules.all:
            outcome = _then(outcome, _moved(Case(each, event, outcome.rules, now, settings), each))
        return _fit(outcome, now, settings)
    rule = _subject(rules, event, now)
    if rule is None or told_before(rules, rule, event):
        return Outcome(rules)
    outcome = _moved(Case(counted(rule, event, now), event, rules, now, settings), rule)
    if isinstance(event, Merged):
        into = outcome.rules.get(event.into)
        assert into is not None
        taken = Absorbed(into.id, rule)
        case = Case(counted(into, taken, now), taken, outcome.rules, now, settings)
        outcome = _then(outcome, _moved(case, into))
    return _fit(outcome, now, settings) if outcome.changes else outcome


def _then(first: Outcome, second: Outcome) -> Outcome:
    return Outcome(second.rules, first.changes + second.changes)


def _subject(rules: Rules, event: Event, now: datetime) -> Rule | None:
    """The rule that an event is about, for a new one a rule without an id; None where there is none."""
    assert not isinstance(event, DayPassed)
    if event.rule:
        rule = rules.get(event.rule)
        return None if isinstance(event, Merged) and not _mergeable(rule, rules.get(event.into)) else rule
    if not isinstance(event, Corrected | Ordered) or event.wording is None:
        return None
    source = ORDERED_SOURCE if isinstance(event, Ordered) else LEARNED_SOURCE
    if isinstance(event, Corrected) and event.proposed:
        source = UNTRUSTED_SOURCE
    return replace(
        worded(Rule("", "", "", corrections=0, importance=0), event.wording),
        source=source,
        first_seen=day_of(event.evidence.time if event.evidence else now),
        persistence=event.persistence,
    )


def _mergeable(rule: Rule | None, into: Rule | None) -> bool:
    """Whether there are two rules, and what a person said doesn't vanish in an agent's unaccepted words."""
    return rule is not None and into is not None and rule.id != into.id and rule.proposed >= into.proposed


def _moved(case: Case, before: Rule) -> Outcome:
    """Let the rows fire on what an event has counted on the rule `before`."""
    place: Place = before.state if before.id else "new"
    fired: list[Row] = []
    for row in LIFECYCLE:
        if not isinstance(case.event, row.event) or place not in row.states.split() or not row.when(case):
            continue
        fired.append(row)
        place = row.to or place
        after = replace(case.rule, priority="hard" if row.hard else case.rule.priority)
        match place:
            case "active" | "pending" | "archived":
                after = replace(after, state=place)
            case _:
                pass
        case = replace(case, rule=after)
    if not fired and (type(case.event) not in UNMOVED or case.rule == before):
        kept = case.rule if type(case.event) in UNMOVED else before
        return Outcome(_with(case.rules, before, kept))
    return _recorded(case, before, place, fired)


def _recorded(case: Case, before: Rule, place: Place, fired: list[Row]) -> Outcome:
    rules, after = case.rules, case.rule
    moves = [row for row in fired if row.to] or fired
    kind = moves[-1].kind if moves else UNMOVED[type(case.event)][0]
    reasons = [row.why for row in fired] or [UNMOVED[type(case.event)][1]]
    if place == "active" and before.state != "active" and _full_of_hard(rules, before, case.settings):
        place, kind = "pending", "refused"
        reasons.append("all {cap} active rules are hard: demote or remove one")
        after = replace(after, state="pending")
    if place == "gone":
        return _changed(case, before, None, kind, reasons)
    if place == "active" and not after.id.startswith("R"):
        after = replace(after, id=f"R{rules.numbers.active + 1:03}")
    elif not after.id:
        after = replace(after, id=f"P{rules.numbers.pending + 1:03}")
    return _changed(
        case, before, after if place == "archived" else replace(after, superseded=""), kind, reasons
    )


def _full_of_hard(rules: Rules, newcomer: Rule, settings: Settings) -> bool:
    house = [rule for rule in rules.active() if rule is not newcomer]
    return len(house) >= settings.cap and all(rule.priority == "hard" for rule in house)


def _changed(case: Case, before: Rule, after: Rule | None, kind: str, reasons: list[str]) -> Outcome:
    rule, event = case.rule, case.event
    said = "; ".join(reasons).format(
        corrections=rule.corrections,
        confidence=confidence(rule.evidence, case.now, case.settings.weights),
        importance=rule.importance,
        days=_unseen(rule, day_of(case.now)),
        cap=case.settings.cap,
        other=event.other.id if isinstance(event, Absorbed) else "",
    )
    name = after.id if after else before.id
    change = Change(kind, name, before if before.id else None, after, said)
    return Outcome(_with(case.rules, before, after), (change,))


def _with(rules: Rules, before: Rule, after: Rule | None) -> Rules:
    """The rules with one of them changed, removed or, if it had no id, added at the end."""
    new = (after,) if after else ()
    if not before.id:
        kept = (*rules.all, *new)
    else:
        place = next(place for place, rule in enumerate(rules.all) if rule is before)
        kept = (*rules.all[:place], *new, *rules.all[place + 1 :])
    numbers = rules.numbers | (Numbers.of(after.id) if after else Numbers())
    return Rules(kept, numbers)


def _fit(outcome: Outcome, now: datetime, settings: Settings) -> Outcome:
    """Let those leave that are too many: active beyond the cap for a newcomer's sake, pending beyond theirs."""
    newcomers = [change.rule for change in outcome.changes if change.after and change.after.state == "active"]
    for state, room in (("active", settings.cap), ("pending", settings.pending_cap)):
        crowd = [rule for rule in outcome.rules.all if rule.state == state]
        leaving = way_out(rule for rule in crowd if rule.id not in newcomers)
        if state == "active":
            leaving = [rule for rule in leaving if rule.priority != "hard"]
        for rule in leaving[: max(0, len(crowd) - room)]:
            case = Case(rule, Crowded(rule.id), outcome.rules, now, settings)
            outcome = _then(outcome, _moved(case, rule))
    return outcome


def way_out(rules: Iterable[Rule]) -> list[Rule]:
    """Rules in the order in which they leave: soft, learned, least important, longest unseen, lowest number."""

    def rank(rule: Rule) -> tuple[bool, bool, int, date, str, int]:
        seen = rule.last_seen or rule.first_seen or date.min
        return rule.priority == "hard", rule.ordered, rule.importance, seen, rule.id[:1], rule.number

    return sorted(rules, key=rank)
