"""What becomes of a judged turn: the one decision between listening and the lifecycle.

It reads a turn once, in this order: an order of the person, an approval or withdrawal of a rule that stands, a
certain correction, a possible one. Only what is certain and either safely worded or plainly a repetition of one
rule counts by itself; everything else that may be worth a rule is `noticed`, and the person decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from coffer.core.classify.decide import WORTH_A_RULE, Judged, classify
from coffer.core.classify.spoken import hear
from coffer.core.likeness import resembling
from coffer.core.order import order, order_wording
from coffer.core.reaction import react
from coffer.core.repeats import LONGEST, repeated, restated
from coffer.core.rule import Persistence, Rule, Rules, is_hard
from coffer.core.similar import compare
from coffer.core.wording import Worded, word

AGAIN = 0.7
"""How sure a repetition makes: less than a plain first mention that the classifier is certain of."""

Kind = Literal["nothing", "noticed", "corrected", "ordered", "approves", "withdraws", "contradicts"]
"""nothing: not worth a rule. noticed: into the inbox. corrected, ordered: an event of the lifecycle, for the rule
`rule` or, without one, for a new rule worded `worded`. contradicts: the same for a new rule, and `supersedes` names
the rules that it replaces. approves, withdraws: of the rule `rule`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a turn says to the digest.

    rule: id of the rule that it repeats or concerns, "". worded: the rule in safe words; for `noticed` a draft if
    `worded.safe`, else what belongs to the entry around the words that the person has to find; None for `nothing`.
    persistence: of the judgement or, where it has none, the default. hard: the words ask for a hard rule.
    like: ids of pending and active rules that it resembles, likest first: offered for merging. supersedes: ids of
    rules that the new wording contradicts. why: one phrase for the inbox and the receipt.
    """

    kind: Kind
    judged: Judged
    rule: str = ""
    worded: Worded | None = None
    persistence: Persistence = "session"
    hard: bool = False
    like: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    why: str = ""


def decide(
    turn: str,
    before: str,
    tools: Sequence[str],
    rules: Rules,
    persistence: Persistence = "session",
) -> Verdict:
    """The verdict on a turn; deterministic, reads nothing but its arguments, raises on no text.

    turn: as the transcript has it. before: the agent's last words. tools: its last calls, "Write src/app.py" or
    "Bash". rules: active, pending and archived ones are all compared; only active ones can be approved of.
    persistence: for turns whose judgement has none.
    """
    heard = hear(turn)
    judged = classify(turn, before, tools)
    match judged.persistence:
        case "session" | "persistent" as reach:
            persistence = reach
        case _:
            pass
    base = Verdict("nothing", judged, persistence=persistence, hard=is_hard(heard.text), why=judged.reason)
    if not heard.text or heard.document:
        return base
    ordered = order(heard.text)
    if ordered is not None:
        worded = order_wording(ordered.words, turn, before, tuple(tools), judged)
        return _ordered(replace(base, hard=ordered.hard), worded, ordered.words, rules)
    reaction = react(heard.text, rules.all, before, tools)
    if reaction is not None:
        return replace(base, kind=reaction.kind, rule=reaction.rule, why=reaction.reason)
    if judged.certainty == "certain":
        return _certain(base, word(turn, before, tools, judged), heard.text, rules)
    if judged.certainty == "none" and len(heard.text) > LONGEST:
        return base  # too long to be a repetition, which is all that it could still be
    draft = _draft(turn, before, tools, judged)
    again = _again(base, draft, heard.text, rules)
    if again is not None:
        return again
    if judged.certainty == "possible":
        return _noticed(base, draft, heard.text, rules, base.why)
    return base


def _again(base: Verdict, draft: Worded, said: str, rules: Rules) -> Verdict | None:
    """A turn that is not certain by itself, but says again, or complains of, a rule that stands.

    That the person said the same before is what the classifier can't know; a first mention of it is never enough.
    """
    if base.judged.label == "ONE_OFF":
        return None
    same = ""
    if draft.safe:
        same, against = relations(draft.text, rules)
        if against:
            return None
    same = same or repeated(said, _standing(rules))
    if not same:
        return None
    said_so = "EXPLICIT_CORRECTION" if draft.safe else "IMPLICIT_CORRECTION"
    label = base.judged.label if base.judged.label in WORTH_A_RULE and not draft.safe else said_so
    judged = replace(
        base.judged, label=label, certainty="certain", confidence=max(base.judged.confidence, AGAIN)
    )
    return replace(
        base, kind="corrected", judged=judged, rule=same, worded=draft, why=f"says again: {base.why}"
    )


def _ordered(base: Verdict, worded: Worded, words: str, rules: Rules) -> Verdict:
    if not worded.safe:
        return _noticed(base, worded, words, rules, f"ordered, but {worded.why}")
    same, against = relations(worded.text, rules)
    return replace(
        base,
        kind="ordered",
        rule=same,
        worded=worded,
        like=() if same else _like(worded.text, rules, against),
        supersedes=against,
        why="the person's order",
    )


def _certain(base: Verdict, worded: Worded, said: str, rules: Rules) -> Verdict:
    if not worded.safe:
        same = repeated(said, _standing(rules)) or restated(said, _standing(rules))
        if same:
            return replace(base, kind="corrected", rule=same, worded=worded)
        return _noticed(base, worded, said, rules, f"{base.why}; {worded.why}")
    same, against = relations(worded.text, rules)
    if same:
        return replace(base, kind="corrected", rule=same, worded=worded)
    return replace(
        base,
        kind="contradicts" if against else "corrected",
        worded=worded,
        like=_like(worded.text, rules, against),
        supersedes=against,
    )


def _noticed(base: Verdict, worded: Worded, said: str, rules: Rules, why: str) -> Verdict:
    return replace(base, kind="noticed", worded=worded, like=_like(worded.text or said, rules, ()), why=why)


def _draft(turn: str, before: str, tools: Sequence[str], judged: Judged) -> Worded:
    """A wording to offer: of a possible correction the class is the least sure part, and the person decides."""
    if judged.label in WORTH_A_RULE or judged.label == "ONE_OFF":
        return word(turn, before, tools, judged)
    return word(turn, before, tools, replace(judged, label="EXPLICIT_CORRECTION"))


def relations(text: str, rules: Rules) -> tuple[str, tuple[str, ...]]:
    """The rule that says the same, active before pending before archived, and those that say the opposite."""
    same: list[Rule] = []
    against: list[str] = []
    for rule in rules.all:
        label = compare(text, rule.text).label
        if label == "DUPLICATE":
            same.append(rule)
        elif label == "CONTRADICTORY" and rule.state != "archived":
            against.append(rule.id)
    same.sort(key=lambda rule: ("active", "pending", "archived").index(rule.state))
    return (same[0].id if same else ""), tuple(against)


def _standing(rules: Rules) -> list[Rule]:
    return [rule for rule in rules.all if rule.state != "archived"]


def _like(said: str, rules: Rules, against: tuple[str, ...]) -> tuple[str, ...]:
    return resembling(said, [rule for rule in _standing(rules) if rule.id not in against])
