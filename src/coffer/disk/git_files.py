"""What git keeps in files, read without running git: repositories, worktrees, and where HEAD stands.

A hook asks at every session start, and what a repository's settings name must not run.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

_LONGEST = 65_536
"""Bytes that are read of a small file of git's; a longer one is none of git's."""
LONGEST_CONFIG = 1 << 20


def led_to(mark: Path) -> Path | None:
    """The repository that a `.git` leads to: itself, or what it names as a file; None if there is none."""
    if is_folder(mark):
        return real(mark)
    said = said_in(mark)
    if not said.startswith("gitdir:"):
        return None
    found = real(mark.parent / said.removeprefix("gitdir:").strip())
    return found if found is not None and is_folder(found) else None


def common_of(repository: Path) -> Path | None:
    """The repository that a linked worktree's own one belongs to; None for any other repository."""
    said = said_in(repository / "commondir")
    return real(repository / said) if said else None


def belongs(place: Path, repository: Path, common: Path) -> bool:
    """Whether the repository knows this worktree.

    Otherwise any unpacked folder could name another project as its own, and what is learned here would be
    written there. A worktree that was moved and not used since is known by its former place, which is gone.
    """
    if repository.parent != common / "worktrees":
        return False
    said = said_in(repository / "gitdir")
    known = real(repository / said) if said else None
    return known is not None and (known == real(place / ".git") or not os.path.lexists(known))


def said_in(path: Path, most: int = _LONGEST) -> str:
    """The text of a file of git's, up to `most` bytes; "" where there is none that can be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe must not hold us
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        return os.fsdecode(os.read(descriptor, most)).strip()
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def is_folder(path: Path) -> bool:
    """Whether a folder is there, links followed."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (OSError, ValueError):
        return False  # also where it may not be looked at: then git finds nothing there either


def real(path: Path) -> Path | None:
    """The path with its links resolved; None for a loop of links or a NUL."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return None
