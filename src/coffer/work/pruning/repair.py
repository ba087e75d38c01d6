"""Repair a damaged transcript, without loss, with a receipt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

from coffer.core.repair import Fix, fixes, keeps_all
from coffer.disk.places import Places
from coffer.disk.replace import beside, refusals
from coffer.errors import LawBroken
from coffer.store.db import DONE, Receipt, begun
from coffer.store.held import held
from coffer.store.home import Home
from coffer.work.pruning.copying import Copying
from coffer.work.pruning.exchange import Exchange, ticket_of
from coffer.work.receipts import all_receipts
from coffer.work.sessions.read import Opened, opened
from coffer.work.sessions.rest import Proof


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was repaired; receipt None: there was nothing to repair."""

    fixes: Sequence[Fix]
    receipt: Receipt | None


def repair(
    session: Opened, home: Home, places: Places, now: datetime | None = None, *, proof: Proof | None = None
) -> Repaired:
    """Repair what can be repaired without loss. proof: that the file may be written; else it must be at rest.

    Raises AgentNotPrunable, what the proof raises, Busy, FileMoved, LawBroken, WriteFailed; then nothing was changed.
    """
    ticket = ticket_of(session)
    found = fixes(session.transcript, session.source.read, removed_by_prunes(home, ticket.path))
    if not found:
        return Repaired([], None)
    about = session.transcript.about
    exchange = Exchange(home, ticket, about, places, proof)
    with held(home, ticket.path):
        exchange.prove()
        receipt = begun("repair", session.agent.name, about.session, ticket.path, now)
        with beside(ticket) as (path, file):
            receipt.data |= _write(session, found, file) | {
                "bytes_before": ticket.size,
                "fixes": [fix.what for fix in found],
            }
            _prove(session, path)
            late = exchange.carry_out(receipt, (path, file))
        exchange.close(receipt, late)
    return Repaired(found, receipt)


def removed_by_prunes(home: Home, path: Path) -> dict[str, str]:
    """What prunes of this file removed, the newest last."""
    found: dict[str, str] = {}
    for receipt in reversed(all_receipts(home)):
        if receipt.kind == "prune" and receipt.status == DONE and receipt.path == str(path):
            found |= receipt.data.get("removed", {})
    return found


def _write(session: Opened, found: Sequence[Fix], file: IO[bytes]) -> dict[str, object]:
    way = Copying(session.source, file)
    with refusals(session.source.path):
        for fix in found:
            way.take(fix.start)
            way.put(fix.new)
            way.leave(fix.end)
        way.take(session.source.size)
        file.flush()
    return {
        "bytes_after": way.size,
        "digest_after": way.digest_after,
        "digest_before": way.digest_before,
    }


def _prove(session: Opened, path: Path) -> None:
    before = session.agent.view(session.transcript, "")
    with opened(path) as other:
        after = session.agent.view(other.transcript, before.model)
    if not keeps_all(session.transcript, before, after):
        raise LawBroken("a repair loses nothing", "something that a resume sent would no longer be sent")
