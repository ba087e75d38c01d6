"""The SQLite file: receipts, and the index of pruned content."""

from __future__ import annotations

import json
import os
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from coffer.disk.machine import machine_id
from coffer.disk.replace import refusals
from coffer.errors import StoreFailed
from coffer.store.home import Home

PREPARED, DONE, UNDONE, FAILED = "prepared", "done", "undone", "failed"
_BUSY_SECONDS = 10.0
_COLUMNS = "id, kind, status, time, machine, agent, session, path, data"


@dataclass(slots=True)
class Receipt:
    """What was done, when, to which file, and what undoing it needs. data: JSON by kind."""

    id: str
    kind: str
    status: str
    time: str
    machine: str
    agent: str
    session: str
    path: str
    data: dict[str, Any] = field(default_factory=dict)


def begun(kind: str, agent: str, session: str, path: Path, now: datetime | None = None) -> Receipt:
    """A new receipt of this machine, for something that has not happened yet. now: aware, else the present."""
    time = (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds")
    return Receipt(uuid.uuid4().hex[:10], kind, PREPARED, time, machine_id(), agent, session, str(path))


@contextmanager
def database(home: Home, *, write: bool = True) -> Iterator[sqlite3.Connection]:
    """An open database with its tables; commits at the end, rolls back on an error. Raises StoreFailed.

    write False: only to look, which neither waits for a writer nor changes a byte.
    """
    try:
        with _opened(home) if write else _looked_at(home) as connection:
            yield connection
    except (sqlite3.Error, UnicodeEncodeError) as error:  # the second: a path that is no text
        raise StoreFailed(str(home.database), str(error)) from error


@contextmanager
def _looked_at(home: Home) -> Iterator[sqlite3.Connection]:
    with _read_only(home) as connection:
        if _is_whole(connection):
            yield connection
            return
    with _opened(home):
        pass  # a database of an older version gets the tables that it lacks
    with _read_only(home) as connection:
        yield connection


@contextmanager
def _read_only(home: Home) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(
        f"{home.database.absolute().as_uri()}?mode=ro", timeout=_BUSY_SECONDS, uri=True
    )
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def _opened(home: Home) -> Iterator[sqlite3.Connection]:
    home.make(home.root)
    new = not home.database.exists()
    connection = sqlite3.connect(home.database, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        if new:
            os.chmod(home.database, 0o600)  # noqa: PTH101  (the mode of a file that sqlite has just made)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")  # what a row said must not stay in a free page
        if new or not _has_tables(connection):
            schema = files("coffer.store").joinpath("schema.sql").read_text("utf-8")
            # as one: a commit for each table costs seconds on a slow disk, and a kill would leave half of them
            connection.executescript(f"BEGIN IMMEDIATE;{schema};COMMIT;")
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            if connection.in_transaction:  # SQLite ends it by itself where the disk is full
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
    finally:
        connection.close()


def _is_whole(connection: sqlite3.Connection) -> bool:
    """Whether it has its tables, and no half a transaction of a process that was killed.

    Only a writer may roll that back: without one, nobody who looks first would ever come to write.
    """
    try:
        return _has_tables(connection)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode in (sqlite3.SQLITE_READONLY_ROLLBACK, sqlite3.SQLITE_READONLY_RECOVERY):
            return False
        raise


def _has_tables(connection: sqlite3.Connection) -> bool:
    row = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'distilled_turns'").fetchone()
    return bool(row[0])


def save(connection: sqlite3.Connection, receipt: Receipt) -> None:
    """Insert a receipt, or replace it by its id."""
    connection.execute(
        f"INSERT INTO receipts ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?) "  # noqa: S608  (a constant)
        "ON CONFLICT (id) DO UPDATE SET status = excluded.status, data = excluded.data",
        (
            receipt.id,
            receipt.kind,
            receipt.status,
            receipt.time,
            receipt.machine,
            receipt.agent,
            receipt.session,
            receipt.path,
            json.dumps(receipt.data),
        ),
    )


def record(home: Home, *several: Receipt) -> None:
    """Save receipts, all or none. Raises StoreFailed, WriteFailed."""
    with refusals(home.root), database(home) as connection:
        for one in several:
            save(connection, one)


def undone(home: Home, receipt: Receipt, now: datetime | None = None) -> Receipt:
    """Say that what a receipt tells of is taken back; the receipt of that, both kept. Raises StoreFailed."""
    done = begun("undo", receipt.agent, receipt.session, Path(receipt.path), now)
    done.data["undoes"] = receipt.id
    receipt.status, done.status = UNDONE, DONE
    with database(home) as connection:
        save(connection, receipt)
        save(connection, done)
    return done


def receipts(
    connection: sqlite3.Connection, path: str | None = None, status: str | None = None
) -> list[Receipt]:
    """All receipts, or those of a file, or of a status, newest first."""
    wanted = {"path": path, "status": status}
    terms = [f"{name} = :{name}" for name, value in wanted.items() if value is not None]
    where = f"WHERE {' AND '.join(terms)}" if terms else ""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM receipts {where} ORDER BY time DESC, rowid DESC",  # noqa: S608  (constants)
        wanted,
    )
    return [_receipt(row) for row in rows]


def receipt(connection: sqlite3.Connection, name: str) -> Receipt | None:
    """The receipt of an id."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM receipts WHERE id = ?", (name,)).fetchone()  # noqa: S608
    return _receipt(row) if row else None


def _receipt(row: tuple[str, ...]) -> Receipt:
    name, kind, status, time, machine, agent, session, path, data = row
    return Receipt(name, kind, status, time, machine, agent, session, path, json.loads(data))
