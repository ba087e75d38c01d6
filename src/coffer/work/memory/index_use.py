"""Ask the index of the vault, whatever state it is in."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

from coffer.store import index
from coffer.store.home import Home
from coffer.store.index import Done, IndexBusy, Progress, TooMuch
from coffer.store.index_watch import Watched
from coffer.work.memory.memory_errors import IndexMaking

MOST_HERE = 150
"""Files that a process that lives reads by itself; more would make its other callers wait, so another one does."""
_PATIENCE = 20.0
"""Seconds that a caller waits for that one."""
_NICE = 10
Answer = TypeVar("Answer")
_WATCHED: dict[Path, Watched] = {}


def ask(
    home: Home,
    question: Callable[[sqlite3.Connection], Answer],
    *,
    lives: bool = False,
    progress: Progress | None = None,
) -> Answer:
    """Put a question to the index, brought up to date before. lives: this process goes on afterwards.

    An index that turns out broken is made anew, and asked again. Raises IndexMaking.
    """
    try:
        with closing(_current(home, progress, lives=lives)) as connection:
            return question(connection)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise IndexMaking from None
        with closing(_anew(home, progress)) as connection:
            return question(connection)


def rebuild(home: Home, progress: Progress | None = None) -> Done:
    """Make the index anew. Raises IndexMaking, OSError."""
    try:
        return index.rebuild(home, progress)
    except IndexBusy:
        raise IndexMaking from None


def _current(home: Home, progress: Progress | None, *, lives: bool) -> sqlite3.Connection:
    if not lives:
        return _up_to_date(home, None, progress)[0]
    watched = _WATCHED.setdefault(home.root, Watched(home))
    if watched.is_current():
        with suppress(sqlite3.Error):  # it went, or broke, meanwhile
            return index.as_it_is(home)
    watched.look()
    try:
        connection, fresh = _up_to_date(home, MOST_HERE, progress)
    except TooMuch:
        _in_another_process(home)
        connection, fresh = _up_to_date(home, None, progress)
    if fresh:
        watched.looked()
    return connection


def _up_to_date(home: Home, most: int | None, progress: Progress | None) -> tuple[sqlite3.Connection, bool]:
    try:
        return index.current(home, most, progress=progress)
    except IndexBusy:
        raise IndexMaking from None


def _anew(home: Home, progress: Progress | None) -> sqlite3.Connection:
    try:
        index.rebuild(home, progress)
        return index.current(home, progress=progress)[0]
    except IndexBusy:
        raise IndexMaking from None
    except (OSError, sqlite3.Error):
        return index.in_memory(home, progress)


def in_background(module: str, home: Home) -> subprocess.Popen[bytes]:
    """Run a module for a home in a process of its own, which outlives this one."""
    words = [sys.executable, "-P", "-m", module, str(home.root)]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(
        words, stdin=nowhere, stdout=nowhere, stderr=nowhere, cwd="/", start_new_session=True
    )


def _in_another_process(home: Home) -> None:
    """Let a process of its own bring the index up to date; it goes on when it takes longer than anybody waits."""
    try:
        in_background(__name__, home).wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        raise IndexMaking from None


if __name__ == "__main__":
    os.nice(_NICE)
    _current(Home(Path(sys.argv[1]), stands=True), None, lives=False).close()
