"""Digest files: read with a ticket, written whole or not at all.

Only what lies below the folder that holds `.cozempic` counts: the project, or the home folder. A link that leaves
it is refused, so that a repository can't make Coffer read or write elsewhere; one that stays is followed, so that
a digest that is kept with the dotfiles stays where it is kept.

A write: the new file beside the old one and synced; the old inode gets a second name (the backup); if the file is
still the one that was read, one rename. A crash at any point leaves the old file or the new one.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from coffer.disk.replace import Ticket, back_up, beside, refusals
from coffer.disk.sync import make_last
from coffer.errors import DigestElsewhere, DigestForeign, FileMoved, TranscriptUnreadable

LARGEST = 1 << 20
"""Bytes. A digest of 20 rules has 12 KB; a session start must not wait for what somebody else put there."""
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class Loaded:
    """A digest as it was read. path: as asked for. text: decoded so that every byte can be given back.

    ticket: to be shown when it is written; its path is the file itself, links resolved. changed: seconds since the
    epoch, when the file was last written, renamed or given another time: `touch` can't make it older.
    """

    path: Path
    text: str
    ticket: Ticket
    changed: float


def read(path: Path) -> Loaded | None:
    """Read a digest; None where there is none. Makes nothing.

    Raises DigestElsewhere, DigestForeign (a folder, a pipe, more than 1 MB), TranscriptUnreadable.
    """
    real = within(path)
    try:
        descriptor = os.open(real, _READ)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise DigestElsewhere(str(path), "a link that was put there just now") from error
        if error.errno == errno.ENXIO:
            raise DigestForeign(str(path), "a socket") from error
        raise TranscriptUnreadable(str(path), (error.strerror or str(error)).lower()) from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise DigestForeign(str(path), "a folder" if stat.S_ISDIR(found.st_mode) else "a special file")
        data = _all(descriptor, path)
    finally:
        os.close(descriptor)
    changed = max(found.st_mtime, found.st_ctime)
    return Loaded(path, data.decode("utf-8", "surrogateescape"), _ticket(real, found), changed)


def _all(descriptor: int, path: Path) -> bytes:
    pieces, size = [], 0
    try:
        while size <= LARGEST and (piece := os.read(descriptor, LARGEST + 1 - size)):
            pieces.append(piece)
            size += len(piece)
    except OSError as error:
        raise TranscriptUnreadable(str(path), (error.strerror or str(error)).lower()) from error
    if size > LARGEST:
        raise DigestForeign(str(path), f"larger than {LARGEST >> 20} MB")
    return b"".join(pieces)


def within(path: Path) -> Path:
    """The file that a digest's path leads to.

    Raises DigestElsewhere where that is outside of its project, DigestForeign for a path that the database can't
    hold: its receipts and its trust would be lost.
    """
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError as error:
        raise DigestForeign(str(path), "below a folder whose name is not UTF-8") from error
    try:
        root, real = os.path.realpath(path.parent.parent), os.path.realpath(path)
    except (OSError, ValueError) as error:
        raise DigestElsewhere(str(path), str(error)) from error
    if not Path(real).is_relative_to(root):
        raise DigestElsewhere(str(path), real)
    return Path(real)


def write(path: Path, text: str, ticket: Ticket | None, backup: Path, *, private: bool = False) -> Ticket:
    """Write a digest; the ticket of the new file. The digest's lock must be held (`replace.locked`).

    ticket: as `read` gave it; None: there was no file. backup: the name that the old bytes get; nothing is there
    afterwards if there were none, or if the write failed. private: the person's own file, which nobody else may
    read when it is made. Mode and owner of an old file stay.
    Raises FileMoved, DigestElsewhere, WriteFailed: then the file is as it was.
    """
    real = within(path)
    data = text.encode("utf-8", "surrogateescape")
    if ticket is None:
        return _create(real, data, private=private)
    if ticket.path != real:
        raise FileMoved(str(path))
    ticket.check()
    with beside(ticket) as (new, file):
        with refusals(real):
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            written = _ticket(real, os.fstat(file.fileno()))
        back_up(ticket, backup)
        try:
            within(path)
            ticket.check()
            with refusals(real):
                os.replace(new, real)  # noqa: PTH105  (the call that everything here is about)
        except BaseException:
            backup.unlink(missing_ok=True)
            raise
    make_last(real.parent)
    return written


def remove(path: Path, ticket: Ticket | None, backup: Path) -> None:
    """Take away a digest, and its folder if nothing else is in it; `backup` has its bytes. The lock must be held.

    Raises FileMoved, DigestElsewhere, WriteFailed: then the file is as it was.
    """
    real = within(path)
    if ticket is None:
        return
    if ticket.path != real:
        raise FileMoved(str(path))
    ticket.check()
    back_up(ticket, backup)
    try:
        ticket.check()
        with refusals(real):
            real.unlink()
    except BaseException:
        backup.unlink(missing_ok=True)
        raise
    make_last(real.parent)
    _remove_empty(path.parent)


def _ticket(real: Path, found: os.stat_result) -> Ticket:
    return Ticket(real, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _create(real: Path, data: bytes, *, private: bool) -> Ticket:
    if os.path.lexists(real):
        raise FileMoved(str(real))
    with _folder(real.parent, 0o700 if private else 0o755):
        new = real.with_name(f".{real.name}.coffer-{os.getpid()}")
        try:
            with refusals(real):
                new.unlink(missing_ok=True)
                descriptor = os.open(
                    new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if private else 0o644
                )
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                    written = _ticket(real, os.fstat(file.fileno()))
            _appear(new, real)
        finally:
            new.unlink(missing_ok=True)
        make_last(real.parent)
    return written


def _appear(new: Path, real: Path) -> None:
    """Give a file its name, unless somebody else's file has it by now."""
    with refusals(real):
        try:
            os.link(new, real)
        except FileExistsError:
            raise FileMoved(str(real)) from None
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS):
                raise
            if os.path.lexists(real):  # a file system without second names
                raise FileMoved(str(real)) from error
            os.replace(new, real)  # noqa: PTH105  (see above)


@contextmanager
def _folder(folder: Path, mode: int) -> Iterator[None]:
    """The folder for a new digest, made if it is missing, and taken away again if nothing came into it.

    A `.cozempic` that stays behind would make a folder without git a project.
    """
    with refusals(folder):
        try:
            folder.mkdir(mode=mode)
            made = True
        except FileExistsError:
            if not folder.is_dir():
                raise
            made = False
    try:
        yield
    except BaseException:
        if made:
            _remove_empty(folder)
        raise
    if made:
        make_last(folder.parent)


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return  # somebody has put something there meanwhile: it is theirs
