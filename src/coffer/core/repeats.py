"""Whether a turn that can't be worded plainly repeats a rule that stands: "npm again?", "I said no emojis".

A complaint says that the agent did something, so what it names must be all that tells the rule's forbidden side
from other rules, and nothing of what the rule wants. It must fit one rule only. "Why didn't you use npm?" has the
same words and the opposite meaning, so a complaint with a negation is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from coffer.core.ideas import stances
from coffer.core.likeness import CHATTER, topic
from coffer.core.phrase_forms import DID_THAT
from coffer.core.regex import regex
from coffer.core.rule import Rule
from coffer.core.similar import compare
from coffer.core.slots import Slots, prepared, slots
from coffer.core.tables import IMPLIED, WEAK

LONGEST = 200
SENTENCES = regex(r"(?<=[.!?;。！？])\s*(?=\S)|\n+|\s[-–—]\s")
_DEEDS = (
    r"(?:changed|added|deleted|removed|committed|pushed|bumped|put|wrote|made|used|ran|left|squashed"
    r"|touched|edited|skipped"
    r"|started|installed|renamed|mocked|merged|rebased|amended|upgraded|reformatted|created|hardcoded"
    r"|read|opened|stashed"
    r"|overwrote|rewrote|logged|imported|swallowed|exported)"
)
COMPLAINTS: tuple[re.Pattern[str], ...] = tuple(
    regex(pattern, re.IGNORECASE)
    for pattern in (
        (
            r"^\W*(?:(?:ok|hm+|wait|um|so|and|but|hey|oh|seriously|dude|man)\W+)*why(?:'d|'s| (?:did"
            r"|are|do|have|is|were|was"
            r"|would|must|a|all|the|these|this|so))\b.*"
        ),
        rf"\byou(?:'ve| have)? (?:just |again |still |also |even )*{_DEEDS}\b.*(?:\b(?:again|still)\b|\?)",
        r"^\W*(?:(?:ok|hm+|wait|oh|seriously|dude)\W+)*did you (?:just |really |seriously )+.*\?",
        r"^\W*(?:[\w@./+-]+ ){1,4}again\s*(?:[?!]|\.\.|…)",
        r"^\W*still (?:using |the )?[\w@./ +-]{2,40}[?!]",
        r"^\W*who (?:asked|told|said)\b.*",
        r"^\W*did i (?:ask|tell|say)\b.*",
        r"^\W*(?:warum|wieso|wer hat)\b.*",
        r"^\W*(?:pourquoi|qui t['’]a)\b.*",
        r"^\W*(?:por qué|quién te)\b.*",
        r"^\W*¿.*\b(?:por qué|quién te|otra vez)\b.*",
        r"^(?:为什么|谁让你|怎么又|你怎么|又).*",
    )
)
UNASKED = regex(
    r"\bwho (?:asked|told|said)\b|\bdid i (?:ask|tell|say)\b|\bwer hat\b|\bqui t['’]a\b|\bquién te\b|谁让",
    re.IGNORECASE,
)
"""A complaint that it was not asked for, which is just what "not without asking" forbids."""
NEGATED = regex(
    r"\b(?:not|never|no|without|forgot|forget|missing|instead of|nicht|kein\w*|pas|sin|ohne|sans|ne)\b|n['’]t\b|不|没",
    re.IGNORECASE,
)


def repeated(said: str, rules: Sequence[Rule]) -> str:
    """The id of the one rule that a turn complains of being broken, or nothing.

    said: the person's own words. A rule with a condition is complained of only where the complaint is that nobody
    asked for it, since other words don't say whether the condition held.
    """
    if len(said) > LONGEST:
        return ""
    told = DID_THAT.search(said)
    complaints = [
        sentence
        for sentence in SENTENCES.split(said)
        if not NEGATED.search(sentence) and any(form.search(sentence) for form in COMPLAINTS)
    ]
    if told and not NEGATED.search(told["deed"]):
        complaints.append(told["deed"])
    found = [rule.id for rule in rules if any(_complains(sentence, rule) for sentence in complaints)]
    return found[0] if len(found) == 1 else ""


def _complains(sentence: str, rule: Rule) -> bool:
    """Whether a complaint names all that a rule forbids, or the idea behind it, and nothing that it wants."""
    taken = slots(rule.text)
    words = topic(sentence)
    if _places_apart(sentence, taken) or words & (taken.wanted - taken.forbidden - WEAK):
        return False
    mine = {stance.idea.name for stance in stances(sentence) if not stance.keeps}
    kept = [stance.idea for stance in stances(rule.text, prepared(rule.text)) if stance.keeps]
    same = bool(mine) and mine == {idea.name for idea in kept}
    if taken.conditions - ({"@ask"} if UNASKED.search(sentence) else set()):
        return same and all(idea.loose for idea in kept)
    banned = _distinct(taken)
    return same or (bool(banned) and banned <= words)


def _places_apart(sentence: str, taken: Slots) -> bool:
    places = slots(sentence).places
    return bool(places and taken.places and not places & taken.places)


def restated(said: str, rules: Sequence[Rule]) -> str:
    """The id of the one rule that a clause of the turn says again, while no clause says the opposite."""
    if len(said) > LONGEST:
        return ""
    parts = [part.strip(" ,") for part in re.split(r"(?<=[.!?;])\s+|\n+|,\s+|\s[-–—]\s", said)]
    clauses = [part.rstrip(".!") for part in parts if len(part.split()) > 1 and not part.endswith("?")]
    found = []
    for rule in rules:
        labels = {compare(clause, rule.text).label for clause in clauses}
        if "DUPLICATE" in labels and "CONTRADICTORY" not in labels:
            found.append(rule.id)
    return found[0] if len(found) == 1 else ""


def _distinct(taken: Slots) -> frozenset[str]:
    """What a rule forbids that nothing else would say."""
    banned = frozenset(word for word in taken.forbidden if not word.startswith(("@", "~")))
    return banned - taken.wanted - WEAK - CHATTER - IMPLIED
