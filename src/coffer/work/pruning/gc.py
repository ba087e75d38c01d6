"""Let go of backups and pruned content that no receipt needs any more."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from coffer.core.chain import seconds
from coffer.store import pruned
from coffer.store.db import PREPARED, UNDONE, Receipt, database, receipts, save
from coffer.store.home import Home

RETENTION_DAYS = 30
COLLECTED = "collected"


@dataclass(frozen=True, slots=True)
class Collected:
    """Receipts whose backup and content go, and the bytes that this frees."""

    receipts: list[str]
    size: int


def collect(home: Home, days: int, now: datetime, *, dry_run: bool) -> Collected:
    """Delete what belongs to receipts older than `days`, or undone. What was prepared is never touched.

    An undo that was only prepared can't be undone itself: it goes with its age.
    """
    if not home.database.exists():
        return Collected([], 0)
    with database(home) as connection:
        old = [item for item in receipts(connection) if _is_old(item, now - timedelta(days=days))]
        ids = [item.id for item in old]
        connection.execute("SAVEPOINT dry")
        size = pruned.collect(connection, home, ids, dry_run=dry_run)
        if dry_run:
            connection.execute("ROLLBACK TO dry")
        connection.execute("RELEASE dry")
        for item in old:
            size += _drop_backup(item, dry_run=dry_run)
            if not dry_run:
                item.status = COLLECTED
                save(connection, item)
    return Collected(ids, size)


def _is_old(receipt: Receipt, limit: datetime) -> bool:
    if receipt.status == COLLECTED or (receipt.status == PREPARED and receipt.kind != "undo"):
        return False
    if receipt.status == PREPARED:
        limit = min(limit, datetime.now(UTC) - timedelta(days=1))  # it may be at work just now
    moment = seconds(receipt.time)
    return receipt.status == UNDONE or (moment is not None and moment < limit.timestamp())


def _drop_backup(receipt: Receipt, *, dry_run: bool) -> int:
    said = receipt.data.get("backup")
    backup = Path(said) if isinstance(said, str) else None
    if backup is None or not backup.is_file():
        return 0
    size = backup.stat().st_size
    if not dry_run:
        backup.unlink()
        if not any(backup.parent.iterdir()):
            backup.parent.rmdir()
    return size
