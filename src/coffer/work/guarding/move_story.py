"""The story of a move, as its receipt tells it, and how one that was cut short comes to its end.

A receipt of kind `prune` with `data.by = "guard"` (or "person", for one that was ordered) has `data.reload`:

| outcome | what it means | what follows |
|---|---|---|
| owed | the file was swapped, and nothing was asked of the client | the reload, at a safe moment |
| asked | the client was asked; what it did is not known yet | look for its SessionStart; never ask again |
| reloaded | SessionStart `resume` was seen | the next answer measures it |
| by hand | nothing but the person can reload it | the person is told |
| not seen | it was asked, and no SessionStart came | the person is told; no repeat |
| compacted | before it was reloaded, the client made its context anew | nothing: there is nothing to read again |

A receipt that is `prepared` is of a move that was cut short before or behind its swap: the file tells which.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from coffer.disk.files import open_source
from coffer.disk.replace import refusals
from coffer.errors import CofferError
from coffer.store.db import DONE, FAILED, PREPARED, UNDONE, Receipt, database, receipts, save
from coffer.store.db import receipt as receipt_of
from coffer.store.guard_moves import keep_moves, moves_of
from coffer.store.guard_state import keep_state
from coffer.store.home import Home
from coffer.store.hook_events import loaded_at
from coffer.store.windows import merge_report, read_report
from coffer.work.guarding.guarded import Guarded
from coffer.work.pruning.exchange import is_in_place
from coffer.work.pruning.undo import carried_of

OWED, ASKED, RELOADED, BY_HAND, NOT_SEEN = "owed", "asked", "reloaded", "by hand", "not seen"
COMPACTED = "compacted"
BYS = ("guard", "person")


def moves_made(home: Home, transcript: Path) -> list[Receipt]:
    """The moves of a file, newest first, whatever became of them."""
    if not home.database.exists():
        return []
    with database(home, write=False) as connection:
        found = receipts(connection, os.path.realpath(transcript))
    return [receipt for receipt in found if is_move(receipt)]


def is_move(receipt: Receipt) -> bool:
    """Whether a receipt is of a move: a prune of an open session, or the undo of one."""
    return receipt.kind in ("prune", "undo") and receipt.data.get("by") in BYS


def outcome(receipt: Receipt) -> str:
    """What became of its reload; "" for none."""
    reload = receipt.data.get("reload")
    return str(reload.get("outcome", "")) if isinstance(reload, dict) else ""


def unread(home: Home, transcript: Path) -> Receipt | None:
    """The newest move of a file, where it waits for its person to reload it."""
    made = next((one for one in moves_made(home, transcript) if one.status == DONE), None)
    return made if made is not None and outcome(made) in (BY_HAND, NOT_SEEN) else None


def keep(home: Home, receipt: Receipt, **reload: object) -> None:
    """Keep a receipt, with what is new of its reload. Raises StoreFailed."""
    receipt.data["reload"] = {**receipt.data.get("reload", {}), **reload}
    with database(home) as connection:
        save(connection, receipt)


def tell(home: Home, receipt: Receipt, now: float, why: str) -> None:
    """Have the person told once, at the next prompt, that they must reload by hand."""
    session = Path(receipt.path).stem  # what the client resumes by: the records of a fork may name another
    what = "pruned" if receipt.kind == "prune" else "brought back as it was"
    line = f"Coffer: this session was {what} on disk (receipt {receipt.id}), {why}. Type: /resume {session}"
    keep_moves(home, session, now, tell=line, tell_of=receipt.id)
    show(home, session, session)


def show(home: Home, session: str, resume: str) -> None:
    """Have the statusline name the session that is to be resumed by hand; "" for none."""
    with suppress(OSError):  # the nudge tells it as well
        if resume or read_report(home.root, session).get("resume"):
            merge_report(home.root, session, {"resume": resume, "session": session})


def settle(session: Guarded, now: float) -> Receipt | None:
    """Bring to its end what an earlier mover left; the move whose reload is still owed, if any.

    The session must be held (`one_mover`), so that nobody is in the middle of what is found. Raises StoreFailed,
    WriteFailed.
    """
    for receipt in moves_made(session.home, session.transcript):
        if receipt.status == PREPARED:
            _close(session, receipt)
        if receipt.status == DONE:
            return _reload_of(session, receipt, now)
    return None


def _reload_of(session: Guarded, receipt: Receipt, now: float) -> Receipt | None:
    """Look what became of the newest move's reload."""
    state = outcome(receipt)
    if state not in (OWED, ASKED, BY_HAND, NOT_SEEN):
        return None
    since = _since(receipt) or now
    seen = loaded_at(session.home, session.id, since)
    if seen is not None:
        keep(session.home, receipt, outcome=RELOADED, seen_at=seen)
        keep_moves(session.home, session.id, now, tell="")  # it is done: there is nothing to type any more
        show(session.home, session.id, "")
        return None
    waits = state in (BY_HAND, NOT_SEEN)
    if waits and loaded_at(session.home, session.id, since, ("compact",)) is not None:
        keep(session.home, receipt, outcome=COMPACTED)
        keep_moves(session.home, session.id, now, tell="", open="")
        show(session.home, session.id, "")
        return None
    if state == ASKED:  # whoever asked was killed: it is not asked twice
        keep(session.home, receipt, outcome=NOT_SEEN, why="Coffer was ended while it waited for the reload")
        tell(session.home, receipt, now, "but was not seen to be read again")
    elif state != OWED and moves_of(session.home, session.id, now).tell_of != receipt.id:
        tell(session.home, receipt, now, "and your client has not read it again")
    return receipt if state == OWED else None


def was_read(home: Home, session: str, name: str) -> bool:
    """Whether the client has read its file since the move of this receipt, which still waits for that."""
    if not home.database.exists():
        return False
    with database(home, write=False) as connection:
        found = receipt_of(connection, name)
    if found is None or outcome(found) not in (BY_HAND, NOT_SEEN):
        return False
    return loaded_at(home, session, _since(found)) is not None


def _since(receipt: Receipt) -> float:
    """When the client was asked, or else when the file was replaced; 0.0 where nothing says so."""
    reload = receipt.data["reload"]
    return float(reload.get("asked_at") or reload.get("swapped_at") or 0.0)


def _close(session: Guarded, receipt: Receipt) -> None:
    """A move that was cut short: done where its file is in place, failed where it is not."""
    backup = Path(str(receipt.data.get("backup", "")))
    if not _was_swapped(session.transcript, receipt):
        receipt.status = FAILED
        receipt.data["why"] = "Coffer was ended before anything was replaced"
        with refusals(backup):
            if backup.exists() and backup.samefile(session.transcript):
                backup.unlink()
    else:
        receipt.status = DONE
        receipt.data["carried"] = _carry(session.transcript, backup, receipt)
    undoes = str(receipt.data.get("undoes", "")) if receipt.status == DONE else ""
    if undoes:
        keep_state(session.home, session.id, mode="paused")
    with database(session.home) as connection:
        if (undone := receipt_of(connection, undoes) if undoes else None) is not None:
            undone.status = UNDONE
            save(connection, undone)
        save(connection, receipt)


def _was_swapped(path: Path, receipt: Receipt) -> bool:
    try:
        return is_in_place(path, receipt)
    except (OSError, KeyError, ValueError):
        return False  # a file or a receipt that is no more what it was: nothing of it may be taken for done


def _carry(path: Path, backup: Path, receipt: Receipt) -> int:
    """Append what a client wrote late to the old inode and a killed Coffer did not carry over; all that is carried."""
    before = int(receipt.data["bytes_before"])
    try:
        with open_source(backup) as original, open_source(path) as current:
            carried = carried_of(receipt, original, current)
            late = original.read(before + carried, original.size)
    except CofferError:
        return 0  # the undo says what is wrong with the backup
    if late:
        with refusals(path), path.open("ab", buffering=0) as target:
            target.write(late)
            os.fsync(target.fileno())
    return carried + len(late)
