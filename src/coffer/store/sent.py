"""Deliveries on their way into the database: a hook waits two milliseconds, a commit may take seconds.

Each is one line in a file of its own before the hook is answered, which a killed daemon leaves behind and the next
one takes in. The file is emptied when all of it is in the database.
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from coffer.core.loads import loads
from coffer.store.db import database
from coffer.store.deliveries import Delivery, save
from coffer.store.home import Home

_FIELDS = tuple(field.name for field in fields(Delivery))
_MOST_WAITING = 10_000
"""Deliveries that are kept in memory while the database can't be written."""


def sent_path(home: Home) -> Path:
    """Where they wait."""
    return home.root / "sent.jsonl"


class Outbox:
    """What was sent and is not in the database yet; one for a process that lives. Threads may share it."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._waiting: list[Delivery] = []
        self._descriptor = -1

    def put(self, deliveries: list[Delivery]) -> None:
        """Note deliveries, in memory also where the disk refuses them."""
        with self._lock:
            self._waiting = (self._waiting + deliveries)[-_MOST_WAITING:]
            lines = b"".join(map(_line, deliveries))
            with suppress(OSError):  # a full disk: the answer must not wait for one that is not
                os.write(self._file(), lines)

    def flush(self) -> int:
        """Write what waits into the database; how many that were. Raises StoreFailed: then it goes on waiting."""
        with self._lock:
            batch = list(self._waiting)
        if batch:
            with database(self._home) as connection:
                for one in batch:
                    save(connection, one)
        with self._lock:
            gone = {id(one) for one in batch}
            self._waiting = [one for one in self._waiting if id(one) not in gone]
            if batch and not self._waiting:
                with suppress(OSError):
                    os.ftruncate(self._file(), 0)
        return len(batch)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1

    def _file(self) -> int:
        if self._descriptor < 0:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._descriptor = os.open(sent_path(self._home), flags, 0o600)
        return self._descriptor


def take_in(home: Home) -> list[Delivery]:
    """Put into the database what a killed process left waiting, and empty the file; those that were new there.

    One that is there in another state was judged since, and stays as it is. Raises StoreFailed, OSError.
    """
    path = sent_path(home)
    try:
        left = [one for line in path.read_bytes().split(b"\n") if (one := _delivery(line)) is not None]
    except FileNotFoundError:
        return []
    new = save_new(home, left)
    os.truncate(path, 0)
    return new


def save_new(home: Home, deliveries: list[Delivery]) -> list[Delivery]:
    """Save those whose id is not known or whose state is still open; those that were. Raises StoreFailed."""
    if not deliveries:
        return []
    new = []
    with database(home) as connection:
        for one in deliveries:
            row = connection.execute("SELECT state FROM deliveries WHERE id = ?", (one.id,)).fetchone()
            if row is None or row[0] == "sent":
                save(connection, one)
                new.append(one)
    return new


def _line(delivery: Delivery) -> bytes:
    """A delivery as a line; `asdict` copies deeply and would take as long as the answer."""
    return json.dumps({name: getattr(delivery, name) for name in _FIELDS}).encode() + b"\n"


def _delivery(line: bytes) -> Delivery | None:
    """A line again; None for one that a full disk or a kill cut."""
    try:
        said: Any = loads(line.decode("utf-8", "replace"))
        return Delivery(**{**said, "rules": tuple(said["rules"])})
    except (ValueError, TypeError, KeyError):
        return None
