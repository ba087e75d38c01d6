"""The inbox: what was noticed and can't be decided without the person.

Three kinds of items. *noticed*: a turn that may be worth a rule. *pending*: a rule under observation, which the
person may accept at once. *proposal*: what an agent or a program asked for and only the person may do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Any, Literal

from coffer.core.events import Corrected, Edited
from coffer.core.rule import Rule, Wording, title_of
from coffer.core.verdict import decide
from coffer.core.wording import Worded
from coffer.disk.replace import refusals
from coffer.errors import ItemNotFound, NothingToChange, WordingMissing
from coffer.store.db import database
from coffer.store.evidence import HeardTurn, turns
from coffer.store.proposals import Proposal, close, open_proposals
from coffer.work.desk import Desk, Done, Where, checked, finish
from coffer.work.lesson import clean_wording, evidence_of_turn, said_at

QUIET_DAYS = 60
"""Noticed turns older than this are left out unless all are asked for: nobody remembers what they were about."""
Kind = Literal["noticed", "pending", "proposal"]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to decide.

    id: `project:P001` for a rule, else eight signs. rule: the wording to accept, "" where only the person knows it.
    quote: the person's words. like: names of rules that it resembles. project: "" for everywhere. turn: the id of
    the human turn behind it, "" for others. seen: how often.
    """

    id: str
    kind: Kind
    rule: str
    quote: str
    before: str
    why: str
    time: str
    session: str
    project: str
    certainty: str
    confidence: float
    like: tuple[str, ...]
    where: Where
    seen: int = 1
    turn: str = ""

    def as_json(self) -> dict[str, Any]:
        """All fields, for programs."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(slots=True)
class Inbox:
    """The items of one project and of the person; with `everywhere` also those of all other projects."""

    desk: Desk
    everywhere: bool = False

    def items(self, *, old: bool = False) -> list[Item]:
        """What waits, the surest first. old: also what was noticed long ago."""
        return [*self._proposals(), *self._pending(), *self._noticed(old=old)]

    def _proposals(self) -> Iterator[Item]:
        for one in self._open():
            said = one.arguments
            text = str(said.get("text", said.get("rule", "")))
            yield Item(
                one.id,
                "proposal",
                f"{one.verb} {text}".strip() if one.verb != "add" else text,
                "",
                "",
                f"{one.by} asked for it: digest {one.verb}",
                one.time,
                "",
                str(said.get("project", "")),
                "",
                0.0,
                (),
                "user" if said.get("where") == "user" else "project",
            )

    def _open(self) -> list[Proposal]:
        home = self.desk.shelf.home
        if not home.database.exists():
            return []
        with database(home, write=False) as connection:
            return open_proposals(connection)

    def _pending(self) -> Iterator[Item]:
        for kind, name in self._shelves():
            draft = self.desk.shelf.readable(name)
            for rule in draft.rules.all if draft else ():
                if rule.state == "pending":
                    yield _item_of_rule(rule, kind, name)

    def _shelves(self) -> list[tuple[Where, str]]:
        found: list[tuple[Where, str]] = [("project", self.desk.project)] if self.desk.project else []
        return [*found, ("user", "")]

    def _noticed(self, *, old: bool) -> Iterator[Item]:
        oldest = self.desk.shelf.now - timedelta(days=QUIET_DAYS)
        kept = [
            turn
            for turn in self._turns()
            if (self.everywhere or turn.project in ("", self.desk.project))
            and (old or said_at(turn.time, self.desk.shelf.now) >= oldest)
        ]
        kept.sort(key=lambda turn: (turn.certainty != "certain", -turn.confidence, turn.time))
        for turn in kept:
            yield self._item_of_turn(turn)

    def _turns(self) -> list[HeardTurn]:
        home = self.desk.shelf.home
        if not home.database.exists():
            return []
        with database(home, write=False) as connection:
            return turns(connection, "noticed")

    def _item_of_turn(self, turn: HeardTurn) -> Item:
        worded, like = self._looked_at(turn)
        where: Where = "user" if turn.persistence == "persistent" or not turn.project else "project"
        return Item(
            hashlib.sha256(turn.id.encode()).hexdigest()[:8],
            "noticed",
            worded.text if worded else "",
            turn.text,
            turn.before,
            turn.reason,
            turn.time,
            turn.session,
            turn.project,
            turn.certainty,
            round(turn.confidence, 3),
            like,
            where,
            turn=turn.id,
        )

    def _looked_at(self, turn: HeardTurn) -> tuple[Worded | None, tuple[str, ...]]:
        """A safe wording, and the rules of today that the turn resembles."""
        reach = self.desk.shelf.reach(turn.project)
        tools = [f"{tool} {target}".strip() for tool, target in turn.actions]
        verdict = decide(turn.text, turn.before, tools, reach.rules)
        like = (verdict.rule, *verdict.like) if verdict.rule else verdict.like
        worded = verdict.worded
        return (worded if worded is not None and worded.safe and worded.text else None), like

    # --- what the person decides

    def named(self, name: str) -> Item:
        """The item of an id or of its unique start. Raises ItemNotFound."""
        every = self.items(old=True)
        bare = [item for item in every if item.id == name or item.id.partition(":")[2] == name.upper()]
        found = bare or [item for item in every if item.id.startswith(name)]
        if len(found) != 1:
            raise ItemNotFound(name, len(found))
        return found[0]

    def accept(
        self, name: str, text: str = "", *, hard: bool = False, where: Where | None = None
    ) -> Done | None:
        """Make an item an active rule, in the words `text` if they are given; None for a trust that was proposed.

        Raises WordingMissing, RuleRefused, and what writing raises.
        """
        item = self.named(name)
        match item.kind:
            case "pending":
                return self._accept_rule(item, text, hard=hard)
            case "noticed":
                return self._accept_turn(self._turn(item), item, text, hard=hard, where=where)
            case _:
                return self._accept_proposal(self._proposal(item), text)

    def _proposal(self, item: Item) -> Proposal:
        return next(one for one in self._open() if one.id == item.id)

    def _accept_proposal(self, one: Proposal, text: str) -> Done | None:
        """Do what an agent or a program asked for, with the person's own hand."""
        said = one.arguments
        desk = Desk(self.desk.shelf, str(said.get("project", "")))
        rule, hard = str(said.get("rule", "")), said.get("hard") is True
        done: Done | None = None
        match one.verb:
            case "add":
                where: Where | None = "user" if said.get("where") == "user" else None
                done = desk.add(text or str(said["text"]), hard=hard, where=where)
            case "edit":
                done = desk.edit(rule, text or str(said["text"]))
            case "promote":
                done = desk.promote(rule, hard=hard)
            case "merge":
                done = desk.merge(rule, str(said["into"]))
            case "demote" | "upvote" | "downvote" | "remove":
                verbs = {
                    "demote": desk.demote,
                    "upvote": desk.upvote,
                    "downvote": desk.downvote,
                    "remove": desk.remove,
                }
                done = verbs[one.verb](rule)
            case _:
                raise NothingToChange(f"Run `coffer {one.verb}` yourself to see what it would do.")
        self._close(one.id, "accepted")
        return done

    def _close(self, name: str, state: Literal["accepted", "rejected"]) -> None:
        home = self.desk.shelf.home
        with refusals(home.root), database(home) as connection:
            close(connection, name, state)

    def _accept_rule(self, item: Item, text: str, *, hard: bool) -> Done:
        if text and checked(text) != item.rule:
            draft, rule = self.desk.named(item.id)
            said = checked(text)
            beside = (rule.scope, rule.before, rule.after, rule.signal, rule.trigger)
            draft.step(Edited(rule.id, Wording(title_of(said), said, *beside)))
        return self.desk.promote(item.id, hard=hard)

    def _accept_turn(
        self, turn: HeardTurn, item: Item, text: str, *, hard: bool, where: Where | None
    ) -> Done:
        worded, _ = self._looked_at(turn)
        said = text or item.rule
        if not said:
            raise WordingMissing(item.id)
        project = "" if (where or item.where) == "user" else turn.project
        desk = Desk(self.desk.shelf, project)
        beside = clean_wording(worded) if worded and not text else _beside(turn, said)
        piece = evidence_of_turn(turn, self.desk.shelf.now, "certain")
        desk.shelf.of(project).states[turn.id] = "answered"
        return desk.add(
            said, hard=hard, where="project" if project else "user", evidence=piece, beside=beside
        )

    def merge(self, name: str, rule: str) -> Done:
        """Count an item for a rule that there is."""
        item = self.named(name)
        if item.kind == "pending":
            return self.desk.merge(item.id, rule)
        if item.kind == "proposal":
            raise NothingToChange("A proposal can't be merged; reject it, or accept it and merge the rules.")
        turn = self._turn(item)
        draft, target = Desk(self.desk.shelf, turn.project).named(rule)
        piece = evidence_of_turn(turn, self.desk.shelf.now, "certain")
        draft.states[turn.id] = "answered"
        draft.step(Corrected(replace(piece, weight=1.0), target.id))
        return finish(draft, "merge", target.id)

    def reject(self, name: str) -> Item:
        """It is nothing: a pending rule is removed, a turn is not shown again, a proposal is closed."""
        item = self.named(name)
        if item.kind == "pending":
            self.desk.remove(item.id)
        elif item.kind == "noticed":
            turn = self._turn(item)
            draft = self.desk.shelf.of(turn.project)
            draft.states[turn.id] = "rejected"
            draft.commit("reject", turn.session)
        else:
            self._close(item.id, "rejected")
        return item

    def _turn(self, item: Item) -> HeardTurn:
        return next(turn for turn in self._turns() if turn.id == item.turn)


def _item_of_rule(rule: Rule, kind: Where, project: str) -> Item:
    said = "an agent worded it" if rule.proposed else f"corrected {rule.corrections}×"
    return Item(
        f"{kind}:{rule.id}",
        "pending",
        rule.text,
        rule.after,
        rule.before,
        said,
        rule.last_seen.isoformat() if rule.last_seen else "",
        "",
        project,
        "",
        0.0,
        (),
        kind,
        rule.corrections,
    )


def _beside(turn: HeardTurn, said: str) -> Wording:
    """What stands beside a rule that the person worded: what the agent did, and what they said to it."""
    doing = f"Used {' '.join(turn.actions[-1])}" if turn.actions else turn.before[-160:]
    worded = Worded(
        said, title_of(said), "", "", doing.strip(), f'User said "{turn.text[:160]}"', "", safe=True, why=""
    )
    return clean_wording(worded) or Wording("", "")
