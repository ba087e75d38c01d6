"""Transcript paths that come from outside: taken only below the agents' own folders (DESIGN section 10).

A hook's stdin can be written by anybody who can start a program as this user, and a repository's settings can name
hooks. A path that could make Coffer read something else is no transcript.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coffer.disk.places import Places

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def roots(agent: str, places: Places) -> tuple[Path, ...]:
    """The folders below which an agent keeps its transcripts."""
    if agent == "claude":
        return (places.claude / "projects",)
    return places.codex / "sessions", places.codex / "archived_sessions"


def admitted(said: object, agent: str, places: Places) -> Path | None:
    """The transcript that a path from outside names, its folder's links resolved; None for what is none.

    A file that is not there yet is one: a client names it before it writes it. Else it must be a regular file of this
    user, no link.
    """
    if not isinstance(said, str) or not said.startswith("/") or not said.endswith(".jsonl") or "\0" in said:
        return None
    try:
        path = Path(os.path.realpath(os.path.dirname(said))) / os.path.basename(said)  # noqa: PTH119, PTH120  (bare text)
        below = [root for root in roots(agent, places) if path.is_relative_to(os.path.realpath(root))]
        if not below:
            return None
        str(path).encode("utf-8")  # what is no text names no row of a database
        found = os.lstat(path)
    except FileNotFoundError:
        return path
    except (OSError, ValueError):
        return None
    return path if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() else None


@contextmanager
def opened_unlinked(path: Path) -> Iterator[int | None]:
    """A descriptor of a regular file of this user, for reading, no link followed; None where there is none."""
    try:
        descriptor = os.open(path, _READ)
    except OSError:
        yield None
        return
    try:
        found = os.fstat(descriptor)
        mine = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        yield descriptor if mine else None
    finally:
        os.close(descriptor)
