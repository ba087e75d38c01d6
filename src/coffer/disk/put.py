"""Put a small file of Coffer's own in its place: the old one or the new one is there, never half of one."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from coffer.disk.sync import sync_folder
from coffer.errors import WriteFailed


def put(path: Path, content: bytes, mode: int) -> bool:
    """Write a file with these bytes and this mode; False where it is there already, and is left untouched.

    A link in its place gives way to the file. Raises WriteFailed.
    """
    try:
        if holds(path, content, mode):
            return False
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(file.fileno(), mode)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        sync_folder(path.parent)
    except OSError as error:
        raise WriteFailed(str(path), (error.strerror or str(error)).lower()) from error
    return True


def holds(path: Path, content: bytes, mode: int) -> bool:
    """Whether a regular file with exactly these bytes and this mode is there. Raises OSError where it can't be read."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return (
        stat.S_ISREG(found.st_mode)
        and stat.S_IMODE(found.st_mode) == mode
        and found.st_size == len(content)
        and path.read_bytes() == content
    )
