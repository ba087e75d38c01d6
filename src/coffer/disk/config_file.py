"""Configuration files of other programs: read whole, replaced whole, with what was there kept beside.

Links are followed to the file itself, however many there are, so that a file which is kept with the dotfiles stays
there and its link stays a link. Mode and owner stay. Nobody else's write is lost: the file must still be the one that
was read, by its inode, size, time and bytes, right before the one rename that puts the new one in its place. A crash
at any point leaves the old file or the new one.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from coffer.disk.agent_errors import ConfigBroken
from coffer.disk.replace import Ticket, beside, refusals
from coffer.disk.sync import make_last, sync_folder
from coffer.errors import FileMoved, WriteFailed

LARGEST = 16 << 20
"""Bytes. What is larger is no settings file."""
_PRIVATE = 0o600


@dataclass(frozen=True, slots=True)
class Config:
    """A file as it was read. path: as asked for. real: the file itself. data, ticket: None where there is none."""

    path: Path
    real: Path
    data: bytes | None
    ticket: Ticket | None

    def check(self) -> None:
        """Raise FileMoved unless the file is still the one that was read."""
        if self.ticket is None:
            if os.path.lexists(self.real):
                raise FileMoved(str(self.path))
            return
        self.ticket.check()
        if Path(os.path.realpath(self.path)) != self.real or _bytes(self.real) != self.data:
            raise FileMoved(str(self.path))


def read(path: Path) -> Config:
    """Read a file, its links followed. Makes nothing. Raises ConfigBroken where it can't be read as one."""
    real = Path(os.path.realpath(path))
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return Config(path, real, None, None)
    except OSError as error:
        raise ConfigBroken(
            str(path), 0, f"it can't be read: {(error.strerror or str(error)).lower()}"
        ) from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ConfigBroken(str(path), 0, "it is a folder or a special file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(LARGEST + 1)
    finally:
        os.close(descriptor)
    if len(data) > LARGEST:
        raise ConfigBroken(str(path), 0, f"it is larger than {LARGEST >> 20} MB")
    ticket = Ticket(real, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    return Config(path, real, data, ticket)


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def require_writable(config: Config) -> None:
    """Raise WriteFailed for a file whose owner has made it read-only: the folder alone would allow a rename."""
    if config.ticket is None:
        return
    with refusals(config.path):
        mode = config.real.stat().st_mode
    if not mode & stat.S_IWUSR or not os.access(config.real, os.W_OK):
        raise WriteFailed(str(config.path), "it is read-only")


def replace(config: Config, data: bytes) -> None:
    """Put other bytes in the place of a file that is there. Its lock must be held (`replace.locked`).

    Raises FileMoved, WriteFailed: then the file is as it was.
    """
    assert config.ticket is not None
    config.check()
    with beside(config.ticket) as (new, file):
        with refusals(config.real):
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        config.check()
        with refusals(config.real):
            os.replace(new, config.real)  # noqa: PTH105  (the call that everything here is about)
    make_last(config.real.parent)


def create(config: Config, data: bytes) -> bool:
    """Make a file where there was none; whether its folder had to be made too. Raises FileMoved, WriteFailed."""
    folder = config.real.parent
    config.check()
    with refusals(config.real):
        made = not folder.is_dir()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = config.real.with_name(f".{config.real.name}.coffer-{os.getpid()}")
    try:
        with refusals(config.real):
            new.unlink(missing_ok=True)
            _write(new, data)
            _appear(new, config)
    finally:
        new.unlink(missing_ok=True)
    make_last(folder)
    return made


def _appear(new: Path, config: Config) -> None:
    """Give a file its name, unless somebody else's file has it by now."""
    try:
        os.link(new, config.real)
    except FileExistsError:
        raise FileMoved(str(config.path)) from None
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS):
            raise
        config.check()  # a file system without second names
        os.replace(new, config.real)  # noqa: PTH105  (as above)


def remove(config: Config, *, folder: bool) -> None:
    """Take away a file that we made. folder: its folder too, if nothing else came into it. Raises FileMoved."""
    config.check()
    with refusals(config.real):
        config.real.unlink()
    make_last(config.real.parent)
    if folder:
        try:
            config.real.parent.rmdir()
        except OSError:
            return  # it holds something by now: it is theirs


def keep_beside(config: Config, name: str) -> Path:
    """Write what was read under another name beside the file, for its owner alone; where that is.

    Beside the name that the client knows, not where a link leads: a repository of dotfiles is no place for it,
    settings hold keys. Only where that folder can't be written, beside the file itself.
    """
    assert config.data is not None
    target = config.path.with_name(name)
    try:
        _put(target, config.data)
    except OSError:
        target = config.real.with_name(name)
        with refusals(target):
            _put(target, config.data)
    return target


def keep(path: Path, data: bytes) -> None:
    """Write a private file of ours, its folder made. Raises WriteFailed."""
    with refusals(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _put(path, data)


def _put(path: Path, data: bytes) -> None:
    new = path.with_name(f".{path.name}.coffer-{os.getpid()}")
    try:
        new.unlink(missing_ok=True)
        _write(new, data)
        os.replace(new, path)  # noqa: PTH105  (as above)
    finally:
        new.unlink(missing_ok=True)
    sync_folder(path.parent)


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
