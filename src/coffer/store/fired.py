"""When an agent's hook was heard last: the time of a file, since a hook must not wait for a database."""

from __future__ import annotations

import os
from pathlib import Path

from coffer.store.home import Home


def note_fired(home: Home, agent: str) -> None:
    """A hook of this agent was heard now. agent: a name of the table. Raises OSError."""
    path = _path(home, agent)
    try:
        os.utime(path)
    except FileNotFoundError:
        home.make(path.parent)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
        os.utime(path)


def fired(home: Home, agent: str) -> float:
    """When that was, seconds since the epoch; 0.0 for never."""
    try:
        return _path(home, agent).lstat().st_mtime
    except OSError:
        return 0.0


def _path(home: Home, agent: str) -> Path:
    return home.root / "fired" / agent
