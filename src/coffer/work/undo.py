"""Undo: the original bytes, followed by what was appended since."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from coffer.agents.table import CLAUDE
from coffer.disk.files import open_source
from coffer.disk.places import Places
from coffer.disk.replace import Ticket, back_up, beside, locked, refusals, swap
from coffer.errors import ChangedSince, CofferError, PrunedContentMissing
from coffer.store.db import DONE, PREPARED, UNDONE, Receipt, database, save
from coffer.store.home import Home
from coffer.work.rest import require_rest

_CHUNK = 1 << 20


def undo(receipt: Receipt, home: Home, places: Places, now: datetime | None = None) -> Receipt:
    """Bring a transcript back; the receipt of the undo.

    Raises SessionLive, Busy, FileMoved, ChangedSince, PrunedContentMissing, WriteFailed; then nothing changed.
    """
    path, backup = Path(receipt.path), Path(receipt.data["backup"])
    with refusals(home.root):
        home.make(home.locks)
    with locked(home.locks, path):
        ticket = _ticket(path, receipt)
        if receipt.status == PREPARED and not _was_replaced(ticket, receipt):
            return _close(receipt, home, "the prune had not happened; nothing to bring back")
        with open_source(ticket.path) as source:
            require_rest(CLAUDE.about(source.head(), source.tail()), ticket, places)
        done = Receipt(
            uuid.uuid4().hex[:10],
            "undo",
            PREPARED,
            (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds"),
            receipt.machine,
            receipt.agent,
            receipt.session,
            str(ticket.path),
            {"undoes": receipt.id},
        )
        with beside(ticket) as (new, file):
            done.data |= _write(receipt, ticket, backup, file)
            kept = home.backups / done.id / ticket.path.name
            done.data["backup"] = str(kept)
            with refusals(home.root), database(home) as connection:
                save(connection, done)
            back_up(ticket, kept)
            done.data["carried"] = swap(ticket, new, file)
        receipt.status, done.status = UNDONE, DONE
        with refusals(home.root), database(home) as connection:
            save(connection, receipt)
            save(connection, done)
    return done


def _ticket(path: Path, receipt: Receipt) -> Ticket:
    try:
        return Ticket.of(path)
    except OSError as error:
        raise PrunedContentMissing(f"Receipt {receipt.id}", str(path), str(error)) from error


def _was_replaced(ticket: Ticket, receipt: Receipt) -> bool:
    """Whether the file begins with what the prune wrote: a crash may have come before the rename."""
    wanted = str(receipt.data["digest_after"])
    return _digest(ticket.path, int(receipt.data["bytes_after"])) == wanted


def _close(receipt: Receipt, home: Home, why: str) -> Receipt:
    receipt.status = UNDONE
    receipt.data["note"] = why
    with refusals(home.root), database(home) as connection:
        save(connection, receipt)
    return receipt


def _digest(path: Path, size: int) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while size > 0 and (data := file.read(min(size, _CHUNK))):
            digest.update(data)
            size -= len(data)
    return digest.hexdigest() if size == 0 else ""


def _write(receipt: Receipt, ticket: Ticket, backup: Path, file: IO[bytes]) -> dict[str, int]:
    size = int(receipt.data["bytes_after"])
    if ticket.size < size or _digest(ticket.path, size) != receipt.data["digest_after"]:
        raise ChangedSince(str(ticket.path), str(backup))
    try:
        with open_source(backup) as original, refusals(ticket.path):
            before = int(receipt.data["bytes_before"])
            if original.size < before:
                raise PrunedContentMissing(f"Receipt {receipt.id}", str(backup), "it is too short")
            _copy(original.read, 0, before, file)
            with open_source(ticket.path) as current:
                appended = current.size - size
                if appended and original.read(before - 1, before) != b"\n":
                    file.write(b"\n")  # a torn last line must not swallow what was appended since
                _copy(current.read, size, current.size, file)
    except CofferError as error:
        if isinstance(error, PrunedContentMissing):
            raise
        raise PrunedContentMissing(f"Receipt {receipt.id}", str(backup), str(error)) from error
    return {"bytes_before": ticket.size, "bytes_after": before + appended, "appended": appended}


def _copy(read: Callable[[int, int], bytes], start: int, end: int, file: IO[bytes]) -> None:
    while start < end:
        data = read(start, min(end, start + _CHUNK))
        file.write(data)
        start += len(data)
