"""One move: prune an open session at an idle safe point, and have its client read it again.

Order, so that nothing is lost whatever happens in between: what an earlier mover left is brought to its end; may the
guard at all; how it would be reloaded; the limits, counted on disk; the gate; damage that a prune left behind is
mended; the plan, and whether it is worth it; the candidate beside the file, proven and synced; the gate again, right
before the swap; the old inode drained; the reload counted, asked for once, and seen. Each step leaves its trace in the
receipt (`work.move_story`) before the next begins.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from coffer.core.safepoint import Answer, Blocker
from coffer.core.settings import Guard
from coffer.core.tiers import TierName, futile, may_reload
from coffer.core.transcript import About
from coffer.disk.replace import Ticket
from coffer.errors import Busy, CofferError, FileMoved, LateLinesKept, TranscriptEmpty, TranscriptMissing
from coffer.store.db import Receipt
from coffer.store.guard_moves import keep_moves, moves_of, one_mover
from coffer.store.hook_events import loaded_at
from coffer.work.guarding.guard_errors import NotSafe
from coffer.work.guarding.guarded import By, Guarded, why_not
from coffer.work.guarding.means import DONE, REFUSED, Means
from coffer.work.guarding.move_story import (
    ASKED,
    BY_HAND,
    NOT_SEEN,
    OWED,
    RELOADED,
    keep,
    moves_made,
    settle,
    tell,
    unread,
)
from coffer.work.pruning.prune import Proposal, apply, propose
from coffer.work.pruning.prune_report import price_of
from coffer.work.pruning.repair import repair
from coffer.work.sessions.read import opened
from coffer.work.sessions.rest import Proof

WAIT_SECONDS = 10.0
"""How long a means may wait for the moment in which it can reload."""
SEEN_SECONDS = 10.0
"""How long the client's SessionStart is waited for, after the reload was asked for."""
_LOOK_SECONDS = 0.1
_MOST_REFUSED = 5
"""Attempts in which nothing was sent, after which the person is told instead."""
EMPTY = "an idle client with an empty input line"
BRANCH = "branch"
"""The blocker that a repair takes away."""

Kind = Literal[
    "reloaded", "by hand", "not seen", "waits", "rests", "futile", "left alone", "failed", "nothing"
]
ENDED = frozenset({"reloaded", "by hand", "not seen", "futile"})
"""Kinds after which a tier has been dealt with."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for. tier: that fired; a person's order has none. overflow: the API's refusal that it answers.

    prescription "": nothing new, only the end of an earlier move.
    """

    prescription: str
    tier: TierName = "trim"
    by: By = "guard"
    overflow: str = ""


@dataclass(frozen=True, slots=True)
class Hands:
    """What a move reaches the world by. judge: the gate's answer, may the file be written now. Times: Unix seconds."""

    judge: Callable[[], Answer]
    means: Means | None
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    wait: float = WAIT_SECONDS
    seen: float = SEEN_SECONDS


@dataclass(frozen=True, slots=True)
class Move:
    """What became of it. why: a phrase. blockers: of `waits`. receipt: of a file that was written."""

    kind: Kind
    why: str = ""
    blockers: tuple[Blocker, ...] = ()
    receipt: Receipt | None = None

    def as_json(self) -> dict[str, Any]:
        """For programs (docs/formats.md)."""
        found = [
            {"kind": each.kind, "evidence": each.evidence, "clears": each.clears} for each in self.blockers
        ]
        data = self.receipt.data if self.receipt is not None else {}
        reload = data.get("reload")
        return {
            "kind": self.kind,
            "why": self.why,
            "blockers": found,
            "receipt": self.receipt.id if self.receipt is not None else None,
            "forecast": data.get("forecast"),
            "reload": reload if isinstance(reload, dict) else None,
        }


def act(session: Guarded, wish: Wish, settings: Guard, hands: Hands) -> Move:
    """Make one move, or say why not. It never waits for the session to become idle: ask again then.

    Raises StoreFailed and WriteFailed where Coffer's own folder fails; the transcript is whole then, pruned or not.
    """
    try:
        with one_mover(session.home, session.id):
            return Mover(session, wish, settings, hands).move()
    except Busy:
        return Move("waits", "another Coffer is at it")


class _Futile(Exception):
    """What the laws left of a plan is not worth it."""


@dataclass(slots=True)
class Mover:
    """One attempt, by whoever holds the session (`one_mover`)."""

    session: Guarded
    wish: Wish
    settings: Guard
    hands: Hands

    def move(self) -> Move:
        """Prune and reload, or say why not."""
        session, now = self.session, self.hands.now()
        reason = why_not(session, self.wish.by, self.settings, self.hands.means)
        owed = settle(session, now)
        if reason and owed is not None and owed.data.get("by") == "person":
            reason = why_not(session, "person", self.settings, self.hands.means)  # an undo pauses the guard
        if reason:
            return Move("left alone", reason)
        if owed is not None:
            return self.reload_owed(owed)
        if not self.wish.prescription:
            return Move("nothing", "nothing is owed")
        if self.wish.by == "guard":
            if reason := self._spent(now):
                return Move("rests", reason)
            if reason := self._unread():
                return Move("left alone", reason)
        if blockers := self.blockers(mending=True):
            return Move("waits", blockers=blockers)
        try:
            return self._written()
        except NotSafe:
            return Move("waits", blockers=self.blockers() or self.blockers(mending=True))
        except (Busy, FileMoved) as error:
            return Move("waits", str(error))
        except (TranscriptMissing, TranscriptEmpty) as error:
            return Move("nothing", str(error))

    def _spent(self, now: float) -> str:
        moves = moves_of(self.session.home, self.session.id, now)
        reason = may_reload(moves.reloads, moves.failures, now)
        if reason:
            keep_moves(self.session.home, self.session.id, now, stopped=reason)
        return reason

    def _unread(self) -> str:
        """Whether the last move still waits for the person: another one would help no more than that did."""
        waits = unread(self.session.home, self.session.transcript)
        return "it is pruned, and waits for you to reload it" if waits is not None else ""

    # --- the gate

    def blockers(self, *, mending: bool = False) -> tuple[Blocker, ...]:
        """What is in the way of writing now, and of the reload that follows. mending: but what a repair takes away."""
        found = [each for each in self.hands.judge().blockers if not (mending and each.kind == BRANCH)]
        obstacles = self.hands.means.obstacles() if self.hands.means is not None else []
        return (*found, *(Blocker("input", why, EMPTY) for why in obstacles))

    def proof(self, *, mending: bool = False) -> Proof:
        """The proof that the file may be written now: that the gate says so when it is asked."""

        def proven(_about: About, _ticket: Ticket) -> None:
            if blockers := self.blockers(mending=mending):
                raise NotSafe(self.session.id, [(each.kind, each.evidence) for each in blockers])

        return proven

    # --- writing

    def reload_owed(self, receipt: Receipt) -> Move:
        """The reload of an earlier move. A rewind since then may hang on what it took out: that is mended first."""
        if blockers := self.blockers(mending=True):
            return Move("waits", blockers=blockers, receipt=receipt)
        try:
            self._mend()
        except (NotSafe, Busy, FileMoved) as error:
            return Move("waits", str(error), self.blockers(), receipt)
        except CofferError as error:
            keep_moves(self.session.home, self.session.id, self.hands.now(), failure=True, stopped=str(error))
            return Move("failed", str(error), receipt=receipt)
        return self.reload(receipt)

    def _mend(self) -> bool:
        """Repair what can be repaired without loss; whether anything was."""
        home, places, proof = self.session.home, self.session.places, self.proof(mending=True)
        with opened(self.session.transcript) as found:
            return repair(found, home, places, proof=proof).receipt is not None

    def _written(self) -> Move:
        session = self.session
        try:
            if self._mend() and (blockers := self.blockers()):
                return Move("waits", blockers=blockers)
            with opened(session.transcript) as found:
                proposal = propose(found, session.environment, self.wish.prescription)
                return self._pruned(proposal)
        except LateLinesKept as error:
            return self._torn(error)
        except (Busy, FileMoved, NotSafe, TranscriptMissing, TranscriptEmpty):
            raise
        except CofferError as error:
            keep_moves(session.home, session.id, self.hands.now(), failure=True, stopped=str(error))
            return Move("failed", str(error))

    def _pruned(self, proposal: Proposal) -> Move:
        session, now = self.session, self.hands.now()
        if reason := self._futile(proposal):
            return self._stopped(proposal, reason)
        more = {
            "by": self.wish.by,
            "tier": self.wish.tier if self.wish.by == "guard" else "",
            "scale": proposal.report.composition.calibration.scale,
            "idle_at": _idle_since(session),
            "reload": self.to_come(now),
        }
        gate = self.proof()

        def proven(about: About, ticket: Ticket) -> None:
            gate(about, ticket)
            if reason := self._futile(proposal):  # the laws may have left little of the plan
                raise _Futile(reason)

        try:
            receipt, _ = apply(proposal, session.home, session.places, proof=proven, more=more)
        except _Futile as error:
            return self._stopped(proposal, str(error))
        if receipt is None:
            return self._stopped(proposal, "the laws left nothing of the plan")
        keep_moves(session.home, session.id, now, stopped="", overflow=self.wish.overflow, open=receipt.id)
        return self.reload(receipt)

    def _futile(self, proposal: Proposal) -> str:
        if proposal.plan.is_empty:
            return "there is nothing to take out"
        if self.wish.by == "person":
            return ""
        tier: TierName = "last call" if self.wish.overflow else self.wish.tier
        return futile(proposal.report.tokens, proposal.tokens_after, price_of(proposal), tier)

    def _stopped(self, proposal: Proposal, why: str) -> Move:
        session, wish = self.session, self.wish
        told = {"stopped": why, "stopped_at": proposal.report.tokens, "overflow": wish.overflow}
        keep_moves(session.home, session.id, self.hands.now(), **told)
        return Move("futile", why)

    def _torn(self, error: LateLinesKept) -> Move:
        """Pruned, and lines that a client wrote meanwhile stand in the backup only: it must not be read so."""
        session, now = self.session, self.hands.now()
        receipt = moves_made(session.home, session.transcript)[0]
        keep(session.home, receipt, outcome=NOT_SEEN, why=str(error))
        keep_moves(session.home, session.id, now, failure=True, stopped=str(error))
        return Move("failed", str(error), receipt=receipt)

    # --- reloading

    def to_come(self, now: float) -> dict[str, object]:
        """What a receipt says of its reload before that was asked for. now: of the swap, Unix seconds."""
        means = self.hands.means
        return {
            "means": means.name if means is not None else "none",
            "outcome": OWED if means is not None else BY_HAND,
            "swapped_at": now,
        }

    def reload(self, receipt: Receipt) -> Move:
        """Have the client read again what a receipt says was written; once, and seen."""
        session, means, now = self.session, self.hands.means, self.hands.now()
        if means is None:
            tell(session.home, receipt, now, "and your client has not read it again")
            keep(session.home, receipt, outcome=BY_HAND)
            return Move("by hand", receipt=receipt)
        if blockers := self.blockers():
            return Move("waits", blockers=blockers, receipt=receipt)
        counted = moves_of(session.home, session.id, now)
        keep_moves(session.home, session.id, now, reload=True)
        keep(session.home, receipt, outcome=ASKED, asked_at=now, means=means.name)
        done = means.reload(self.hands.wait)
        if done.kind == REFUSED:
            keep_moves(session.home, session.id, self.hands.now(), reloads=counted.reloads)
            return self._refused(receipt, done.why)
        seen = self._seen(now)
        if seen is None:
            why = done.why or "no SessionStart came"
            keep_moves(session.home, session.id, self.hands.now(), failure=True)
            tell(session.home, receipt, self.hands.now(), "but was not seen to be read again")
            keep(session.home, receipt, outcome=NOT_SEEN, why=why, seconds=round(done.seconds, 3))
            return Move("not seen", why, receipt=receipt)
        took = done.seconds if done.kind == DONE and done.seconds else max(0.0, seen - now)
        idle = receipt.data.get("idle_at")
        since = round(max(0.0, seen - idle), 3) if isinstance(idle, int | float) and idle else None
        self._tell_done(receipt)
        told = {"seconds": round(took, 3), "since_idle": since, "why": done.why}
        keep(session.home, receipt, outcome=RELOADED, seen_at=seen, **told)
        return Move("reloaded", receipt=receipt)

    def _tell_done(self, receipt: Receipt) -> None:
        """The person sees at the next prompt what was done, and how to take it back."""
        if receipt.kind != "prune":
            return
        line = (
            f"Coffer: this session was pruned at an idle moment and read again, about "
            f"{receipt.data['forecast']:,} tokens less. `coffer undo {receipt.id}` takes it back"
        )
        session = self.session
        keep_moves(session.home, session.id, self.hands.now(), tell=line, tell_of=receipt.id)

    def _refused(self, receipt: Receipt, why: str) -> Move:
        """Nothing was sent: it may be tried again, a few times."""
        session = self.session
        count = int(receipt.data["reload"].get("refused", 0)) + 1
        if count < _MOST_REFUSED:
            keep(session.home, receipt, outcome=OWED, refused=count, why=why, asked_at=None)
            return Move("waits", why, (Blocker("input", why, EMPTY),), receipt)
        keep(session.home, receipt, outcome=NOT_SEEN, refused=count, why=why)
        tell(session.home, receipt, self.hands.now(), "and your client has not read it again")
        return Move("not seen", why, receipt=receipt)

    def _seen(self, since: float) -> float | None:
        for _ in range(
            max(1, round(self.hands.seen / _LOOK_SECONDS))
        ):  # counted: a clock may be set meanwhile
            seen = loaded_at(self.session.home, self.session.id, since)
            if seen is not None:
                return seen
            self.hands.sleep(_LOOK_SECONDS)
        return loaded_at(self.session.home, self.session.id, since)


def _idle_since(session: Guarded) -> float | None:
    """Since when every client that has it open says so of its status, Unix seconds."""
    times = [said.get("statusUpdatedAt") for said in session.entries()]
    known = [float(time) / 1000 for time in times if isinstance(time, int | float)]
    return max(known, default=None)
