"""Take a journal entry back: the one before it returns, or none; the session is not told again."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from coffer.errors import FileMoved
from coffer.store.db import FAILED, PREPARED, Receipt, database, save, undone
from coffer.store.home import Home
from coffer.work.memory.distil_errors import EntryChangedSince
from coffer.work.memory.journal_entry import change, entry_in, hash_of


def undo_journal(receipt: Receipt, home: Home, now: datetime | None = None) -> Receipt:
    """Take an entry out of its file, or put back the one that it replaced.

    An entry that a person edited since stays. Raises EntryChangedSince, Busy, WriteFailed; then nothing changed.
    """
    path = Path(receipt.path)
    there = entry_in(path, receipt.data["entry"])
    if there is None and receipt.status == PREPARED:
        receipt.status = FAILED  # its writer was ended before it wrote
        with database(home) as connection:
            save(connection, receipt)
        return receipt
    if there is None or hash_of(there.text) != receipt.data["hash"]:
        raise EntryChangedSince(receipt.id, str(path))
    try:
        change(home, path, there, receipt.data["before"])
    except FileMoved as error:
        raise EntryChangedSince(receipt.id, str(path)) from error
    return undone(home, receipt, now)
