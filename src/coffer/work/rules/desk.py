"""The person at work on their rules: every verb of `coffer digest` that changes one, each with a receipt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from coffer.core.classify.decide import classify
from coffer.core.digest_text import hostile
from coffer.core.events import (
    Accepted,
    Corrected,
    Demoted,
    Edited,
    Event,
    Merged,
    Ordered,
    Removed,
    Superseded,
    Upvoted,
    Withdrawn,
)
from coffer.core.order import order_wording
from coffer.core.redact import redact
from coffer.core.rule import Evidence, Persistence, Rule, Wording, is_hard, title_of
from coffer.core.verdict import relations
from coffer.core.wording import TRIGGERS
from coffer.store.db import Receipt
from coffer.work.rules.draft import Draft
from coffer.work.rules.rule_errors import NothingToChange, RuleAmbiguous, RuleNotFound, RuleRefused
from coffer.work.rules.shelf import Shelf

Where = Literal["project", "user"]
"""Which digest: the project's, or the person's own for every project."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a verb did. rule: as it is now, or was if it is gone. notes: sentences for the person."""

    receipt: Receipt
    rule: Rule
    where: Where
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Desk:
    """project: root of the project that the person stands in, "" for none."""

    shelf: Shelf
    project: str

    def named(self, name: str, where: Where | None = None) -> tuple[Draft, Rule]:
        """The rule of an id, of the project's digest or the person's. Raises RuleNotFound, RuleAmbiguous."""
        wanted = name.strip().strip("[]")
        said, _, rest = wanted.partition(":")
        if rest and said in ("project", "user"):
            where, wanted = ("project" if said == "project" else "user"), rest
        found = [
            (draft, rule)
            for draft in self._drafts(where)
            if (rule := draft.rules.get(wanted.upper())) is not None
        ]
        if not found:
            raise RuleNotFound(name, [str(draft.path) for draft in self._drafts(where)])
        if len(found) > 1:
            raise RuleAmbiguous(wanted.upper())
        return found[0]

    def _drafts(self, where: Where | None) -> list[Draft]:
        names = [self.project] if self.project and where != "user" else []
        names += [""] if where != "project" else []
        return [self.shelf.of(name) for name in names]

    def target(self, where: Where | None) -> Draft:
        """The digest that something new goes into: the project's where there is one."""
        return self.shelf.of("" if where == "user" else self.project)

    def add(
        self,
        text: str,
        *,
        hard: bool = False,
        where: Where | None = None,
        evidence: Sequence[Evidence] = (),
        beside: Wording | None = None,
    ) -> Done:
        """Add a rule that the person orders; active at once.

        evidence: the turns behind it. beside: what belongs to it, its text aside.

        Raises RuleRefused, and what writing raises.
        """
        draft = self.target(where)
        wording, notes = ordered_wording(text, beside)
        persistence: Persistence = "session" if draft.project else "persistent"
        same, against = relations(wording.text, draft.rules)
        asked = hard or is_hard(text)
        event = Ordered(
            same, None if same else wording, asked, evidence[0] if evidence else None, persistence
        )
        draft.step(event)
        name = draft.changes[-1].rule if draft.changes and not same else same
        newest = next((change.rule for change in draft.changes if change.before is None), "")
        for piece in evidence[1:]:
            draft.step(Corrected(piece, newest or name))
        for old in against if newest else ():
            draft.step(Superseded(old, newest))
            notes.append(f"It replaces {old}, which said the opposite.")
        if same:
            notes.append("There was a rule that says the same; it was confirmed.")
        return finish(draft, "add", newest or name, notes)

    def edit(self, name: str, text: str, where: Where | None = None) -> Done:
        """Word a rule anew, in the person's words."""
        draft, rule = self.named(name, where)
        said = checked(text)
        if said == rule.text:
            raise NothingToChange(f"{rule.id} says that already.")
        title = title_of(said) if rule.title in ("", title_of(rule.text)) else rule.title
        wording = Wording(title, said, rule.scope, rule.before, rule.after, rule.signal, rule.trigger)
        draft.step(Edited(rule.id, wording))
        return finish(draft, "edit", rule.id)

    def promote(self, name: str, *, hard: bool = False, where: Where | None = None) -> Done:
        """Make a rule active, or hard, by the person's word."""
        draft, rule = self.named(name, where)
        if rule.state == "active" and (rule.priority == "hard" or not hard):
            raise NothingToChange(
                f"{rule.id} is active{' and hard' if rule.priority == 'hard' else ''} already."
            )
        return self._happen(draft, "promote", Accepted(rule.id, hard))

    def demote(self, name: str, where: Where | None = None) -> Done:
        """Take a rule out of delivery; it waits in pending."""
        draft, rule = self.named(name, where)
        if rule.state != "active":
            raise NothingToChange(f"{rule.id} is {rule.state}: it is not delivered anyway.")
        return self._happen(draft, "demote", Demoted(rule.id))

    def upvote(self, name: str, where: Where | None = None) -> Done:
        """One more for a rule."""
        draft, rule = self.named(name, where)
        return self._happen(draft, "upvote", Upvoted(rule.id))

    def downvote(self, name: str, where: Where | None = None) -> Done:
        """One less for a rule; at nought it is deleted."""
        draft, rule = self.named(name, where)
        return self._happen(draft, "downvote", Withdrawn(rule.id))

    def remove(self, name: str, where: Where | None = None) -> Done:
        """Delete a rule."""
        draft, rule = self.named(name, where)
        return self._happen(draft, "remove", Removed(rule.id))

    def merge(self, name: str, into: str, where: Where | None = None) -> Done:
        """Let one rule take over what another of the same file has counted."""
        draft, rule = self.named(name, where)
        other, kept = self.named(into, where)
        if other is not draft:
            raise NothingToChange("The two rules stand in different files; remove one of them instead.")
        if rule.id == kept.id:
            raise NothingToChange("A rule can't be merged with itself.")
        draft.step(Merged(rule.id, kept.id))
        if not draft.changes:
            raise NothingToChange(
                f"{rule.id} is yours and {kept.id} is an agent's proposal that you have not accepted: "
                f"merge the other way round, or accept {kept.id} first."
            )
        return finish(draft, "merge", kept.id)

    def gone(self, done: Done) -> bool:
        """Whether the rule of a verb is in its file no more."""
        return any(
            change["after"] is None and change["rule"] == done.rule.id
            for change in done.receipt.data["changes"]
        )

    def _happen(self, draft: Draft, verb: str, event: Event) -> Done:
        assert not isinstance(event, Superseded | Merged)
        draft.step(event)
        return finish(draft, verb, getattr(event, "rule", ""))


def finish(draft: Draft, verb: str, name: str, notes: Sequence[str] = ()) -> Done:
    """Write what happened to a draft, and say what became of the rule `name`, which may have a new id now.

    Raises NothingToChange where nothing did.
    """
    own = [change for change in draft.changes if name in (change.rule, change.before and change.before.id)]
    final = own[-1].rule if own else name
    rule = draft.rules.get(final) or (own[-1].before if own else None)
    said = [*notes, *_consequences(draft, name, final)]
    if rule is not None and rule.state == "active" and not draft.delivers(rule) and draft.rules.get(final):
        said.append("It is not delivered: its text is not trusted yet. `coffer trust` shows it.")
    receipt = draft.commit(verb)
    if receipt is None or rule is None:
        raise NothingToChange(f"{name} is as it should be already.")
    return Done(receipt, rule, "project" if draft.project else "user", tuple(said))


def _consequences(draft: Draft, *names: str) -> list[str]:
    """What happened to other rules, and what was refused."""
    said = []
    for change in draft.changes:
        if change.kind == "refused":
            said.append(f"{change.rule} waits in pending: {change.why}.")
        elif change.kind in ("pushed out", "archived") and change.rule not in names:
            said.append(
                f"{change.rule} made room: {change.why}. It is {change.after and change.after.state} now."
            )
    return said


def checked(text: str) -> str:
    """A rule text as it may stand in a file. Raises RuleRefused."""
    said = " ".join(text.split())
    why = hostile(said)
    if why is None and redact(said).found:
        why = "it holds what looks like a secret, and rules are sent to models"
    if why:
        raise RuleRefused(why)
    return said


_PROHIBITION = ("do not ", "don't ", "don’t ", "never ", "no ", "only ", "stop ", "avoid ")


def ordered_wording(text: str, beside: Wording | None = None) -> tuple[Wording, list[str]]:
    """The wording of a rule that the person typed: as a prohibition where that is safe, else in their words."""
    said = checked(text)
    judged = classify(said, "", ())
    scope = beside.scope if beside and beside.scope else judged.scope or ""
    final, title, notes = said, "", []
    if not said.lower().startswith(_PROHIBITION):
        worded = order_wording(said, said, "", (), judged)
        if worded.safe and hostile(worded.text) is None and worded.text.rstrip(".") != said.rstrip("."):
            final, title = worded.text, worded.title
            notes.append(
                "Worded as a prohibition, which models follow better; `coffer digest edit` changes it."
            )
    plain = beside or Wording("", "")
    return (
        Wording(
            plain.title or title or title_of(final),
            final,
            scope,
            plain.before,
            plain.after or (f'User said "{said}"' if final != said else ""),
            plain.signal,
            plain.trigger or TRIGGERS.get(scope, TRIGGERS["other"]),
        ),
        notes,
    )
