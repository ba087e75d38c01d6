"""What a prune would do, as one value: printed by the dry run, checked by the laws, carried out.

An action names a record and what happens to it. Strategies propose; `settle` makes a plan of their proposals:
the first strategy that claims something has it, a dropped record needs no other action, and what a client can
still name as a parent is never dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

from msgspec import Struct

from coffer.core.record import Record


class Worth(IntEnum):
    """How little is lost when something goes; the first goes first."""

    NOTHING = 0
    """Never reaches the model."""
    SUPERSEDED = 1
    """A later successful state says the same or more."""
    REPEATED = 2
    """The same stands elsewhere, later."""
    OBTAINABLE = 3
    """The file on disk is unchanged; reading it gives the same."""
    STALE = 4
    """Old; restored by its id if it is needed."""


class Drop(Struct, frozen=True, gc=False):
    """Remove a record; its children hang on its nearest surviving ancestor."""

    record: Record
    worth: Worth
    why: str = ""
    tokens: float = 0.0


class Cut(Struct, frozen=True, gc=False):
    """Remove one block of a record that keeps others."""

    record: Record
    index: int
    worth: Worth
    why: str = ""
    tokens: float = 0.0


class Stub(Struct, frozen=True, gc=False):
    """Replace a block's content by a line that says what was there and how to get it back.

    keep: characters of the beginning and of the end that stay (a result that is too long, not one that is
    old). note: what was there, in few words.
    """

    record: Record
    index: int
    worth: Worth
    note: str
    why: str = ""
    keep: tuple[int, int] = (0, 0)
    tokens: float = 0.0


class Trim(Struct, frozen=True, gc=False):
    """Remove a record's `toolUseResult`, which the model never sees."""

    record: Record
    worth: Worth = Worth.NOTHING
    why: str = ""
    tokens: float = 0.0


class Strip(Struct, frozen=True, gc=False):
    """Remove the system reminder that a result ends with."""

    record: Record
    index: int
    worth: Worth = Worth.REPEATED
    why: str = ""
    tokens: float = 0.0


class Silence(Struct, frozen=True, gc=False):
    """Empty an attachment that a client may still name as a parent: it stays in the chain and says nothing."""

    record: Record
    worth: Worth
    why: str = ""
    tokens: float = 0.0


Action = Drop | Cut | Stub | Trim | Strip | Silence


class Proposed(Struct, frozen=True, gc=False):
    """An action with the strategy that proposes it. Actions of one group are done together or not at all."""

    strategy: str
    action: Action
    group: str = ""


Form = Literal["attachment", "user"]
"""What is appended: what the client writes for a SessionStart hook, or the seed's user record."""


class Tail(Struct, frozen=True, gc=False):
    """A record that is added behind the last answer: its text, form, uuid and line.

    replaced: where the records begin that say the same no more. Without all of these actions it isn't added.
    before: where the record begins that it is put in front of, as its parent; -1 for the end of the file.
    """

    text: str
    form: Form
    uuid: str
    line: bytes
    replaced: frozenset[int] = frozenset()
    before: int = -1


@dataclass(slots=True)
class Plan:
    """Settled actions. left_out: strategies whose actions would break a law, with the law.

    limited: more was proposed than the loss limit lets go at once. wanted: what is to be appended.
    """

    actions: list[Proposed] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    limited: bool = False
    wanted: Tail | None = None

    @property
    def tail(self) -> Tail | None:
        """What is appended: nothing where nothing else changes, or where an older copy would stay beside it."""
        if self.wanted is None or self.is_empty:
            return None
        gone = {item.action.record.start for item in self.actions}
        return self.wanted if self.wanted.replaced <= gone else None

    @property
    def is_empty(self) -> bool:
        """Whether nothing would change."""
        return not self.actions

    def dropped(self) -> set[int]:
        """Where the dropped records begin."""
        return {item.action.record.start for item in self.actions if isinstance(item.action, Drop)}

    def edits(self) -> dict[int, list[Action]]:
        """Actions that change a record and keep it, by where it begins."""
        found: dict[int, list[Action]] = {}
        for item in self.actions:
            if not isinstance(item.action, Drop):
                found.setdefault(item.action.record.start, []).append(item.action)
        return found

    def without(self, strategy: str, reason: str) -> Plan:
        """The plan without one strategy's actions."""
        kept = [item for item in self.actions if item.strategy != strategy]
        return Plan(kept, {**self.left_out, strategy: reason}, self.limited, self.wanted)

    def without_tail(self) -> Plan:
        """The plan with nothing appended, and with the older copies where they are."""
        replaced = self.wanted.replaced if self.wanted is not None else frozenset()
        kept = [item for item in self.actions if item.action.record.start not in replaced]
        return Plan(kept, self.left_out, self.limited)

    def tokens(self) -> float:
        """Estimated tokens that go."""
        return sum(item.action.tokens for item in self.actions)

    def strategies(self) -> list[str]:
        """The strategies that do something, in order."""
        return list(dict.fromkeys(item.strategy for item in self.actions))


def settle(proposals: Iterable[Proposed], nameable: frozenset[str], limit: float) -> Plan:
    """One plan of all proposals; limit: how many tokens of the view may go at most.

    The first proposal for a place has it. A group goes as a whole or stays as a whole. Where the limit is
    reached, the least worth goes first and the rest stays.
    """
    claimed: set[tuple[int, int]] = set()
    starts: set[int] = set()
    units: list[list[Proposed]] = []
    for unit in _units(proposals):
        places = [_place(item.action) for item in unit]
        if any(_is_refused(item.action, nameable) for item in unit):
            continue
        if any(_is_taken(place, claimed, starts) for place in places):
            continue
        claimed.update(places)
        starts.update([start for start, _ in places])
        units.append(unit)
    kept = _within(units, limit)
    return Plan([item for unit in kept for item in unit], limited=len(kept) < len(units))


def _is_refused(action: Action, nameable: frozenset[str]) -> bool:
    return isinstance(action, Drop) and action.record.uuid in nameable


def _is_taken(place: tuple[int, int], claimed: set[tuple[int, int]], starts: set[int]) -> bool:
    start, slot = place
    return start in starts and (slot == _WHOLE or place in claimed or (start, _WHOLE) in claimed)


_WHOLE, _SIDECAR = -1, -2


def _place(action: Action) -> tuple[int, int]:
    match action:
        case Drop() | Silence():
            return (action.record.start, _WHOLE)
        case Trim():
            return (action.record.start, _SIDECAR)
        case _:
            return (action.record.start, action.index)


def _units(proposals: Iterable[Proposed]) -> list[list[Proposed]]:
    """Groups, and proposals without one each by itself, in the order in which they begin."""
    units: list[list[Proposed]] = []
    groups: dict[str, list[Proposed]] = {}
    for item in proposals:
        if item.group in groups:
            groups[item.group].append(item)
            continue
        units.append([item])
        if item.group:
            groups[item.group] = units[-1]
    return units


def _within(units: Sequence[list[Proposed]], limit: float) -> list[list[Proposed]]:
    sums = [sum(item.action.tokens for item in unit) for unit in units]
    if sum(sums) <= limit:
        return list(units)
    order = sorted(range(len(units)), key=lambda i: (max(item.action.worth for item in units[i]), -sums[i]))
    kept: set[int] = set()
    spent = 0.0
    for index in order:
        if sums[index] <= 0 or spent + sums[index] <= limit:
            spent += max(0.0, sums[index])
            kept.add(index)
    return [unit for index, unit in enumerate(units) if index in kept]
