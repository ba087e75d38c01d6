"""Replace a transcript so that no byte can be lost, whatever happens in between.

Order: the new file is written beside the old one and synced; the old inode gets a second name (the backup) and
is kept open; if the file is still the one that was read, one rename puts the new file in its place and the folder
is synced; then the old inode is read on for a while, and what a writer that had it open appended there is appended
to the new file (facts/claude-code §10: without this a saturating writer loses lines).

A crash at any point leaves the old file or the new one, and the backup.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from coffer.disk.files import Source
from coffer.disk.lock import acquired
from coffer.disk.sync import sync_file, sync_folder
from coffer.errors import Busy, FileMoved, LateLinesKept, WriteFailed

_CHUNK = 1 << 20
LOCK_SECONDS = 0.2
"""How long another process that writes the same file is waited for."""
WARM_SECONDS = 600.0
"""A file that was written to less than this ago may still be appended to."""
DRAIN_SECONDS = 2.0
"""How long the old inode of a warm file is read on."""
_DRAIN_STEP = 0.02
_ACCESS_LIST = "system.posix_acl_access"


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

    @classmethod
    def of_source(cls, source: Source) -> Ticket:
        """The ticket of a file as it was when it was opened: what came between opening and now is noticed."""
        found = source.opened
        real = Path(os.path.realpath(source.path))
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
def locked(folder: Path, path: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the lock of a file. seconds: how long to wait for another process. Raises Busy, WriteFailed."""
    name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]
    with refusals(folder):
        try:
            lock = acquired(folder / f"{name}.lock", seconds)
        except TimeoutError as error:  # an OSError too
            raise Busy(str(path)) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def beside(ticket: Ticket) -> Iterator[tuple[Path, IO[bytes]]]:
    """A new file in the same folder, with the old one's mode and owner; removed unless it was moved away.

    Its name is none that a client takes for a session. The lock must be held: what a Coffer that was killed
    left there is removed first.
    """
    prefix = f".{ticket.path.name}.coffer-"
    path = ticket.path.with_name(f"{prefix}{os.getpid()}")
    with refusals(ticket.path):
        for other in ticket.path.parent.iterdir():
            if other.name.startswith(prefix) and other.name.removeprefix(prefix).isdigit():
                other.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    file = os.fdopen(descriptor, "w+b", buffering=_CHUNK)
    try:
        with refusals(ticket.path):
            _like(ticket.path, file)
        yield path, file
        with refusals(ticket.path):
            file.close()
    finally:
        _abandon(file)
        path.unlink(missing_ok=True)


def _like(old: Path, file: IO[bytes]) -> None:
    found = old.stat()
    if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
        os.fchown(file.fileno(), found.st_uid, found.st_gid)
    if hasattr(os, "listxattr"):  # Linux
        _attributes_like(old, file.fileno())
    os.fchmod(file.fileno(), found.st_mode & 0o7777)


def _attributes_like(old: Path, new: int) -> None:
    """Give a file the access list and the other attributes of the old one.

    Of a file with a list the mode's group bits are the list's mask: without the list they would open it to the group.
    """
    had = set(os.listxattr(old))
    for name in had | {_ACCESS_LIST}:
        try:
            if name in had:
                os.setxattr(new, name, os.getxattr(old, name))
            else:
                os.removexattr(new, name)  # what the folder gives to new files
        except OSError:
            if name == _ACCESS_LIST and name in had:
                raise
            continue  # not ours to set, or none there


def _abandon(file: IO[bytes]) -> None:
    try:
        file.close()
    except OSError:
        return  # a full disk refuses what is still buffered; it was told, and the file is removed


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Turn what the system refuses into WriteFailed."""
    try:
        yield
    except OSError as error:
        raise WriteFailed(str(path), _reason(error)) from error


def _reason(error: OSError) -> str:
    known = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the quota is used up"}
    return known.get(error.errno or 0, (error.strerror or str(error)).lower())


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


@dataclass(slots=True)
class Late:
    """What a client that had the file open appended to the old inode while it was replaced.

    carried: bytes that were appended to the new file. problem: why the rest was not.
    """

    carried: int = 0
    problem: str = ""
    kept: bool = True

    def check(self, backup: Path, size: int, undoable: str = "") -> None:
        """Raise LateLinesKept where something was not carried over. size: of the old file when it was read.

        undoable: the receipt whose undo brings it back, if there is one.
        """
        if self.problem:
            raise LateLinesKept(str(backup), size + self.carried, self.problem, undoable, kept=self.kept)


def swap(ticket: Ticket, new: Path, file: IO[bytes], backup: Path, *, in_use: bool = False) -> Late:
    """Put the new file in the old one's place, and carry over what was appended late.

    in_use: a client has the session open, and may append at any moment, however long ago it last did.
    The time of the last write stays: it says when the agent wrote, which is what lists and rests go by.
    Raises FileMoved where the file is no longer the one that was read, WriteFailed; then nothing was changed.
    What goes wrong behind the rename is no error here but part of the answer: the caller must keep its backup.
    """
    with refusals(ticket.path):
        file.flush()
        os.utime(file.fileno(), ns=(ticket.modified, ticket.modified))
        os.fsync(file.fileno())
        old = os.open(ticket.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            ticket.check()
            os.replace(new, ticket.path)  # noqa: PTH105  (the call that everything here is about)
            late = Late()
            may_come = in_use or ticket.age < WARM_SECONDS
            until = time.monotonic() + (DRAIN_SECONDS if may_come else 0.0)
            try:
                sync_folder(ticket.path.parent)
                carry(old, ticket, until, late)
            except OSError as error:
                late.problem = _reason(error)
                late.kept = _keeps_late(old, ticket, until, backup)
            return late
        finally:
            os.close(old)


def _keeps_late(old: int, ticket: Ticket, until: float, backup: Path) -> bool:
    """Whether the backup has all of the old inode; a copy gets appended what it lacks. Never raises OSError."""
    try:
        _keep_late(old, ticket, until, backup)
    except OSError:
        return False
    return True


def _keep_late(old: int, ticket: Ticket, until: float, backup: Path) -> None:
    if os.path.samestat(os.fstat(old), backup.stat()):
        return
    with backup.open("r+b", buffering=0) as target:
        at = target.seek(ticket.size)
        target.truncate()
        while True:
            if data := os.pread(old, _CHUNK, at):
                at += target.write(data)
            elif time.monotonic() >= until:
                break
            else:
                time.sleep(_DRAIN_STEP)
        os.fsync(target.fileno())


def carry(old: int, ticket: Ticket, until: float, late: Late) -> None:
    """Append to the new file what arrives in the old inode until then (`time.monotonic`); counts into `late`."""
    with ticket.path.open("ab", buffering=0) as target:
        while True:
            data = os.pread(old, _CHUNK, ticket.size + late.carried)
            if data:
                late.carried += target.write(data)  # a full disk may take a part
                continue
            if time.monotonic() >= until:
                break
            time.sleep(_DRAIN_STEP)
        if late.carried:
            os.fsync(target.fileno())
