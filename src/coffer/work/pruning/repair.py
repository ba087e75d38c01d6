"""Repair a damaged transcript, without loss, with a receipt."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

from coffer.core.repair import Fix, fixes, keeps_all
from coffer.disk.places import Places
from coffer.disk.replace import Ticket, back_up, beside, locked, refusals, swap
from coffer.errors import AgentNotPrunable, FileMoved, LawBroken, NotAFile
from coffer.store.db import DONE, FAILED, Receipt, begun, database, save
from coffer.store.home import Home
from coffer.work.receipts import all_receipts
from coffer.work.sessions.read import Opened, opened
from coffer.work.sessions.rest import Proof, at_rest

_CHUNK = 1 << 20


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
    if session.agent.name != "claude":
        raise AgentNotPrunable(session.agent.title)
    ticket = Ticket.of_source(session.source)
    if ticket.path.suffix == ".zst" or ticket.size != session.source.size:
        raise NotAFile(str(ticket.path), "a compressed file, which Coffer only reads")
    ticket.check()
    found = fixes(session.transcript, session.source.read, removed_by_prunes(home, ticket.path))
    if not found:
        return Repaired([], None)
    with refusals(home.root):
        home.make(home.locks)
        home.make(home.backups)
    with locked(home.locks, ticket.path):
        about, proven = session.transcript.about, proof or at_rest(places)
        proven(about, ticket)
        receipt = begun("repair", session.agent.name, about.session, ticket.path, now)
        with beside(ticket) as (path, file):
            receipt.data |= _write(session, found, file) | {
                "bytes_before": ticket.size,
                "fixes": [fix.what for fix in found],
                "backup": str(home.backups / receipt.id / ticket.path.name),
            }
            _prove(session, path)
            with refusals(home.root), database(home) as connection:
                save(connection, receipt)
            backup = Path(str(receipt.data["backup"]))
            try:
                back_up(ticket, backup)
                proven(about, ticket)
                late = swap(ticket, path, file, backup, in_use=proof is not None)
            except Exception:
                receipt.status = FAILED
                with refusals(home.root), database(home) as connection:
                    save(connection, receipt)
                backup.unlink(missing_ok=True)
                raise
        receipt.status, receipt.data["carried"] = DONE, late.carried
        try:
            with refusals(home.root), database(home) as connection:
                save(connection, receipt)
        finally:
            late.check(backup, ticket.size, receipt.id)
    return Repaired(found, receipt)


def removed_by_prunes(home: Home, path: Path) -> dict[str, str]:
    """What prunes of this file removed, the newest last."""
    found: dict[str, str] = {}
    for receipt in reversed(all_receipts(home)):
        if receipt.kind == "prune" and receipt.status == DONE and receipt.path == str(path):
            found |= receipt.data.get("removed", {})
    return found


def _write(session: Opened, found: Sequence[Fix], file: IO[bytes]) -> dict[str, object]:
    digest, before, size, position = hashlib.sha256(), hashlib.sha256(), 0, 0
    source = session.source
    with refusals(source.path):
        for start, end, new in [(fix.start, fix.end, fix.new) for fix in found] + [
            (source.size, source.size, b"")
        ]:
            while position < start:
                data = source.read(position, min(start, position + _CHUNK))
                if not data:
                    raise FileMoved(str(source.path))
                file.write(data)
                digest.update(data)
                before.update(data)
                size, position = size + len(data), position + len(data)
            file.write(new)
            digest.update(new)
            before.update(source.read(position, max(position, end)))
            size, position = size + len(new), max(position, end)
        file.flush()
    return {
        "bytes_after": size,
        "digest_after": digest.hexdigest(),
        "digest_before": before.hexdigest(),
    }


def _prove(session: Opened, path: Path) -> None:
    before = session.agent.view(session.transcript, "")
    with opened(path) as other:
        after = session.agent.view(other.transcript, before.model)
    if not keeps_all(session.transcript, before, after):
        raise LawBroken("a repair loses nothing", "something that a resume sent would no longer be sent")
