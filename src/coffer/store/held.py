"""One process at a time writes a file: its lock lies in Coffer's own folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coffer.disk.replace import LOCK_SECONDS, locked, refusals
from coffer.store.home import Home


@contextmanager
def held(home: Home, path: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the lock of a path. seconds: how long to wait for another process. Raises Busy, WriteFailed."""
    with refusals(home.root):
        home.make(home.locks)
    with locked(home.locks, path, seconds):
        yield
