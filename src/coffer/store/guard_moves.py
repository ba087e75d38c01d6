"""What the guard counts of a session, so that a killed daemon neither forgets a reload nor makes one twice.

`<home>/guard/<session>.moves.json`, written by whoever moves the session and by nobody else. A file that can't be
understood counts as if all that is allowed had just been done: the guard waits, and counts anew.
`<home>/guard/<session>.order.json` is a person's order that waits to be done.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from coffer.core.loads import loads
from coffer.core.tiers import BREAKS, RELOADS
from coffer.disk.lock import acquired
from coffer.disk.put import put
from coffer.disk.replace import refusals
from coffer.errors import Busy
from coffer.store.guard_state import FOLDER
from coffer.store.home import Home

ENDING, ORDER = ".moves.json", ".order.json"
_KEPT = 20
"""Times that are kept of a kind: more than any limit asks for."""


@dataclass(frozen=True, slots=True)
class Moves:
    """Times are Unix seconds.

    reloads: when one was begun. failures: when a move failed. tell: what the person is to be told once at a prompt, of
    `tell_of`, a receipt or an order. stopped: why the last move was not made, in a context of `stopped_at` tokens.
    open: the receipt of the last move, while something of its story is still to come. overflow: the last refusal of
    the API, a prompt that was too long, that was answered by a move.
    """

    reloads: tuple[float, ...] = ()
    failures: tuple[float, ...] = ()
    tell: str = ""
    tell_of: str = ""
    stopped: str = ""
    stopped_at: int = 0
    open: str = ""
    overflow: str = ""


def moves_path(home: Home, session: str) -> Path | None:
    """Where a session's counts lie; None for an id that can't be a file's name."""
    return home.of_session(FOLDER, session, ENDING)


def moves_of(home: Home, session: str, now: float) -> Moves:
    """What is counted of a session."""
    spent = Moves(reloads=(now,) * RELOADS, failures=(now,) * BREAKS)
    path = moves_path(home, session)
    if path is None:
        return spent
    try:
        said = loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        return Moves()
    except (OSError, ValueError):
        return spent
    return _understood(said) or spent


def _understood(said: Any) -> Moves | None:
    if not isinstance(said, dict):
        return None
    reloads, failures = _times(said.get("reloads")), _times(said.get("failures"))
    words = [said.get(key, "") for key in ("tell", "tell_of", "stopped", "open", "overflow")]
    tokens = said.get("stopped_at", 0)
    if reloads is None or failures is None or not all(isinstance(word, str) for word in words):
        return None
    if not isinstance(tokens, int) or isinstance(tokens, bool):
        return None
    tell, tell_of, stopped, still, overflow = words
    return Moves(reloads, failures, tell, tell_of, stopped, tokens, still, overflow)


def _times(said: Any) -> tuple[float, ...] | None:
    if not isinstance(said, list):
        return None
    fits = all(isinstance(each, int | float) and not isinstance(each, bool) for each in said)
    return tuple(float(each) for each in said) if fits else None


def keep_moves(home: Home, session: str, now: float, **changed: Any) -> Moves:
    """Change what is counted; what it is then. Raises WriteFailed.

    `reload=True` and `failure=True` count one at `now`; the rest are fields of Moves. An `overflow` of "" is no news.
    """
    path = moves_path(home, session)
    before = moves_of(home, session, now)
    if not changed.get("overflow"):
        changed.pop("overflow", None)
    told = changed.pop("reloads", before.reloads)
    reloads = (*told, now) if changed.pop("reload", False) else told
    failures = (*before.failures, now) if changed.pop("failure", False) else before.failures
    after = replace(before, reloads=reloads[-_KEPT:], failures=failures[-_KEPT:], **changed)
    if path is not None and (after != before or not path.exists()):
        with refusals(path):
            home.make(path.parent)
        put(path, json.dumps(asdict(after)).encode(), 0o600)
    return after


@contextmanager
def one_mover(home: Home, session: str) -> Iterator[None]:
    """Hold the right to move a session, for the whole move. Raises Busy where another process moves it, WriteFailed."""
    with refusals(home.locks):
        home.make(home.locks)
        try:
            lock = acquired(home.locks / f"guard-{session}.lock", 0)
        except TimeoutError as error:  # an OSError too
            raise Busy(session) from error
    try:
        yield
    finally:
        lock.release()


@dataclass(frozen=True, slots=True)
class Order:
    """A person's order: prune at the next idle safe point. time: Unix seconds."""

    prescription: str
    time: float


def order_path(home: Home, session: str) -> Path | None:
    """Where a session's order lies; None for an id that can't be a file's name."""
    return home.of_session(FOLDER, session, ORDER)


def order_of(home: Home, session: str) -> Order | None:
    """The order that waits, if any."""
    path = order_path(home, session)
    try:
        said = loads(path.read_bytes().decode("utf-8")) if path is not None else None
    except (OSError, ValueError):
        return None
    if not isinstance(said, dict) or not isinstance(said.get("prescription"), str):
        return None
    time = said.get("time")
    return Order(said["prescription"], float(time) if isinstance(time, int | float) else 0.0)


def keep_order(home: Home, session: str, order: Order | None) -> None:
    """Keep an order, or take it for done. Raises WriteFailed."""
    path = order_path(home, session)
    if path is None:
        return
    with refusals(path):
        if order is None:
            path.unlink(missing_ok=True)
            return
        home.make(path.parent)
    put(path, json.dumps(asdict(order)).encode(), 0o600)


def ordered_sessions(home: Home) -> list[str]:
    """Sessions for which an order waits."""
    try:
        return sorted(path.name.removesuffix(ORDER) for path in (home.root / FOLDER).glob(f"*{ORDER}"))
    except OSError:
        return []
