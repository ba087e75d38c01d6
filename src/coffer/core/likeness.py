"""What a text speaks of, and which rules speak of the same; it only proposes.

`resembling` names rules that a person may want to merge with what was said. `named` finds the one rule that a
topic names. Neither looks at polarity: `similar.compare` decides whether two rules say the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from coffer.core.rule import Rule
from coffer.core.slots import Slots, slots
from coffer.core.tables import WEAK
from coffer.core.verbs import word_set

MOST = 3
"""More than this many proposals help nobody to choose."""

CHATTER = word_set(
    """
    what which who why how did didn does doesn still already yes no right exactly good great nice perfect thank
    thanks again thing rule rules said tell told asked wait hmm really keep like way time project repository
    existing whole entire full old new other first
    code file files change you're that's it's i'm don think know see time today back going done work working
    """
)
"""Words that turn up in any turn and name no topic."""


def topic(text: str) -> frozenset[str]:
    """The concepts that a text names, whichever side it takes; conditions and chatter left out."""
    return concepts(slots(text)) - CHATTER


def concepts(taken: Slots) -> frozenset[str]:
    """All that a rule forbids or wants."""
    words = (word.lstrip("~") for word in taken.forbidden | taken.wanted)
    return frozenset(word for word in words if not word.startswith("@"))


def resembling(said: str, rules: Sequence[Rule]) -> tuple[str, ...]:
    """Ids of the rules that are about what was said, the likest first; at most `MOST`."""
    words = topic(said) - WEAK
    scored = []
    for place, rule in enumerate(rules):
        theirs = topic(rule.text) - WEAK
        shared = words & theirs
        if not shared:
            continue
        share = len(shared) / min(len(theirs), len(words))
        if share >= 0.5 or len(shared) >= 2:
            scored.append((-share, -len(shared), place, rule.id))
    return tuple(name for *_, name in sorted(scored)[:MOST])


def named(words: str, rules: Sequence[Rule]) -> Rule | None:
    """The one rule that a topic like "emoji" or "co-author lines" names; None if none does, or several do."""
    asked = topic(re.sub(r"\b(?:using|use of|adding|having)\b", " ", words)) - WEAK
    if not asked:
        return None
    found = [rule for rule in rules if asked <= topic(rule.text)]
    return found[0] if len(found) == 1 else None
