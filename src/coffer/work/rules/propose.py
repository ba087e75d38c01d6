"""The agent in the room words a rule: one ticket, one human turn, one proposal (DESIGN section 7).

A ticket is handed out when a person's turn may be a correction. With it the agent may propose the rule of that turn,
once. The proposal counts the turn once and waits in pending: words of an agent become active only after the person
accepted them.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from coffer.core.digest_text import hidden, one_line
from coffer.core.events import Corrected
from coffer.core.forgotten import struck_out, turn_without
from coffer.core.redact import redact
from coffer.core.rule import Persistence, Rule, Wording, title_of
from coffer.core.similar import compare
from coffer.core.turn import Turn, normal
from coffer.core.wording import TRIGGERS
from coffer.disk.replace import refusals
from coffer.store.db import database
from coffer.store.evidence import HeardTurn
from coffer.store.evidence import turn as kept_turn
from coffer.store.forgotten import forgotten_of
from coffer.store.home import Home
from coffer.work.rules.desk import Done, checked, finish
from coffer.work.rules.draft import Draft, counting
from coffer.work.rules.lesson import evidence_of_turn
from coffer.work.rules.rule_errors import NothingToChange, RuleRefused, TicketInvalid
from coffer.work.rules.shelf import Shelf
from coffer.work.rules.turns import hear

LASTS = timedelta(hours=12)
"""How long a ticket is good: a session that sleeps over night may still answer in the morning, not next week."""
LONGEST = 400
"""Characters of each text that an agent may hand in."""
_NEAR = 4 << 20
_WORDS = "words:"


@dataclass(frozen=True, slots=True)
class Said:
    """What an agent proposes. prohibition: the rule. before: what was done. after: what the person said to it."""

    prohibition: str
    before: str = ""
    after: str = ""
    scope: str = ""
    persistence: Persistence = "session"


def issue(home: Home, transcript: str, turn: str, folder: str, now: datetime) -> str:
    """A ticket for the rule of one human turn; "" where one was handed out for it before, or it was counted.

    turn: the turn's id, or `by_words` of a prompt that stands in no file yet.
    """
    ticket = secrets.token_urlsafe(12)
    with refusals(home.root), database(home) as connection:
        kept = kept_turn(connection, turn)
        if kept is not None and kept.state != "noticed":
            return ""
        there = "SELECT 1 FROM tickets WHERE transcript = ? AND turn = ?"
        if connection.execute(there, (transcript, turn)).fetchone():
            return ""
        connection.execute(
            "INSERT INTO tickets (ticket, transcript, turn, folder, made, used) VALUES (?,?,?,?,?,'')",
            (_hash(ticket), transcript, turn, folder, now.isoformat()),
        )
    return ticket


def by_words(prompt: str) -> str:
    """How a ticket names a turn that the client has not written yet: by what was said."""
    return _WORDS + _hash(normal(prompt))


def propose(ticket: str, said: Said, shelf: Shelf) -> Done:
    """Take an agent's wording for the turn of its ticket: a pending rule, or one more for the rule that says it.

    Raises TicketInvalid, RuleRefused, Busy where the session is being learned from just now, and what writing a
    digest raises; the ticket is used up only when it is taken.
    """
    with counting(shelf.home):
        return _propose(ticket, said, shelf)


def _propose(ticket: str, said: Said, shelf: Shelf) -> Done:
    transcript, name, folder = _good(ticket, shelf)
    forgotten = forgotten_of(shelf.home)
    turn = turn_without(_turn(Path(transcript), name), forgotten)
    _check_undecided(turn, shelf.home)
    text = checked(said.prohibition)
    if any(struck_out(one, forgotten) != one for one in (text, said.scope, said.before, said.after)):
        raise RuleRefused("it holds words that the person had forgotten for good")
    project = shelf.project(turn.folder or folder)
    persistence: Persistence = "persistent" if said.persistence == "persistent" or not project else "session"
    heard = _heard(turn, project, persistence)
    piece = evidence_of_turn(heard, shelf.now, "certain")
    for place in dict.fromkeys((project, "")):
        same = next((rule for rule in shelf.of(place).rules.all if _says(rule, text)), None)
        if same is not None:
            return _done(shelf.of(place), Corrected(piece, same.id), heard, ticket)
    draft = shelf.of("" if persistence == "persistent" else project)
    new = Corrected(piece, "", _wording(text, said), proposed=True, persistence=persistence)
    return _done(draft, new, heard, ticket)


def _heard(turn: Turn, project: str, persistence: Persistence) -> HeardTurn:
    return HeardTurn(
        turn.id,
        turn.agent,
        turn.session,
        turn.folder,
        project,
        turn.time,
        "proposed",
        "EXPLICIT_CORRECTION",
        persistence,
        "certain",
        1.0,
        "the agent in the room worded it",
        turn.text,
        turn.before,
        tuple((action.tool, action.target) for action in turn.actions),
        "counted",
    )


def _check_undecided(turn: Turn, home: Home) -> None:
    """A turn that learning has counted, or the person has decided about since the ticket was made, counts no more."""
    with database(home, write=False) as connection:
        kept = kept_turn(connection, turn.id)
    if kept is not None and kept.state not in ("noticed", "nothing"):
        said = {"counted": "was counted before", "rejected": "is nothing, says the person"}
        raise NothingToChange(f"This turn {said.get(kept.state, 'was answered by the person')}.")


def _says(rule: Rule, text: str) -> bool:
    return rule.text == text or compare(rule.text, text).label == "DUPLICATE"


def _good(ticket: str, shelf: Shelf) -> tuple[str, str, str]:
    """Transcript, turn and folder of a ticket that is good."""
    row = None
    if shelf.home.database.exists():
        with database(shelf.home, write=False) as connection:
            row = connection.execute(
                "SELECT transcript, turn, folder, made, used FROM tickets WHERE ticket = ?", (_hash(ticket),)
            ).fetchone()
    if row is None:
        raise TicketInvalid("nobody handed it out")
    if row[4]:
        raise TicketInvalid("it was used before")
    if shelf.now - datetime.fromisoformat(row[3]) > LASTS:
        raise TicketInvalid(f"it is older than {LASTS.total_seconds() / 3600:.0f} hours")
    return row[0], row[1], row[2]


def _turn(transcript: Path, name: str) -> Turn:
    """The human turn that a ticket is for, from its transcript; the newest of those that say the same."""
    try:
        size = transcript.stat().st_size
    except OSError as error:
        raise TicketInvalid("its transcript is gone") from error
    for since in dict.fromkeys((max(0, size - _NEAR), 0)):  # the turn is nearly always among the last ones
        for turn in reversed(hear(transcript, since).turns):
            if name in (turn.id, by_words(turn.text)):
                return turn
    raise TicketInvalid("the turn that it is for does not stand in the transcript")


def _wording(text: str, said: Said) -> Wording:
    scope = _beside(said.scope)
    return Wording(
        title_of(text),
        text,
        scope,
        _beside(said.before),
        _beside(said.after),
        "",
        TRIGGERS.get(scope, TRIGGERS["other"]),
    )


def _beside(text: str) -> str:
    """What an agent says beside the rule: one line, without secrets, and refused where it would break out of it."""
    safe = one_line(redact(text).text)[:LONGEST]
    why = hidden(safe)
    if why:
        raise RuleRefused(why)
    return safe


def _done(draft: Draft, event: Corrected, heard: HeardTurn, ticket: str) -> Done:
    draft.step(event)
    if not draft.changes:
        raise NothingToChange("This turn was counted before.")
    draft.turns.append(heard)
    draft.states[heard.id] = heard.state
    done = finish(draft, "propose", draft.changes[0].rule)
    with refusals(draft.home.root), database(draft.home) as connection:
        connection.execute(
            "UPDATE tickets SET used = ? WHERE ticket = ?", (draft.now.isoformat(), _hash(ticket))
        )
    return done


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
