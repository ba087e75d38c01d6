"""What becomes of 100 corrections, each made three times in other words: `python -m tools.simulate [--each]`.

Every correction of `tools/train/corrections.jsonl` is one thing that a person wants, said in three sessions on
three days. One person's store holds all the corrections of a language, so that two of them can also be mixed up.
A turn goes the way that it goes in the program: `decide`, then the lifecycle. The half named "tune" was looked at
while the wording was written; the half named "held" was not.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from coffer.core.events import Corrected, Event, Ordered, Outcome, Settings, Upvoted, Withdrawn
from coffer.core.lifecycle import step
from coffer.core.rule import Evidence, Rules, Wording
from coffer.core.verdict import Verdict, decide
from coffer.core.wording import Worded

CORRECTIONS = Path(__file__).with_name("train") / "corrections.jsonl"
MORNING = datetime(2026, 9, 1, 9, tzinfo=UTC)
ROOMY = Settings(cap=1_000, pending_cap=1_000)
"""The house is not full: what is measured is who gets in, and not who is pushed out."""
ENDS = ("promoted", "one key", "words to type", "missed")
WRONG = ("inverted", "unrelated", "mixed up")

NEGATES = re.compile(
    r"\b(?:not|never|no|don['’]?t|stop|avoid|arrête|nicht|nie(?:mals)?|keine?[mnrs]?|pas|jamais"
    r"|n['’]\w+|ne|nunca|sin|não|non)\b"
    r"|不|别|禁止|没有",
    re.IGNORECASE,
)


@dataclass
class Fate:
    """What became of one correction. kinds: of the three verdicts; texts: every wording that it brought about."""

    item: dict[str, Any]
    kinds: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    rules: set[str] = field(default_factory=set)
    end: str = "missed"
    wrong: set[str] = field(default_factory=set)


def main() -> int:
    report(Console(width=120), simulated(corrections()), each="--each" in sys.argv)
    return 0


def corrections() -> list[dict[str, Any]]:
    """The 100 corrections, as the file beside the training data has them."""
    return [json.loads(line) for line in CORRECTIONS.read_text("utf-8").splitlines()]


def simulated(items: Sequence[dict[str, Any]]) -> list[Fate]:
    """The fates of all corrections; each language is one person with one store."""
    persons: dict[str, list[Fate]] = defaultdict(list)
    for item in items:
        persons[item["lang"]].append(Fate(item))
    for fates in persons.values():
        _lived(fates)
    return [fate for fates in persons.values() for fate in fates]


def _lived(fates: Sequence[Fate]) -> None:
    rules = Rules()
    owners: dict[str, Fate] = {}
    for day in range(3):
        for fate in fates:
            now = MORNING + timedelta(days=2 * day)
            turn = fate.item["turns"][day]
            verdict = decide(turn, fate.item["before"], fate.item["tools"], rules)
            fate.kinds.append(verdict.kind)
            _texted(fate, verdict, rules)
            for event in events(verdict, f"{fate.item['id']}-{day}", now):
                rules = _stepped(step(rules, event, now, ROOMY), owners, fate).rules
    active = {rule.id for rule in rules.active()}
    for fate in fates:
        fate.end = _end(fate, active)


def events(verdict: Verdict, uuid: str, now: datetime) -> list[Event]:
    """The lifecycle's events of a verdict; what is only noticed waits for the person."""
    judged = verdict.judged
    label: Any = judged.label if judged.certainty == "certain" else "EXPLICIT_CORRECTION"
    turn = Evidence(uuid, now, session=uuid, label=label, weight=judged.confidence or 1.0)
    wording = worded_as(verdict.worded) if verdict.worded else None
    match verdict.kind:
        case "corrected" | "contradicts":
            return [Corrected(turn, verdict.rule, wording, hard=verdict.hard)]
        case "ordered":
            return [Ordered(verdict.rule, wording, hard=verdict.hard, evidence=turn)]
        case "approves":
            return [Upvoted(verdict.rule, turn)]
        case "withdraws":
            return [Withdrawn(verdict.rule, turn)]
        case _:
            return []


def worded_as(worded: Worded) -> Wording:
    return Wording(
        worded.title,
        worded.text,
        worded.scope,
        worded.before,
        worded.after,
        worded.signal,
        worded.trigger,
    )


def _stepped(outcome: Outcome, owners: dict[str, Fate], fate: Fate) -> Outcome:
    for change in outcome.changes:
        if change.before and change.before.id != change.rule and change.before.id in owners:
            owners[change.rule] = owners[change.before.id]
            owners[change.rule].rules.add(change.rule)
        owner = owners.setdefault(change.rule, fate)
        fate.rules.add(change.rule)
        if owner is not fate:
            fate.wrong.add("mixed up")
    return outcome


def _texted(fate: Fate, verdict: Verdict, rules: Rules) -> None:
    if verdict.kind in ("approves", "withdraws"):
        fate.wrong.add("inverted")
    for name in verdict.supersedes:
        fate.wrong.add("mixed up")
        older = rules.get(name)
        fate.texts.append(f"(instead of {older.text if older else name})")
    if verdict.worded and verdict.worded.safe and not (verdict.rule and verdict.kind == "corrected"):
        text = verdict.worded.text
        fate.texts.append(text)
        flaw = flaw_of(text, fate.item)
        if flaw:
            fate.wrong.add(flaw)


def _end(fate: Fate, active: set[str]) -> str:
    if fate.rules & active:
        return "promoted"
    if fate.texts or fate.rules:
        return "one key"
    return "words to type" if "noticed" in fate.kinds else "missed"


def flaw_of(text: str, item: dict[str, Any]) -> str:
    """What is wrong with a rule, given what the person wants to be rid of and wants to have; "" if nothing is."""
    against, towards = sides(text)
    bad, good = item["forbidden"], item.get("wanted", r"(?!)")

    def on(pattern: str, side: str) -> bool:
        return re.search(pattern, side, re.IGNORECASE) is not None

    if (on(bad, towards) and not on(bad, against)) or (on(good, against) and not on(good, towards)):
        return "inverted" if not (on(bad, against) or on(good, towards)) else ""
    return "" if on(bad, against) or on(good, towards) else "unrelated"


def sides(text: str) -> tuple[str, str]:
    """What a rule's text is against and what it is for, read without the program's own reader of rules."""
    forgets = re.match(r"Do not forget to (.+)", text)
    if forgets:
        return "", forgets[1]
    other = re.match(r"Do not use (?:anything other than (.+)|other [\w ]+; use (.+))", text)
    if other:
        return "", other[1] or other[2]
    against, towards = "", ""
    for part in re.split(r";\s|\.(?=\s|$)|。|,\s*|，", text):
        if NEGATES.search(part) and not re.search(r"\bwithout\b", part[:1]):
            against += " " + part
        else:
            towards += " " + part
    return against, towards


def report(console: Console, fates: Sequence[Fate], *, each: bool = False) -> None:
    console.rule("100 corrections, each made three times in other words")
    table = Table("half", "corrections", *ENDS, *(f"wrong: {name}" for name in WRONG), box=None)
    for half in ("tune", "held"):
        part = [fate for fate in fates if fate.item["half"] == half]
        ends = Counter(fate.end for fate in part)
        wrong = Counter(name for fate in part for name in fate.wrong)
        table.add_row(half, str(len(part)), *(str(ends[e]) for e in ENDS), *(str(wrong[w]) for w in WRONG))
    console.print(table)
    for fate in fates:
        if fate.item["half"] == "tune" and (each or fate.wrong):
            console.print(
                f"  {fate.item['id']} {fate.end} {sorted(fate.wrong)}: {fate.kinds}", highlight=False
            )
            for text in fate.texts:
                console.print(f"      {text}", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
