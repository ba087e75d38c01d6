"""Bundle files for hooks that find no daemon, and the spool of what such hooks answered.

A hook reads the index and then a file in a folder that it names, at any moment. So a folder never changes: its
name is made of its content. The index is replaced when all folders are there, and folders that neither it nor
the one before it names go last.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from coffer.core.bundle_files import (
    Files,
    Row,
    SpoolEntry,
    can_be_listed,
    file_name,
    index_text,
    key_of,
    rows_of,
    spool_entry,
)
from coffer.disk.lock import acquired
from coffer.disk.put import put
from coffer.errors import Busy, WriteFailed
from coffer.store.home import Home

_LOCK_SECONDS = 5.0
_PRIVATE = 0o600
_UNFINISHED_SECONDS = 60.0
"""A hook lives for a second; what it has not finished after this long, it never will."""
_DAMAGED = "damaged"


def bundles(home: Home) -> Path:
    """Where bundle files lie."""
    return home.root / "bundles"


def publish(home: Home, entries: Mapping[str, Files]) -> list[str]:
    """Make these the bundles that hooks answer without the daemon; roots that the index can't hold are returned.

    entries: root → (agent, event) → envelope. A root is an absolute real path, "/" is for sessions outside of
    any project. What was published before and is not in `entries` goes. Raises Busy, WriteFailed.
    """
    listed = {root: files for root, files in entries.items() if can_be_listed(root)}
    rows = [Row(key_of(files), root) for root, files in listed.items()]
    folder = bundles(home)
    try:
        home.make(folder)
        lock = acquired(home.make(home.locks) / "bundles.lock", _LOCK_SECONDS)
        try:
            before = _rows(folder)
            for row in rows:
                _fill(folder / row.key, listed[row.root])
            put(folder / "index", index_text(rows), _PRIVATE)
            _remove_stale(folder, {row.key for row in (*rows, *before)})
        finally:
            lock.release()
    except TimeoutError as error:
        raise Busy(str(folder)) from error
    except OSError as error:
        raise WriteFailed(str(folder), (error.strerror or str(error)).lower()) from error
    return sorted(set(entries) - set(listed))


def published(home: Home) -> tuple[Row, ...]:
    """The rows of the index as it is now; none where there is no index that can be read."""
    return _rows(bundles(home))


def _rows(folder: Path) -> tuple[Row, ...]:
    try:
        return rows_of((folder / "index").read_bytes())
    except OSError:
        return ()


def _fill(folder: Path, files: Files) -> None:
    """Write a folder's files, and again those that are damaged; other names are none of ours."""
    folder.mkdir(mode=0o700, exist_ok=True)
    for (agent, event), content in files.items():
        put(folder / file_name(agent, event), content, _PRIVATE)


def _remove_stale(folder: Path, needed: set[str]) -> None:
    """Remove the folders that no index names; one that resists is tried again next time."""
    for path in folder.iterdir():
        if path.name not in needed and path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)


def read_spool(home: Home) -> list[SpoolEntry]:
    """What hooks answered without the daemon, oldest first; nothing is removed.

    Damaged entries, and those that a hook left unfinished, are set aside in `spool/damaged`.
    """
    entries = []
    for path in _spooled(home.root / "spool"):
        try:
            entry = spool_entry(path.name, _content(path))
        except FileNotFoundError:
            continue  # taken by another
        except OSError:
            entry = None
        if entry is None:
            _set_aside(path)
        else:
            entries.append(entry)
    return sorted(entries, key=lambda entry: (entry.at, entry.pid))


def drop_spooled(home: Home, entries: Iterable[SpoolEntry]) -> list[SpoolEntry]:
    """Remove entries that were taken in; those that this call removed, and no other at the same time."""
    dropped = []
    for entry in entries:
        try:
            (home.root / "spool" / entry.name).unlink()
        except OSError:
            continue
        dropped.append(entry)
    return dropped


def take_spool(home: Home) -> list[SpoolEntry]:
    """Read the spool and remove what was read.

    Who must not lose an entry when killed in between uses `read_spool`, keeps what it says, and then calls
    `drop_spooled`.
    """
    return drop_spooled(home, read_spool(home))


def _spooled(folder: Path) -> list[Path]:
    """The entries in a spool, and what is neither an entry nor on its way to be one."""
    try:
        found = sorted(folder.iterdir())
    except OSError:
        return []
    return [path for path in found if path.name != _DAMAGED and not _is_under_way(path)]


def _is_under_way(path: Path) -> bool:
    try:
        return path.name.startswith(".") and time.time() - path.lstat().st_mtime < _UNFINISHED_SECONDS
    except OSError:
        return True


def _content(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise IsADirectoryError(str(path))
        return file.read()


def _set_aside(path: Path) -> None:
    aside = path.parent / _DAMAGED
    try:
        aside.mkdir(mode=0o700, exist_ok=True)
        path.rename(aside / path.name)
    except OSError:
        return  # it stays where it is, and is looked at again next time
