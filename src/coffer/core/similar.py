"""Whether two rules say the same, the opposite, or different things.

Nothing here measures likeness. Both rules are taken apart into what is forbidden, what is wanted, place,
language and condition. They are the same only if every slot agrees and neither names a thing that the other
replaces by another; they contradict each other if they take opposite sides on the same thing, or want two
things of which one can have only one. All else is distinct: a missed merge costs a line, a wrong one a rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from coffer.core.ideas import Stance, stances
from coffer.core.slots import Slots, prepared, slots
from coffer.core.tables import ADDING, EXCLUSIVE, IMPLIED, LANGUAGES, OF_COMMITS, OTHER, WEAK
from coffer.core.verbs import BASE

Label = Literal["DUPLICATE", "DISTINCT", "CONTRADICTORY"]


@dataclass(frozen=True)
class Relation:
    """How two rules stand to each other, and why."""

    label: Label
    reason: str


def compare(a: str, b: str) -> Relation:
    """The relation of two rules."""
    one, other = slots(a), slots(b)
    apart = _apart(one, other)
    opposed = _opposed(one, other, apart) or _opposed(
        slots(a, reordered=False), slots(b, reordered=False), apart
    )
    idea = _by_idea(stances(a, prepared(a)), stances(b, prepared(b)), one, other)
    if opposed and idea is not None and idea.label == "DUPLICATE":
        return Relation("DISTINCT", f"{idea.reason}, but {opposed}")
    if opposed:
        return Relation("CONTRADICTORY", opposed)
    if idea is not None:
        return idea
    if apart:
        return Relation("DISTINCT", apart)
    return _same(one, other)


def _apart(one: Slots, other: Slots) -> str:
    """Why the two can't be about the same thing."""
    if one.tongues and other.tongues and not one.tongues & other.tongues:
        return f"another language: {_list(one.tongues)}, {_list(other.tongues)}"
    if one.places != other.places and one.places and other.places and not one.places & other.places:
        return f"another place: {_list(one.places)}, {_list(other.places)}"
    if one.numbers != other.numbers and one.numbers and other.numbers:
        return "another number"
    return ""


def _opposed(one: Slots, other: Slots, apart: str) -> str:
    """What the two disagree on."""
    if apart:
        return ""
    swapped = (_crossed(one, other), _crossed(other, one))
    if all(swapped):
        return f"one forbids what the other wants: {_list(swapped[0] | swapped[1])}"
    if one.forbidden and one.forbidden == other.forbidden and one.wanted and other.wanted:
        rests = one.wanted - other.wanted, other.wanted - one.wanted
        pair = _exclusive(*rests)
        if pair and len(rests[0]) == len(rests[1]) == 1:
            return f"two choices for one thing: {pair}"
    if not one.forbidden and not other.forbidden:
        rest_one, rest_other = one.wanted - other.wanted, other.wanted - one.wanted
        pair = _exclusive(rest_one, rest_other)
        if pair and len(rest_one) == len(rest_other) == 1:
            return f"two choices for one thing: {pair}"
    for denying, wanting in ((one, other), (other, one)):
        if denying.forbidden and wanting.wanted and _answers(denying, wanting):
            return f"one forbids what the other wants: {_list(denying.forbidden & wanting.wanted)}"
    return ""


def _crossed(one: Slots, other: Slots) -> frozenset[str]:
    """What one forbids and the other wants, if that is the better part of both."""
    against, towards = one.forbidden - one.wanted, other.wanted - other.forbidden
    shared = against & towards
    return shared if 2 * len(shared) >= max(len(against), len(towards)) else frozenset()


def _answers(denying: Slots, wanting: Slots) -> bool:
    """Whether all that one forbids is what the other wants, on the same terms."""
    if wanting.forbidden & denying.forbidden or "@ask" in wanting.conditions:
        return False
    if "@ask" in denying.conditions and "@noask" not in wanting.conditions:
        return False
    banned, wished = denying.forbidden, wanting.wanted
    shared = banned & wished
    if not shared or banned - wished - WEAK or (shared <= WEAK and banned != wished):
        return False  # "add" on both sides says nothing of what is added
    if len(shared) < len(wished - WEAK - banned):
        return False  # it speaks of much else: "name files X with Default as the first export"
    return len(shared) >= 2 or not wished - shared - WEAK


def _aligned(one: Slots, other: Slots) -> bool:
    """Whether both turn the same way; a thing that stands on both sides of a rule turns it nowhere."""
    against = (one.forbidden - one.wanted) & (other.forbidden - other.wanted)
    towards = (one.wanted - one.forbidden) & (other.wanted - other.forbidden)
    if against and towards:
        return True
    crossed = (one.forbidden - one.wanted) & (other.wanted - other.forbidden)
    recrossed = (one.wanted - one.forbidden) & (other.forbidden - other.wanted)
    return bool(against and one.wanted & other.wanted) and not (crossed and recrossed)


def _exclusive(left: frozenset[str], right: frozenset[str]) -> str:
    for names in EXCLUSIVE:
        mine, theirs = left & names, right & names
        if mine and theirs and not mine & theirs:
            return f"{_list(mine)}, {_list(theirs)}"
    return ""


def _says_more(one: Slots, other: Slots) -> bool:
    mine, theirs = len(one.forbidden | one.wanted), len(other.forbidden | other.wanted)
    return mine > 9 and mine >= 2 * theirs + 2


def _by_idea(
    mine: tuple[Stance, ...], theirs: tuple[Stance, ...], one: Slots, other: Slots
) -> Relation | None:
    """The relation by a common idea, where the surroundings allow it."""
    if not mine or {stance.idea.name for stance in mine} != {stance.idea.name for stance in theirs}:
        return None
    if one.tongues and other.tongues and not one.tongues & other.tongues:
        return Relation("DISTINCT", "another language")
    if one.numbers != other.numbers:
        return Relation("DISTINCT", "another number")
    if _exclusive(one.forbidden, other.forbidden):
        return Relation("DISTINCT", "another thing of that kind")
    if _says_more(one, other) or _says_more(other, one):
        return Relation("DISTINCT", "one says much more")
    if any(stance.idea.placed for stance in mine) and one.places != other.places:
        return Relation("DISTINCT", "another place")
    both_forbid = bool(one.forbidden and other.forbidden) or any(stance.idea.placed for stance in mine)
    both_forbid = both_forbid and not one.places & other.places and not one.tongues & other.tongues
    if both_forbid and one.inside and other.inside and not one.inside & other.inside:
        return Relation("DISTINCT", f"another place: {_list(one.inside)}, {_list(other.inside)}")
    loose = all(stance.idea.loose for stance in mine)
    if one.conditions != other.conditions and not loose:
        return Relation("DISTINCT", "another condition")
    sides = {stance.idea.name: stance.keeps for stance in theirs}
    name = mine[0].idea.name
    if all(sides[stance.idea.name] == stance.keeps for stance in mine):
        return Relation("DUPLICATE", f"the same idea: {name}")
    return Relation("CONTRADICTORY", f"opposite sides of one idea: {name}")


def _same(one: Slots, other: Slots) -> Relation:
    if one.conditions != other.conditions:
        return Relation("DISTINCT", "another condition")
    if one.places != other.places:
        return Relation("DISTINCT", "another place")
    if one.deeds and other.deeds and not one.deeds & other.deeds:
        return Relation("DISTINCT", f"another deed: {_list(one.deeds)}, {_list(other.deeds)}")
    if _one_of_a_kind(one, other):
        return Relation("DUPLICATE", f"the same choice: {_list(one.wanted)}")
    if len(set(one.choices)) > 1 and one.choices != other.choices and not _aligned(one, other):
        return Relation("DISTINCT", "the same things, and it does not show which one wins")
    sure = (one.wanted and one.wanted == other.wanted) or one.conditions
    banned = _agree(one.forbidden, other.forbidden, 1 if sure else 2)
    wished = _agree(one.wanted, other.wanted, 2)
    if one.forbidden and other.forbidden and banned and (wished or not one.wanted or not other.wanted):
        return Relation("DUPLICATE", f"both forbid {_list(one.forbidden & other.forbidden)}")
    if not one.forbidden and not other.forbidden and wished:
        return Relation("DUPLICATE", f"both want {_list(one.wanted & other.wanted)}")
    if _aligned(one, other) and not (one.forbidden | one.wanted) ^ (other.forbidden | other.wanted):
        return Relation("DUPLICATE", f"the same choice: {_list(one.wanted & other.wanted)}")
    return Relation("DISTINCT", "not the same in every slot")


def _one_of_a_kind(one: Slots, other: Slots) -> bool:
    """Whether both want one tool of a kind: "no pip, uv", "uv and no other package manager", "no pip calls; uv"."""
    wanted = one.wanted - LANGUAGES
    if wanted != other.wanted - LANGUAGES or len(wanted) != 1:
        return False
    kind = next((names for names in EXCLUSIVE if wanted <= names), frozenset())
    rivals = one.forbidden & kind, other.forbidden & kind
    if not kind or wanted & (one.forbidden | other.forbidden):
        return False
    others = [OTHER in slots.forbidden or not slots.forbidden for slots in (one, other)]
    if any(others):
        return all(rival or other for rival, other in zip(rivals, others, strict=True))
    return bool(rivals[0] & rivals[1]) and max(len(one.forbidden), len(other.forbidden)) <= 2


def _agree(left: frozenset[str], right: frozenset[str], least: int) -> bool:
    """The same things, or all of one and hardly more in the other; never one thing in place of another."""
    if not left or not right:
        return False
    if left == right:
        return True
    more, fewer = (left, right) if len(left) > len(right) else (right, left)
    if not fewer < more or len(more) - len(fewer) > 1:
        return False
    if more - fewer <= IMPLIED and fewer & OF_COMMITS:
        return True
    if more - fewer <= WEAK:
        named = more - fewer <= ADDING and not fewer & BASE
        return len(fewer) >= (1 if named else least)
    return len(fewer) >= 3 and not any((more - fewer) & names for names in EXCLUSIVE)


def _list(words: frozenset[str]) -> str:
    return ", ".join(sorted(words))
