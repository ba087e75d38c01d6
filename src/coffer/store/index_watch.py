"""Whether the vault is as the index has it, told by the system: a process that lives need not look at every file.

Looking at some thousand files takes longer than the question. On Linux a watch of the vault's folders has told of a
write when the write returns, so its queue is asked before each question. What a watch can miss (a folder that was
made a moment ago) shows in the folders' own times; and now and then every file is looked at all the same. On other
systems a watch tells late, and nothing relies on it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import Protocol

from coffer.store import index
from coffer.store.home import Home
from coffer.store.vault import vault

LONGEST = 60.0
"""Seconds after which every file is looked at."""
_NEVER = -LONGEST


class _Watch(Protocol):
    def watch(self, debounce: int, step: int, timeout: int, stop: None, /) -> object: ...


class Watched:
    """What is known of one vault. Its methods may be called in any thread."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._watch: _Watch | None = None
        self._looked = _NEVER
        self._state: tuple[object, ...] = ()

    def is_current(self) -> bool:
        """Whether nothing changed since `looked` was told so."""
        with self._lock:
            if time.monotonic() - self._looked > LONGEST or self._told():
                self._looked = _NEVER
                return False
            return self._state == self._now()

    def look(self) -> None:
        """Call this before the files are looked at: what changes from here on is told afterwards."""
        with self._lock:
            self._looked = _NEVER
            if self._watch is None:
                self._watch = _begun(vault(self._home))
            self._told()
            self._state = self._folders()

    def looked(self) -> None:
        """Call this when the index is as the files were at `look`."""
        with self._lock:
            if self._watch is not None and self._state == self._folders():
                self._state = self._now()
                self._looked = time.monotonic()

    def _told(self) -> bool:
        """Whether the watch tells of a change; it is asked for a millisecond."""
        if self._watch is None:
            return True
        try:
            return self._watch.watch(1, 1, 1, None) != "timeout"
        except (OSError, RuntimeError):
            self._watch = None
            return True

    def _now(self) -> tuple[object, ...]:
        try:
            found = index.path(self._home).stat()
        except OSError:
            return ()
        return (*self._folders(), found.st_ino)

    def _folders(self) -> tuple[object, ...]:
        """The folders with their times, in which every file that is made, renamed or removed shows."""
        root = str(vault(self._home))
        projects = f"{root}/projects"
        places = [f"{root}/{index.GLOBAL}", *(f"{projects}/{name}" for name in _names(projects))]
        return tuple(_times(f"{place}/{lane}") for place in places for lane in index.LANES)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208  (before each question: bare names are quicker)
    except OSError:
        return []


def _times(folder: str) -> tuple[str, int, int]:
    try:
        found = os.stat(folder)  # noqa: PTH116  (see above)
    except OSError:
        return folder, 0, 0
    return folder, found.st_ino, found.st_mtime_ns


def _begun(folder: Path) -> _Watch | None:
    """A watch of a folder and all below; None where there is none that can be relied on."""
    if sys.platform != "linux":
        return None
    from watchfiles import _rust_notify  # noqa: PLC0415  (only a process that lives needs it)

    try:
        return _rust_notify.RustNotify([str(folder)], False, False, 0, True, True)
    except (OSError, RuntimeError):
        return None  # no such folder yet, or too many watches
