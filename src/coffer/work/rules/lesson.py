"""What one human turn teaches: the event on one digest file, or an item of the inbox, or nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from coffer.core.ask import Answered
from coffer.core.classify.decide import WORTH_A_RULE
from coffer.core.digest_text import hidden, hostile, one_line
from coffer.core.events import Corrected, Event, Ordered, Superseded, Upvoted, Withdrawn
from coffer.core.redact import redact
from coffer.core.rule import Certainty, Evidence, Persistence, Wording, title_of
from coffer.core.similar import compare
from coffer.core.turn import Turn
from coffer.core.verdict import Verdict, decide
from coffer.core.wording import TRIGGERS, Worded
from coffer.store.evidence import HeardTurn, TurnState
from coffer.work.rules.ask import Asker
from coffer.work.rules.draft import Draft
from coffer.work.rules.shelf import Reach, Shelf

_MOST_COMPARED = 3
"""Rules about which a model is asked for one turn."""


@dataclass(slots=True)
class Lesson:
    """Takes turns in the order in which they were said."""

    shelf: Shelf
    asker: Asker

    def take(self, turn: Turn) -> HeardTurn:
        """Let a turn happen to the rules of its project and of the person; what became of it."""
        project = self.shelf.project(turn.folder)
        reach = self.shelf.reach(project)
        # what stands beside a rule is cut: half a secret would not be known as one
        turn = replace(turn, before=redact(turn.before).text)
        tools = [redact(f"{action.tool} {action.target}".strip()).text for action in turn.actions]
        verdict = decide(turn.text, turn.before, tools, reach.rules)
        heard = _heard(turn, verdict, project)
        if verdict.kind == "nothing":
            return heard
        if verdict.kind == "noticed":
            return self._asked(turn, heard, reach, tools)
        return self._happened(turn, heard, verdict, reach)

    def _happened(self, turn: Turn, heard: HeardTurn, verdict: Verdict, reach: Reach) -> HeardTurn:
        piece = _evidence(heard, self.shelf.now)
        if verdict.rule:
            draft, name = reach.where[verdict.rule]
            return self._counted(
                heard, draft, _repeated(verdict, name, piece, _was_delivered(turn, draft, name))
            )
        wording = clean_wording(verdict.worded) if verdict.worded else None
        persistence = _persistence(heard)
        target = self.shelf.readable("" if persistence == "persistent" else heard.project)
        if wording is None or target is None:
            return heard
        event: Event
        if verdict.kind == "ordered":
            event = Ordered("", wording, verdict.hard, piece, persistence)
        else:
            event = Corrected(piece, "", wording, verdict.hard, persistence=persistence)
        same = self._same(wording.text, verdict, reach)
        if same:
            draft, name = reach.where[same]
            delivered = _was_delivered(turn, draft, name)
            return self._counted(heard, draft, _repeated(verdict, name, piece, delivered))
        earlier = len(target.changes)
        heard = self._counted(heard, target, event)
        new = next((change.rule for change in target.changes[earlier:] if change.before is None), "")
        self._supersede(target, reach, verdict.supersedes, new)
        return heard

    def _same(self, text: str, verdict: Verdict, reach: Reach) -> str:
        """Of the rules that new words only resemble, the one that a configured model takes for the same; "" if none.

        Opposites were told apart before anybody is asked, and one that the model calls so decides nothing.
        """
        texts = {rule.id: rule.text for rule in reach.rules.all}
        for name in verdict.like[:_MOST_COMPARED] if self.asker.on else ():
            if self.asker.compare(text, texts[name]) == "DUPLICATE":
                return name
        return ""

    def _counted(self, heard: HeardTurn, draft: Draft, event: Event) -> HeardTurn:
        heard = replace(heard, state="counted")
        draft.step(event)
        draft.turns.append(heard)
        return heard

    def _supersede(self, target: Draft, reach: Reach, names: tuple[str, ...], new: str) -> None:
        """Older rules of the same file that the new one contradicts; a project's rule leaves the person's.

        new: "" where the turn made none since it was counted before: then it replaces nothing.
        """
        for name in names if new else ():
            draft, rule = reach.where[name]
            if draft is target:
                draft.step(Superseded(rule, new))

    def _asked(self, turn: Turn, heard: HeardTurn, reach: Reach, tools: list[str]) -> HeardTurn:
        """Ask the configured model about what only asks; without one it waits in the inbox."""
        answer = self.asker.classify(turn.text, turn.before, tools)
        if answer is None:
            return replace(heard, state="noticed")
        heard = replace(heard, label=answer.label, reason=answer.reason, persistence=answer.persistence or "")
        if answer.label not in WORTH_A_RULE:
            return replace(heard, state="nothing", persistence="")
        return self._answered(turn, heard, answer, reach)

    def _answered(self, turn: Turn, heard: HeardTurn, answer: Answered, reach: Reach) -> HeardTurn:
        persistence = _persistence(heard)
        target = self.shelf.readable("" if persistence == "persistent" else heard.project)
        if not answer.rule or target is None:
            return replace(heard, state="noticed")
        piece = replace(_evidence(heard, self.shelf.now), reliability="proposed", weight=1.0)
        for rule in reach.rules.all:
            if compare(answer.rule, rule.text).label == "DUPLICATE":
                draft, name = reach.where[rule.id]
                return self._counted(
                    heard, draft, Corrected(piece, name, delivered=_was_delivered(turn, draft, name))
                )
        wording = clean_wording(worded_by_model(answer.rule, turn))
        if wording is None:
            return replace(heard, state="noticed")
        return self._counted(
            heard, target, Corrected(piece, "", wording, proposed=True, persistence=persistence)
        )


def _repeated(verdict: Verdict, name: str, piece: Evidence, delivered: bool) -> Event:  # noqa: FBT001
    match verdict.kind:
        case "approves":
            return Upvoted(name, piece)
        case "withdraws":
            return Withdrawn(name, piece)
        case "ordered":
            return Ordered(name, None, verdict.hard, piece)
        case _:
            return Corrected(piece, name, None, verdict.hard, delivered)


def _was_delivered(turn: Turn, draft: Draft, name: str) -> bool:
    """Whether the rule stood in the session's context when the turn was written: then it was broken."""
    rule = draft.rules.get(name)
    return rule is not None and rule.text in turn.delivered


def _persistence(heard: HeardTurn) -> Persistence:
    return "persistent" if heard.persistence == "persistent" or not heard.project else "session"


def _heard(turn: Turn, verdict: Verdict, project: str) -> HeardTurn:
    judged = verdict.judged
    state: TurnState = "nothing" if verdict.kind == "nothing" else "noticed"
    return HeardTurn(
        turn.id,
        turn.agent,
        turn.session,
        turn.folder,
        project,
        turn.time,
        turn.reliability,
        judged.label,
        judged.persistence or "",
        judged.certainty,
        judged.confidence,
        verdict.why or judged.reason,
        turn.text,
        turn.before,
        tuple((action.tool, action.target) for action in turn.actions),
        state,
    )


def _evidence(heard: HeardTurn, now: datetime) -> Evidence:
    """Outside of a project a turn only asks: nobody can say where its rule belongs (DESIGN section 7)."""
    certainty: Certainty = "certain" if heard.project else "possible"
    return evidence_of_turn(heard, now, certainty)


def evidence_of_turn(heard: HeardTurn, now: datetime, certainty: Certainty) -> Evidence:
    """The evidence that a turn is."""
    return Evidence(
        heard.id,
        said_at(heard.time, now),
        heard.session,
        heard.project,
        heard.reliability,  # type: ignore[arg-type]
        heard.label,  # type: ignore[arg-type]
        certainty,
        heard.confidence,
    )


def said_at(time: str, otherwise: datetime) -> datetime:
    """When a record says that it was written, in UTC; one without a readable time is as old as `otherwise`."""
    try:
        moment = datetime.fromisoformat(time)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return otherwise


def clean_wording(worded: Worded) -> Wording | None:
    """The wording for a file, without secrets; None where its text would not be a rule any more."""
    text = one_line(worded.text)
    if redact(text).found or hostile(text):
        return None
    return Wording(
        _beside(worded.title) or title_of(text),
        text,
        _beside(worded.scope),
        _beside(worded.before),
        _beside(worded.after),
        _beside(worded.signal),
        _beside(worded.trigger),
    )


def _beside(text: str) -> str:
    """A text that stands beside a rule: redacted, on one line, and "" where it would break out of its field."""
    safe = one_line(redact(text).text)
    return "" if hidden(safe) else safe


def worded_by_model(rule: str, turn: Turn) -> Worded:
    """A rule in a model's words, with what was going on in the transcript's own."""
    return Worded(rule, title_of(rule), "", TRIGGERS["other"], turn.before[-160:], "", "", safe=True, why="")
