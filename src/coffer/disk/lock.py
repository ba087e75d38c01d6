"""Locks between processes, which go with their holder.

The library is loaded with the first lock: it brings asyncio and TLS along, which most commands never need.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock


def acquired(path: Path, seconds: float) -> BaseFileLock:
    """A lock that is held until its `release`; the file, of mode 0600, stays. seconds: how long to wait for another.

    Raises TimeoutError where another process holds it so long, else OSError: also where its folder is gone, which the
    library would make again.
    """
    from filelock import FileLock  # noqa: PLC0415  (see above)

    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    lock = FileLock(path, mode=0o600)
    lock.acquire(timeout=seconds)
    return lock
