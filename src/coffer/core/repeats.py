"""Whether a turn that can't be worded plainly repeats a rule that stands: "npm again?", "I said no emojis".

The words of the turn must hold all that tells the rule from others, on the side that the turn takes, and must do
so for one rule only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from coffer.core.likeness import topic
from coffer.core.rule import Rule
from coffer.core.similar import compare
from coffer.core.slots import Slots, slots
from coffer.core.tables import WEAK

LONGEST = 200
COMPLAINT = re.compile(
    r"\b(?:why (?:did|are|do|have|would) you|why'd you|you (?:just |again |still |already )*(?:\w+ed|put|used|did|made"
    r"|wrote|ran|are|keep)|again|still|who (?:asked|told)|did i (?:ask|tell)|i (?:said|told you|asked)|how many times"
    r"|what did i say|warum hast|pourquoi|por qué|schon wieder)\b|又|\?!",
    re.IGNORECASE,
)
NEGATED = re.compile(
    r"\b(?:not|never|no|without|forgot|forget|missing|skipp\w+|instead of|didn['’]?t|don['’]?t|aren['’]?t|haven['’]?t"
    r"|isn['’]?t|nicht|kein\w*|pas|sin|no)\b|不|没",
    re.IGNORECASE,
)


def repeated(said: str, rules: Sequence[Rule]) -> str:
    """The id of the one rule that a corrective turn repeats, or nothing."""
    if len(said) > LONGEST:
        return ""
    found = [rule.id for rule in rules if _restates(said, rule) or _complains(said, rule)]
    return found[0] if len(found) == 1 else ""


def _restates(said: str, rule: Rule) -> bool:
    """Whether one clause of the turn is the rule, and none its opposite."""
    clauses = [part for part in re.split(r"(?<=[.!?;])\s+|\n+|,\s+|\s[-–—]\s", said) if len(part.split()) > 1]
    labels = {
        compare(clause.rstrip("?!. "), rule.text).label for clause in clauses if not clause.endswith("?")
    }
    return "DUPLICATE" in labels and "CONTRADICTORY" not in labels


def _complains(said: str, rule: Rule) -> bool:
    """Whether the turn complains of just what the rule forbids."""
    if not COMPLAINT.search(said) or NEGATED.search(said):
        return False
    taken = slots(rule.text)
    words, banned = topic(said), _distinct(taken)
    return bool(banned) and banned <= words and not words & (taken.wanted - taken.forbidden - WEAK)


def _distinct(taken: Slots) -> frozenset[str]:
    if taken.conditions:
        return frozenset()
    banned = frozenset(word for word in taken.forbidden if not word.startswith(("@", "~")))
    return banned - taken.wanted - WEAK
