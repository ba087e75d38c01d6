"""The index of the vault: `<home>/index.db`, made from the files of knowledge and journal, and never the truth.

Whoever asks brings it up to date first: each file is known by its inode, its size and when it was written, so a hand
edit shows at once. One process at a time writes; others go on reading what is there. An index that is missing,
broken or of another version is made anew beside the old one; where nothing may be written, it is made in memory.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from coffer.core.entry import Lane, entries_of
from coffer.core.text import is_text
from coffer.disk.lock import acquired
from coffer.store.home import Home
from coffer.store.index_tables import TABLES, VERSION, add, folder_id, take_out
from coffer.store.vault import dated, read, vault

LANES: tuple[Lane, ...] = ("knowledge", "journal")
"""Rules are delivered and a handoff is asked for: neither is recalled."""
GLOBAL = "global"
_BATCH = 50
"""Files of a transaction, for which readers wait when it ends."""
BUSY = 5.0
"""Seconds to wait for another process."""

Progress = Callable[[int, int], None]
"""Called with (files done, files in all)."""


class IndexBusy(Exception):
    """Another process is making the index."""


class TooMuch(Exception):
    """More files changed than the caller wants to read by itself."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A file of the vault as it stands there."""

    path: str
    folder: str
    lane: Lane
    inode: int
    modified: int
    size: int

    @property
    def mark(self) -> tuple[int, int, int]:
        """Changes when the file does."""
        return self.inode, self.modified, self.size


@dataclass(frozen=True, slots=True)
class Done:
    """What bringing the index up to date took. new: it was made from nothing."""

    files: int
    entries: int
    new: bool


def path(home: Home) -> Path:
    """Where it lies."""
    return home.root / "index.db"


def scan(home: Home) -> list[Seen]:
    """The files that are indexed, the oldest days first. No link is followed."""
    root = vault(home)
    folders = [
        (GLOBAL, root / GLOBAL),
        *((name, root / "projects" / name) for name in _folders(root / "projects")),
    ]
    found = [
        seen for name, folder in folders for lane in LANES for seen in _files(root, name, folder / lane, lane)
    ]
    return sorted(found, key=lambda seen: seen.path.rpartition("/")[2])


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return [item.name for item in found if item.is_dir(follow_symlinks=False) and is_text(item.name)]
    except OSError:
        return []


def _files(root: Path, name: str, folder: Path, lane: Lane) -> list[Seen]:
    start = len(str(root)) + 1
    seen = []
    with suppress(OSError), os.scandir(folder) as found:  # most projects have not every lane
        for item in found:
            if not item.name.endswith(".md") or item.name[0] == "." or not is_text(item.name):
                continue  # a name that is no UTF-8 can't stand in the index
            if item.is_file(follow_symlinks=False):
                at = item.stat(follow_symlinks=False)
                seen.append(Seen(item.path[start:], name, lane, at.st_ino, at.st_mtime_ns, at.st_size))
    return seen


def rebuild(home: Home, progress: Progress | None = None) -> Done:
    """Make the index anew from the files, whatever is there. Raises IndexBusy, OSError, sqlite3.Error."""
    with alone(home, 60.0):
        return _made(home, scan(home), progress)


def current(
    home: Home, most: int | None = None, progress: Progress | None = None
) -> tuple[sqlite3.Connection, bool]:
    """The index, up to date, to read from; and whether the file is so too. A vault without entries gets none.

    most: files to read before; more: TooMuch. While another process makes the index, the one that is there answers;
    where there is none yet, IndexBusy. Raises sqlite3.Error for one that is broken inside.
    """
    seen = scan(home)
    if not seen and not path(home).exists():
        return in_memory(home), False
    connection = None
    try:
        connection = as_it_is(home)
        changed = _behind(connection, seen)
    except sqlite3.Error:
        changed = len(seen)  # it is missing, broken or of another version
    if connection is not None:
        if not changed:
            return connection, True
        connection.close()
    if most is not None and changed > most:
        raise TooMuch
    try:
        with alone(home, BUSY):
            _update(home, seen, progress)
        return as_it_is(home), True
    except IndexBusy:
        if connection is None:
            raise
        return as_it_is(home), False  # whoever is at work brings it up to date
    except (OSError, sqlite3.Error):
        return _in_memory(seen, home, progress), False


def _update(home: Home, seen: list[Seen], progress: Progress | None) -> None:
    """Bring the file up to date, or make it anew. The lock must be held."""
    try:
        connection = as_it_is(home, write=True)
    except sqlite3.Error:
        _made(home, seen, progress)
        return
    try:
        _take_in(connection, seen, home, progress)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):  # a full disk, a lock: the file itself is good
            raise
        _made(home, seen, progress)
    finally:
        connection.close()


def _made(home: Home, seen: list[Seen], progress: Progress | None) -> Done:
    """A new index in the place of the old one. The lock must be held: the old one's journal goes with it."""
    home.make(home.root)
    new = home.root / f".index.db.{os.getpid()}"
    for old in home.root.glob(".index.db.*"):
        old.unlink(missing_ok=True)  # of one that was killed
    try:
        descriptor = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        os.close(descriptor)
        connection = sqlite3.connect(new, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = OFF")  # nobody sees it before it is whole
            connection.execute("PRAGMA synchronous = OFF")
            _begin(connection)
            done = _take_in(connection, seen, home, progress)
            connection.execute("INSERT INTO words (words) VALUES ('optimize')")
            connection.execute("PRAGMA journal_mode = DELETE")
        finally:
            connection.close()
        path(home).with_name("index.db-journal").unlink(missing_ok=True)  # would be played into the new one
        new.replace(path(home))
    finally:
        new.unlink(missing_ok=True)
    return Done(done.files, done.entries, new=True)


def in_memory(home: Home, progress: Progress | None = None) -> sqlite3.Connection:
    """An index for one question, from the files alone."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _begin(connection)
    _take_in(connection, scan(home), home, progress)
    return connection


def _begin(connection: sqlite3.Connection) -> None:
    """Make the tables, and give the index its mark."""
    connection.executescript(TABLES)
    connection.execute(f"PRAGMA application_id = {secrets.randbelow(1 << 31)}")


def mark_of(connection: sqlite3.Connection) -> int:
    """What tells this index from one made anew, whose numbers mean something else; an inode is given again."""
    return int(connection.execute("PRAGMA application_id").fetchone()[0])


def _in_memory(seen: list[Seen], home: Home, progress: Progress | None) -> sqlite3.Connection:
    """An index for one question, from the one that is there as far as that is good."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        with closing(as_it_is(home)) as there:
            there.backup(connection)
    except sqlite3.Error:
        connection.close()
        return in_memory(home, progress)
    _take_in(connection, seen, home, progress)
    return connection


def as_it_is(home: Home, *, write: bool = False) -> sqlite3.Connection:
    """The file, if it is an index of this version, up to date or not. Raises sqlite3.Error."""
    mode = "rw" if write else "ro"
    connection = sqlite3.connect(
        f"{path(home).absolute().as_uri()}?mode={mode}", timeout=BUSY, uri=True, isolation_level=None
    )
    try:
        _require_version(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA mmap_size = 268435456")
    except BaseException:
        connection.close()
        raise
    return connection


def _require_version(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
        raise sqlite3.DatabaseError("of another version")


def _behind(connection: sqlite3.Connection, seen: list[Seen]) -> int:
    """How many files are not as the index has them."""
    known = _known(connection)
    gone = len(known.keys() - {one.path for one in seen})
    return gone + sum(one.path not in known or known[one.path][1] != one.mark for one in seen)


def _known(connection: sqlite3.Connection) -> dict[str, tuple[int, tuple[int, int, int]]]:
    rows = connection.execute("SELECT path, id, inode, modified, size FROM files")
    return {name: (file, (inode, modified, size)) for name, file, inode, modified, size in rows}


def _take_in(connection: sqlite3.Connection, seen: list[Seen], home: Home, progress: Progress | None) -> Done:
    """Read what changed, and forget what is gone."""
    known = _known(connection)
    here = {one.path for one in seen}
    changed = [one for one in seen if one.path not in known or known[one.path][1] != one.mark]
    gone = [file for name, (file, _) in known.items() if name not in here]
    count = 0
    for at in range(0, max(len(changed), 1), _BATCH):
        with transaction(connection):
            for file in gone if at == 0 else ():
                take_out(connection, file)
            for one in changed[at : at + _BATCH]:
                count += _take(connection, one, known.get(one.path), home)
        if progress is not None:
            progress(min(at + _BATCH, len(changed)), len(changed))
    return Done(len(changed), count, new=False)


def _take(
    connection: sqlite3.Connection, seen: Seen, known: tuple[int, tuple[int, int, int]] | None, home: Home
) -> int:
    if known is not None:
        take_out(connection, known[0])
    folder = folder_id(connection, seen.folder)
    row = connection.execute(
        "INSERT INTO files (path, folder, inode, modified, size) VALUES (?,?,?,?,?)",
        (seen.path, folder, *seen.mark),
    )
    place = vault(home) / seen.path
    text = read(place)
    if text is None:
        return 0
    assert row.lastrowid is not None
    return add(connection, row.lastrowid, folder, entries_of(text, seen.lane, dated(place)))


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def alone(home: Home, wait: float) -> Iterator[None]:
    """Be the one process that writes the index. Raises IndexBusy; OSError where nothing may be written."""
    home.make(home.locks)
    try:
        lock = acquired(home.locks / "index.lock", wait)
    except TimeoutError as error:
        raise IndexBusy from error
    try:
        yield
    finally:
        lock.release()
