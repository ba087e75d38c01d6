"""The inbox: what was noticed and can't be decided without the person.

Three kinds of items. *noticed*: a turn that may be worth a rule. *pending*: a rule under observation, which the
person may accept at once. *proposal*: what an agent or a program asked for and only the person may do.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Any, Literal

from coffer.core.events import Corrected, Edited
from coffer.core.likeness import resembling
from coffer.core.rule import Rule, Wording, title_of
from coffer.core.text_hash import text_hash
from coffer.core.turn import normal
from coffer.core.verdict import decide
from coffer.core.wording import Worded
from coffer.disk.replace import refusals
from coffer.store.db import Receipt, database
from coffer.store.evidence import HeardTurn, turns
from coffer.store.proposals import Proposal, close, open_proposals
from coffer.work.rules.desk import Desk, Done, Where, checked, finish
from coffer.work.rules.lesson import clean_wording, evidence_of_turn, said_at
from coffer.work.rules.rule_errors import ItemNotFound, NothingToChange, WordingMissing

QUIET_DAYS = 60
"""Noticed turns older than this are left out unless all are asked for: nobody remembers what they were about."""
Kind = Literal["noticed", "pending", "proposal"]
Alike = list[HeardTurn]
"""Noticed turns of one project that say the same in the same words, oldest first; never empty."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to decide.

    id: `project:P001` for a rule, else ten signs. rule: the wording to accept, or what the rule says of which
    something is asked; "" where only the person knows it. quote: the person's words. before: what the agent said, or
    the rule said before an edit. like: names of rules that it resembles. project: "" for everywhere. turn: the id
    of the newest human turn behind it, "" for others. seen: how often.
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
        return list(self.each(old=old))

    def each(self, *, old: bool = False) -> Iterator[Item]:
        """The same, one after the other: wording a turn takes milliseconds, and thousands may wait."""
        yield from self._decided()
        for alike in self._waiting(old=old):
            yield self._item_of(alike)

    def count(self, *, old: bool = False) -> int:
        """How many items there are."""
        return len(list(self._decided())) + len(self._waiting(old=old))

    def _decided(self) -> Iterator[Item]:
        """Those whose wording is known."""
        yield from map(self._item_of_proposal, self._open())
        yield from self._pending()

    def _item_of_proposal(self, one: Proposal) -> Item:
        said = one.arguments
        asked = [one.verb, *(str(said[name]) for name in ("rule", "into") if said.get(name))]
        asked += ["--hard"] if said.get("hard") is True else []
        asked += ["--global"] if said.get("where") == "user" else []
        return Item(
            one.id,
            "proposal",
            str(said.get("text") or said.get("says", "")),
            "",
            str(said.get("says", "")) if one.verb == "edit" else "",
            f"{one.by} asked for it: {' '.join(asked)}",
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
            rules = draft.rules.all if draft else ()
            for rule in rules:
                if rule.state == "pending":
                    others = [each for each in rules if each.id != rule.id and each.state != "archived"]
                    yield _item_of_rule(rule, kind, name, resembling(rule.text, others))

    def _shelves(self) -> list[tuple[Where, str]]:
        found: list[tuple[Where, str]] = [("project", self.desk.project)] if self.desk.project else []
        return [*found, ("user", "")]

    def _waiting(self, *, old: bool) -> list[Alike]:
        """What was noticed, the surest first; the same words in several sessions are one item."""
        oldest = self.desk.shelf.now - timedelta(days=QUIET_DAYS)
        kept = [
            alike
            for alike in self._noticed().values()
            if (self.everywhere or alike[-1].project in ("", self.desk.project))
            and (old or said_at(alike[-1].time, self.desk.shelf.now) >= oldest)
        ]
        kept.sort(key=lambda alike: (alike[-1].certainty != "certain", -alike[-1].confidence, alike[-1].time))
        return kept

    def _noticed(self) -> dict[tuple[str, str], Alike]:
        """Turns that were noticed, by project and words, oldest first."""
        found: dict[tuple[str, str], Alike] = {}
        home = self.desk.shelf.home
        if home.database.exists():
            with database(home, write=False) as connection:
                for turn in turns(connection, "noticed"):
                    found.setdefault((turn.project, normal(turn.text)), []).append(turn)
        return found

    def _item_of(self, alike: Alike) -> Item:
        turn = alike[-1]
        worded, like = self._looked_at(turn)
        where: Where = "user" if turn.persistence == "persistent" or not turn.project else "project"
        return Item(
            _name_of(alike),
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
            len(alike),
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
        every: list[tuple[str, Item | Alike]] = [(item.id, item) for item in self._decided()]
        every += [(_name_of(alike), alike) for alike in self._waiting(old=True)]
        every = every if name else []  # an empty variable of a script means nothing, not everything
        bare = [it for id_, it in every if id_ == name or id_.partition(":")[2] == name.upper()]
        found = bare or [it for id_, it in every if id_.startswith(name)]
        if len(found) != 1:
            raise ItemNotFound(name, len(found))
        (one,) = found
        return one if isinstance(one, Item) else self._item_of(one)

    def accept(self, name: str, text: str = "", *, hard: bool = False, where: Where | None = None) -> Done:
        """Make an item an active rule, in the words `text` if they are given; of a proposal, do what it asks for.

        Raises WordingMissing, RuleRefused, NothingToChange, and what writing raises.
        """
        item = self.named(name)
        match item.kind:
            case "pending":
                return self._accept_rule(item, text, hard=hard)
            case "noticed":
                return self._accept_turn(self._alike(item), item, text, hard=hard, where=where)
            case _:
                return self._accept_proposal(self._proposal(item), text)

    def _proposal(self, item: Item) -> Proposal:
        return next(one for one in self._open() if one.id == item.id)

    def _accept_proposal(self, one: Proposal, text: str) -> Done:
        """Do what an agent or a program asked for, with the person's own hand."""
        said = one.arguments
        desk = Desk(self.desk.shelf, str(said.get("project", "")))
        rule, hard = str(said.get("rule", "")), said.get("hard") is True
        if "says" in said and said["says"] != desk.named(rule)[1].text:
            raise NothingToChange(
                f"{rule} says something else by now than when this was asked for: reject it."
            )
        if text and one.verb not in ("add", "edit"):
            raise NothingToChange(f"This asks to {one.verb} a rule, which needs no words.")
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
                how = f"coffer trust {'--revoke ' if one.verb == 'revoke' else ''}{shlex.quote(one.digest)}"
                raise NothingToChange(f"Run `{how}` yourself: it shows what it would do.")
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

    def _accept_turn(self, alike: Alike, item: Item, text: str, *, hard: bool, where: Where | None) -> Done:
        turn = alike[-1]
        worded, _ = self._looked_at(turn)
        said = text or item.rule
        if not said:
            raise WordingMissing(item.id)
        if where == "project" and not turn.project:
            raise NothingToChange(
                "It was said outside of any project, so its rule can only be for all of them."
            )
        project = "" if (where or item.where) == "user" else turn.project
        desk = Desk(self.desk.shelf, project)
        beside = clean_wording(worded) if worded and not text else _beside(turn, said)
        pieces = [evidence_of_turn(each, self.desk.shelf.now, "certain") for each in alike]
        desk.shelf.of(project).states |= {each.id: "answered" for each in alike}
        return desk.add(
            said, hard=hard, where="project" if project else "user", evidence=pieces, beside=beside
        )

    def merge(self, name: str, rule: str) -> Done:
        """Count an item for a rule that there is."""
        item = self.named(name)
        if item.kind == "pending":
            return self.desk.merge(item.id, rule)
        if item.kind == "proposal":
            raise NothingToChange("A proposal can't be merged; reject it, or accept it and merge the rules.")
        alike = self._alike(item)
        draft, target = Desk(self.desk.shelf, item.project).named(rule)
        draft.states |= {turn.id: "answered" for turn in alike}
        for turn in alike:
            piece = evidence_of_turn(turn, self.desk.shelf.now, "certain")
            draft.step(Corrected(replace(piece, weight=1.0), target.id))
        return finish(draft, "merge", target.id)

    def reject(self, name: str) -> tuple[Item, Receipt | None]:
        """It is nothing: a pending rule is removed, a turn is not shown again, a proposal is closed.

        The receipt, None for a proposal, which may be asked for again.
        """
        item = self.named(name)
        if item.kind == "pending":
            return item, self.desk.remove(item.id).receipt
        if item.kind == "noticed":
            draft = self.desk.shelf.of(item.project)
            draft.states |= {turn.id: "rejected" for turn in self._alike(item)}
            return item, draft.commit("reject", item.session)
        self._close(item.id, "rejected")
        return item, None

    def _alike(self, item: Item) -> Alike:
        """The turns of an item, oldest first."""
        return next(alike for alike in self._noticed().values() if _name_of(alike) == item.id)


def _name_of(alike: Alike) -> str:
    """Made of the oldest turn, so that it stays when the same is said again."""
    return text_hash(alike[0].id, 10)


def _item_of_rule(rule: Rule, kind: Where, project: str, like: tuple[str, ...]) -> Item:
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
        like,
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
