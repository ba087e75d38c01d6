"""What is due in a session, and the one who does it.

A person's order first, then a refusal of the API, then a tier, then what is still to come of an earlier move.
"""

from __future__ import annotations

from dataclasses import dataclass

from coffer.core.settings import Guard
from coffer.core.strategies.table import PRESCRIPTIONS
from coffer.core.tiers import step
from coffer.errors import Busy
from coffer.store.guard_moves import Moves, keep_moves, keep_order, moves_of, one_mover, order_of
from coffer.store.guard_state import guard_state, keep_state, mode_of
from coffer.work.guarding.guard import ENDED, Hands, Move, Wish, act
from coffer.work.guarding.guarded import Guarded
from coffer.work.guarding.measure import measure
from coffer.work.guarding.nudge import NEAR
from coffer.work.guarding.overflow import overflow_in
from coffer.work.guarding.runs import runs
from coffer.work.guarding.senses import Senses

AGGRESSIVE = "aggressive"
ORDER_SECONDS = 3_600.0
"""How long an order waits for an idle moment: later it would surprise."""


@dataclass(frozen=True, slots=True)
class Due:
    """wish: what is to be done, None where only an earlier move is to be looked after. acted: tiers, once it is."""

    wish: Wish | None
    acted: tuple[str, ...] = ()


def due(session: Guarded, used: float, tokens: int, settings: Guard, now: float) -> Due | None:
    """What is due in a session; None for nothing. used: percent of the window.

    It reads small files and no transcript, but the end of one that may be full. A tier that is not due any more is
    armed again here. Raises WriteFailed.
    """
    home, moves = session.home, moves_of(session.home, session.id, now)
    order = order_of(home, session.id)
    if order is not None and now - order.time > ORDER_SECONDS:
        keep_order(home, session.id, None)
        _answer(session, now, "there was no idle moment within an hour")
        order = None
    if order is not None:
        known = order.prescription if order.prescription in PRESCRIPTIONS else "standard"
        return Due(Wish(known, by="person"))
    before = frozenset(guard_state(home, session.id).acted)
    done = step(used, before, settings.tiers)
    fires = done.fires if done.fires is not None and done.fires.prescription else None
    if fires is None and done.fired != before:
        keep_state(home, session.id, acted=tuple(sorted(done.fired)))
    if mode_of(home, session.id) == "on" and settings.act and _can_reload(session, settings):
        refusal = overflow_in(session.transcript) if fires or _is_full(used, settings) else ""
        if refusal and refusal != moves.overflow:
            return Due(Wish(AGGRESSIVE, "last call", overflow=refusal), tuple(sorted(done.fired)))
        if fires is not None and not _is_futile_still(moves, tokens):
            return Due(Wish(fires.prescription, fires.name), tuple(sorted(done.fired)))
    return Due(None) if moves.open else None


def _is_full(used: float, settings: Guard) -> bool:
    """Whether a refusal for the length may come at all: the window may be smaller than anybody knows."""
    return used >= settings.tiers[0].share


def _can_reload(session: Guarded, settings: Guard) -> bool:
    """Whether it may be worth asking: the means themselves are asked when it is done."""
    return settings.write == "idle" or settings.tmux or bool(runs(session.home))


def _is_futile_still(moves: Moves, tokens: int) -> bool:
    """Whether a prune was found futile for about this context."""
    return bool(moves.stopped and moves.stopped_at) and tokens <= moves.stopped_at * (1 + NEAR)


def attend(session: Guarded, found: Due, now: float, hands: Hands | None = None) -> Move:
    """Do what is due, now or not at all: what is in the way stands in the answer.

    Raises SettingsBroken, StoreFailed, WriteFailed.
    """
    settings = session.settings()
    with_hands = hands or Senses(session).hands(settings)
    if found.wish is None:
        return _looked_after(session, settings, with_hands, now)
    move = act(session, found.wish, settings, with_hands)
    if found.wish.by == "person":
        if move.kind not in ("waits", "rests"):
            keep_order(session.home, session.id, None)
            if move.receipt is None:
                _answer(session, now, move.why)
    elif move.kind in ENDED:
        keep_state(session.home, session.id, acted=found.acted)
    return move


def _answer(session: Guarded, now: float, why: str) -> None:
    """Have the person told at the next prompt that nothing came of their order."""
    line = f"Coffer: nothing was pruned, as you had ordered: {why}"
    keep_moves(session.home, session.id, now, tell=line, tell_of=f"order {now:.3f}")


def _looked_after(session: Guarded, settings: Guard, hands: Hands, now: float) -> Move:
    """Bring the reload of the last move to its end, and measure what it saved."""
    move = act(session, Wish("", by="guard"), settings, hands)
    if move.kind in ("waits", "reloaded", "not seen", "failed"):
        return move
    try:
        with one_mover(session.home, session.id):
            closed = measure(session, now)
    except Busy:
        return Move("waits", "another Coffer is at it")
    return Move("nothing", "measured" if closed is not None else "", receipt=closed)
