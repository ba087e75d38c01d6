"""Writes to the agents' own settings: under a lock, with a copy beside, a backup of ours, and a receipt.

Order: backup, receipt (prepared), the `.bak` beside, the one rename, receipt (done). A crash leaves the old file or
the new one; a receipt that stayed prepared is closed by the next write, by what the file holds.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from coffer.disk import config_file
from coffer.disk.agent_errors import ConfigBroken
from coffer.disk.config_file import Config
from coffer.disk.replace import refusals
from coffer.errors import ChangedSince, CofferError, PrunedContentMissing
from coffer.store.db import DONE, FAILED, PREPARED, UNDONE, Receipt, begun, database, receipts, record, save
from coffer.store.held import held
from coffer.store.home import Home

INSTALLED, UNINSTALLED = "AGENT_HOOK_INSTALLED", "AGENT_HOOK_UNINSTALLED"
PERMITTED, FORBIDDEN = "AGENT_MCP_PERMITTED", "AGENT_MCP_FORBIDDEN"
ADDED, REMOVED = "AGENT_MCP_ADDED", "AGENT_MCP_REMOVED"
TRUSTED, FORGOTTEN = "AGENT_HOOKS_TRUSTED", "AGENT_HOOKS_FORGOTTEN"
"""These four are written by an agent's own command on our behalf (work/agent_settings/client_writes.py)."""
DISABLED, RESTORED = "AGENT_NATIVE_MEMORY_DISABLED", "AGENT_NATIVE_MEMORY_RESTORED"
KINDS = (
    INSTALLED,
    UNINSTALLED,
    PERMITTED,
    FORBIDDEN,
    ADDED,
    REMOVED,
    TRUSTED,
    FORGOTTEN,
    DISABLED,
    RESTORED,
)
"""Kinds of receipts that `bring_back` undoes (DESIGN section 4: audit events)."""
_OPENED_BY = {UNINSTALLED: INSTALLED, FORBIDDEN: PERMITTED, RESTORED: DISABLED}
"""Kind that closes → kind that it closes."""


@dataclass(frozen=True, slots=True)
class Change:
    """A write to make. after: None for no file. data: what the receipt keeps besides."""

    kind: str
    agent: str
    config: Config
    after: str | None
    data: dict[str, Any] = field(default_factory=dict)


def carry_out(change: Change, home: Home, now: datetime | None = None) -> Receipt:
    """Make a write; its receipt. Raises FileMoved, Busy, WriteFailed, StoreFailed: then the file is as it was."""
    config = change.config
    after = None if change.after is None else change.after.encode("utf-8")
    with refusals(home.root):
        home.make(home.backups)
    with held(home, config.path):
        config.check()
        receipt = begun(change.kind, change.agent, "", config.path, now)
        backup = home.backups / receipt.id / config.path.name if config.data is not None else None
        was = digest(config.data)
        receipt.data = {
            "digest_before": was,
            "digest_after": digest(after),
            "bytes_before": len(config.data or b""),
            "bytes_after": len(after or b""),
            "backup": str(backup or ""),
            "folder": False,
        } | change.data
        if backup is not None and config.data is not None:
            config_file.keep(backup, config.data)
        with refusals(home.root), database(home) as connection:
            known = of_file(connection, config.path)
            _settle(connection, known, was)
            closes = _OPENED_BY.get(change.kind)
            closed = [one for one in known if one.kind == closes and one.data.get("open")]
            receipt.data["closes"] = [one.id for one in closed]
            save(connection, receipt)
        try:
            _write(config, after, receipt, known)
        except CofferError:
            _close(home, receipt, FAILED, [])
            raise
        _close(home, receipt, DONE, closed)
    return receipt


def _write(config: Config, after: bytes | None, receipt: Receipt, known: list[Receipt]) -> None:
    if config.data is not None and after is not None:  # what goes as a whole was ours
        receipt.data["bak"] = str(config_file.keep_beside(config, _bak(config, known)))
    if after is None:
        folder = any(one.data.get("folder") and one.data.get("open") for one in known)
        config_file.remove(config, folder=folder)
    elif config.data is None:
        receipt.data["folder"] = config_file.create(config, after)
    else:
        config_file.replace(config, after)


def _bak(config: Config, known: list[Receipt]) -> str:
    """`NAME.bak`, unless somebody else's backup has that name."""
    name = f"{config.path.name}.bak"
    ours = {str(one.data.get("digest_before", "")) for one in known}
    try:
        there = config_file.read(config.path.with_name(name)).data
    except ConfigBroken:
        return f"{config.path.name}.coffer.bak"
    return name if there is None or digest(there) in ours else f"{config.path.name}.coffer.bak"


def _close(home: Home, receipt: Receipt, status: str, closed: list[Receipt]) -> None:
    receipt.status, receipt.data["open"] = status, status == DONE
    for one in closed:
        one.status, one.data["open"] = UNDONE, False
    record(home, *closed, receipt)


def _settle(connection: sqlite3.Connection, known: list[Receipt], now: str) -> None:
    """Close what a killed Coffer left open: it was done if the file is as it says, else it was not."""
    for one in known:
        if one.status == PREPARED and one.kind in KINDS:
            done = one.data.get("digest_after") == now
            one.status, one.data["open"] = DONE if done else FAILED, done
            save(connection, one)


def digest(data: bytes | None) -> str:
    """Sha256 of a file's bytes, "" for no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def open_installs(home: Home, path: Path, data: bytes | None, kind: str = INSTALLED) -> list[Receipt]:
    """The receipts of what stands in a file by our hand, oldest first. data: what the file holds.

    By `open`, not by status: gc closes old receipts, while what they tell of is still there.
    """
    if not home.database.exists():
        return []
    with database(home, write=False) as connection:
        known = of_file(connection, path)
    now = digest(data)
    found = [
        one
        for one in known
        if one.kind == kind
        and (one.data.get("open") or (one.status == PREPARED and one.data.get("digest_after") == now))
    ]
    return found[::-1]


def as_begun(after: str | None, home: Home, path: Path, ours: Receipt | None) -> str | None:
    """What is to stand in a file of which an edit leaves an empty object: what stood there before any write of ours.

    after: the text that is left. ours: the oldest receipt of what is taken out. Where others of ours wrote just
    before that one, it did not see the beginning; where somebody else wrote, what they left is kept.
    """
    if ours is None or after is None or _bare(after) != "{}":
        return after
    with database(home, write=False) as connection:
        known = of_file(connection, path)
    first, was = ours, ours.data.get("digest_before")
    for one in known:  # newest first
        if was and one.id != first.id and one.time <= first.time and one.data.get("digest_after") == was:
            first, was = one, one.data.get("digest_before")
    if was == "":
        return None
    try:
        before = _kept(first).decode("utf-8")
    except (PrunedContentMissing, UnicodeDecodeError):
        return after
    return before if _bare(before) in ("", "{}") else after


def _bare(text: str) -> str:
    return "".join(text.lstrip("\ufeff").split())


def of_file(connection: sqlite3.Connection, path: Path) -> list[Receipt]:
    """The receipts of an agent's file, newest first: also those under the name that it had before.

    Who renames a home folder or takes it to another machine takes the receipts along, and they name a place that is
    gone. Without them nobody would know what in the file is ours.
    """
    every = receipts(connection)
    gone = {one.path for one in every if Path(one.path).name == path.name and not os.path.lexists(one.path)}
    return [one for one in every if one.path == str(path) or (one.path in gone and one.kind in KINDS)]


def bring_back(receipt: Receipt, home: Home, now: datetime | None = None) -> Receipt:
    """Undo one of these writes: the bytes as they were before it; the receipt of the undo.

    Raises ChangedSince where the file was written to since; then `coffer hooks install` or `uninstall` is the way.
    """
    path = Path(receipt.path)
    config = config_file.read(path)
    if digest(config.data) != receipt.data["digest_after"]:
        raise ChangedSince(str(path), str(receipt.data["backup"] or "no file at all"))
    before = None if receipt.data["digest_before"] == "" else _kept(receipt).decode("utf-8")
    done = carry_out(Change("undo", receipt.agent, config, before, {"undoes": receipt.id}), home, now)
    with refusals(home.root), database(home) as connection:
        for one in receipts(connection, receipt.path):
            if one.id == receipt.id:
                one.status, one.data["open"] = UNDONE, False
            elif one.id in receipt.data.get("closes", ()):
                one.status, one.data["open"] = DONE, True
            else:
                continue
            save(connection, one)
    return done


def _kept(receipt: Receipt) -> bytes:
    backup = Path(receipt.data["backup"])
    try:
        data = backup.read_bytes()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise PrunedContentMissing(f"Receipt {receipt.id}", str(backup), why) from error
    if digest(data) != receipt.data["digest_before"]:
        raise PrunedContentMissing(f"Receipt {receipt.id}", str(backup), "its bytes are not the original's")
    return data
