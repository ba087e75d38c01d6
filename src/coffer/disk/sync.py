"""Make what was written last."""

from __future__ import annotations

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Make a folder's entries last: a new name is not on disk before its folder is."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_last(folder: Path) -> None:
    """Sync a folder in which a file was put in place: from there on the write has happened, whatever follows."""
    try:
        sync_folder(folder)
    except OSError:
        return  # after a loss of power the old file may be back, which is whole too


def sync_file(path: Path) -> None:
    """Make a file's content last."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
