"""Whether the vault is as the index has it, told by the system: a process that lives need not look at every file.

Looking at some thousand files takes longer than the question. On Linux the kernel has queued what inotify tells of a
write when that write returns, so the queue, read before each question, misses nothing that was written before it.
What goes on between a look and its watch is told as well: folders are watched first and looked at then. Now and then
every file is looked at all the same, for file systems that tell nothing. Other systems tell late: there nothing
relies on it.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from pathlib import Path

from coffer.store import index
from coffer.store.home import Home
from coffer.store.vault import vault

LONGEST = 60.0
"""Seconds after which every file is looked at."""
_NEVER = -LONGEST
_MODIFY, _ATTRIB, _CLOSED, _MOVED, _CREATED, _DELETED, _SELF = 0x2, 0x4, 0x8, 0xC0, 0x100, 0x200, 0xC00
_CHANGES = _MODIFY | _ATTRIB | _CLOSED | _MOVED | _CREATED | _DELETED | _SELF
_ONLY_FOLDERS, _NO_LINKS = 0x01000000, 0x02000000
_QUEUE = 1 << 16


class Watched:
    """What is known of one vault. Its methods may be called in any thread."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._queue = -1
        self._looked = _NEVER
        self._inode = 0

    def is_current(self) -> bool:
        """Whether nothing changed since the last `look` that was followed by `looked`."""
        with self._lock:
            if self._told() or time.monotonic() - self._looked > LONGEST:
                self._looked = _NEVER
                return False
            return self._inode == self._index()

    def look(self) -> None:
        """Call this before the files are looked at: what changes from here on is told afterwards."""
        with self._lock:
            self._looked = _NEVER
            self._told()
            self._watch()

    def looked(self) -> None:
        """Call this when the index is as the files were after `look`."""
        with self._lock:
            if (
                self._queue >= 0 and vault(self._home).is_dir()
            ):  # one that is made later is watched by nobody yet
                self._inode, self._looked = self._index(), time.monotonic()

    def _told(self) -> bool:
        """Whether the system told of a change since this was asked last."""
        if self._queue < 0:
            return True
        told = False
        try:
            while os.read(self._queue, _QUEUE):
                told = True
        except BlockingIOError:
            return told
        except OSError:
            self._end()
        return True

    def _watch(self) -> None:
        """Watch the folders that are there now; those that were watched before stay so."""
        if sys.platform != "linux":
            return
        libc = ctypes.CDLL(None, use_errno=True)
        if self._queue < 0:
            self._queue = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        for folder in self._folders() if self._queue >= 0 else ():
            name = os.fsencode(folder)
            if libc.inotify_add_watch(self._queue, name, _CHANGES | _ONLY_FOLDERS | _NO_LINKS) < 0:
                self._end()  # too many watches
                return

    def _end(self) -> None:
        queue, self._queue = self._queue, -1
        os.close(queue)

    def _folders(self) -> list[str]:
        root = str(vault(self._home))
        projects = f"{root}/projects"
        places = [f"{root}/{index.GLOBAL}", *(f"{projects}/{name}" for name in _names(projects))]
        lanes = [f"{place}/{lane}" for place in places for lane in index.LANES]
        return [folder for folder in (root, projects, *places, *lanes) if Path(folder).is_dir()]

    def _index(self) -> int:
        """The inode of the index, 0 where there is none: another one may have been made of other files."""
        try:
            return index.path(self._home).stat().st_ino
        except OSError:
            return 0


def _names(folder: str) -> list[str]:
    try:
        return [item.name for item in os.scandir(folder) if item.is_dir(follow_symlinks=False)]
    except OSError:
        return []
