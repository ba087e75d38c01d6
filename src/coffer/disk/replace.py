"""Replace a transcript so that no byte can be lost, whatever happens in between.

Order: the new file is written beside the old one and synced; the old inode gets a second name (the backup) and
is kept open; if the file is still the one that was read, one rename puts the new file in its place and the folder
is synced; then the old inode is read on for a while, and what a writer that had it open appended there is appended
to the new file (facts/claude-code §10: without this a saturating writer loses lines).

A crash at any point leaves the old file or the new one, and the backup.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from filelock import FileLock, Timeout

from coffer.disk.sync import sync_file, sync_folder
from coffer.errors import Busy, FileMoved, WriteFailed

_CHUNK = 1 << 20
_LOCK_SECONDS = 0.2
WARM_SECONDS = 600.0
"""A file that was written to less than this ago may still be appended to."""
DRAIN_SECONDS = 2.0
"""How long the old inode of a warm file is read on."""
_DRAIN_STEP = 0.02


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a file was when it was read: a replace shows it, and is refused if the file is another one now."""

    path: Path
    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> Ticket:
        """The ticket of a file, its links followed."""
        real = Path(os.path.realpath(path))
        found = real.stat()
        return cls(real, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)

    def check(self) -> None:
        """Raise FileMoved unless the file is still the one that was read."""
        try:
            now = Ticket.of(self.path)
        except OSError as error:
            raise FileMoved(str(self.path)) from error
        if now != self:
            raise FileMoved(str(self.path))

    @property
    def age(self) -> float:
        """Seconds since the file was written to."""
        return max(0.0, time.time() - self.modified / 1e9)


@contextmanager
def locked(folder: Path, path: Path) -> Iterator[None]:
    """Hold the lock of a transcript. Raises Busy where another process holds it."""
    name = os.path.realpath(path).replace("%", "%25").replace("/", "%2F")[-200:]
    lock = FileLock(folder / f"{name}.lock", mode=0o600)
    try:
        lock.acquire(timeout=_LOCK_SECONDS)
    except Timeout as error:
        raise Busy(str(path)) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def beside(ticket: Ticket) -> Iterator[tuple[Path, IO[bytes]]]:
    """A new file in the same folder, with the old one's mode and owner; removed unless it was moved away.

    Its name is none that a client takes for a session.
    """
    path = ticket.path.with_name(f".{ticket.path.name}.coffer-{os.getpid()}")
    with refusals(ticket.path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w+b", buffering=_CHUNK) as file:
            found = ticket.path.stat()
            os.fchmod(file.fileno(), found.st_mode & 0o7777)
            if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(file.fileno(), found.st_uid, found.st_gid)
            yield path, file
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Turn what the system refuses into WriteFailed."""
    try:
        yield
    except OSError as error:
        known = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the quota is used up"}
        reason = known.get(error.errno or 0, (error.strerror or str(error)).lower())
        raise WriteFailed(str(path), reason) from error


def back_up(ticket: Ticket, backup: Path) -> None:
    """Give the old inode a second name, or copy it where that is not possible (another file system)."""
    with refusals(backup):
        backup.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            os.link(ticket.path, backup)
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP):
                raise
            shutil.copy2(ticket.path, backup)
            sync_file(backup)
        sync_folder(backup.parent)


def swap(ticket: Ticket, new: Path, file: IO[bytes]) -> int:
    """Put the new file in the old one's place; the bytes that were carried over from late appends.

    The time of the last write stays: it says when the agent wrote, which is what lists and rests go by.
    Raises FileMoved where the file is no longer the one that was read; then nothing was changed.
    """
    with refusals(ticket.path):
        file.flush()
        os.utime(file.fileno(), ns=(ticket.modified, ticket.modified))
        os.fsync(file.fileno())
        old = os.open(ticket.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            ticket.check()
            os.replace(new, ticket.path)  # noqa: PTH105  (the call that everything here is about)
            sync_folder(ticket.path.parent)
            wait = DRAIN_SECONDS if ticket.age < WARM_SECONDS else 0.0
            return carry(old, ticket.size, ticket.path, wait)
        finally:
            os.close(old)


def carry(old: int, since: int, path: Path, wait: float, clock: Callable[[], float] = time.monotonic) -> int:
    """Append to path what arrives in the old inode behind `since`, for `wait` seconds; the bytes carried."""
    carried, until = 0, clock() + wait
    with path.open("ab", buffering=0) as target:
        while True:
            late = os.pread(old, _CHUNK, since + carried)
            if late:
                target.write(late)
                carried += len(late)
                continue
            if clock() >= until:
                break
            time.sleep(_DRAIN_STEP)
        if carried:
            os.fsync(target.fileno())
    return carried
