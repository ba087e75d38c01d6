"""Undo a prune while its session is open: the same gate instead of rest, then the reload."""

from __future__ import annotations

from datetime import UTC, datetime

from coffer.core.settings import Guard
from coffer.errors import Busy, FileMoved
from coffer.store.db import DONE, Receipt
from coffer.store.guard_moves import keep_moves, one_mover
from coffer.store.guard_state import keep_state
from coffer.work.guarding.guard import Hands, Move, Mover, Wish
from coffer.work.guarding.guard_errors import NotSafe
from coffer.work.guarding.guarded import Guarded, why_not
from coffer.work.guarding.move_story import moves_made, outcome, settle
from coffer.work.pruning.undo import undo

REST = "the session is at rest"
_UNDO = Wish("", by="person")


def undo_open(receipt: Receipt, session: Guarded, settings: Guard, hands: Hands) -> Move:
    """Take a prune back in an open session; what was appended since stays. `waits` where it may not be written now.

    What a person takes back is not to be done again at once, so the guard pauses for this session. Raises what `undo`
    raises, but for what the gate says; then nothing changed.
    """
    try:
        with one_mover(session.home, session.id):
            return _undone(receipt, Mover(session, _UNDO, settings, hands))
    except (Busy, FileMoved) as error:
        return Move("waits", str(error))


def _undone(receipt: Receipt, mover: Mover) -> Move:
    session, hands = mover.session, mover.hands
    if reason := why_not(session, "person", mover.settings, hands.means):
        return Move("left alone", reason)
    owed = settle(session, hands.now())
    if owed is not None and owed.data.get("undoes") == receipt.id:
        return mover.reload_owed(owed)  # it is taken back, and the client has not read that yet
    if (made := _made(session, receipt)) is not None:
        return _told(made)
    if blockers := mover.blockers():
        return Move("waits", blockers=blockers)
    now = hands.now()
    # whoever is killed from here on is followed by another
    keep_moves(session.home, session.id, now, open=receipt.id)
    try:
        done = undo(
            receipt,
            session.home,
            session.places,
            datetime.fromtimestamp(now, UTC),
            proof=mover.proof(),
            more={"by": "person", "reload": mover.to_come(now)},
        )
    except NotSafe:
        return Move("waits", blockers=mover.blockers())
    if done is receipt:
        return Move("nothing", "there was nothing to bring back", receipt=done)
    keep_state(session.home, session.id, mode="paused")
    return mover.reload(done)


def _made(session: Guarded, receipt: Receipt) -> Receipt | None:
    """The undo of a prune that was made already: between two looks of ours the daemon had the client read it."""
    made = moves_made(session.home, session.transcript)
    return next((one for one in made if one.status == DONE and one.data.get("undoes") == receipt.id), None)


def _told(made: Receipt) -> Move:
    match outcome(made):
        case "reloaded":
            return Move("reloaded", receipt=made)
        case "not seen":
            return Move("not seen", str(made.data["reload"].get("why", "")), receipt=made)
        case _:
            return Move("by hand", receipt=made)
