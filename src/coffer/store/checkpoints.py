"""Checkpoints: the state of a session as it was saved, in `<home>/guard/<session>.kept.json` (0600).

The newest is last, and only the last few are there. A file that can't be understood is told of and taken for none: what
is in it was in the client's files, and the next checkpoint replaces it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from coffer.core.session_state import SessionState
from coffer.disk.put import put
from coffer.disk.replace import refusals
from coffer.store.home import Home

FOLDER = "guard"
ENDING = ".kept.json"
VERSION = 1
MOST = 4
"""Checkpoints that a file holds."""
LARGEST = 4 << 20
"""Bytes; a longer file is none of ours."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One saved state. Times are Unix seconds, 0.0 for never.

    id: of its receipt. time: of the instant. why: what it was saved for. draft: a handoff's draft
    was written with it. given: when it was sent into the context. text: what was sent. size: bytes of
    the transcript then. seen: when the client wrote down that it took it, ISO 8601.
    """

    id: str
    time: float
    why: str
    state: SessionState
    draft: bool = False
    given: float = 0.0
    text: str = ""
    left_out: int = 0
    size: int = 0
    seen: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is saved of a session. trouble: why nothing could be read of what is there."""

    checkpoints: tuple[Checkpoint, ...] = ()
    trouble: str = ""

    @property
    def newest(self) -> Checkpoint | None:
        """The last one."""
        return self.checkpoints[-1] if self.checkpoints else None


@dataclass(frozen=True, slots=True)
class _File:
    version: int
    checkpoints: tuple[Checkpoint, ...] = ()


def kept_path(home: Home, session: str) -> Path | None:
    """Where a session's checkpoints lie; None for an id that can't be a file's name."""
    return home.of_session(FOLDER, session, ENDING)


def checkpoints(home: Home, session: str) -> Kept:
    """What is saved of a session."""
    path = kept_path(home, session)
    if path is None:
        return Kept()
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Kept()
    except OSError as error:
        return Kept(trouble=f"{path} can't be read ({error.strerror or error})")
    if len(data) > LARGEST:
        return Kept(trouble=f"{path} has {len(data)} bytes, more than any of ours")
    try:
        file = msgspec.json.decode(data, type=_File)
    except (msgspec.DecodeError, ValueError) as error:
        return Kept(trouble=f"{path} can't be understood ({error})")
    if file.version != VERSION:
        return Kept(trouble=f"{path} is of version {file.version}, which this Coffer does not know")
    return Kept(file.checkpoints)


def add(home: Home, session: str, checkpoint: Checkpoint) -> Path | None:
    """Save one more, in place of the one with the same id; None for an id that can't be a file's name.

    Raises WriteFailed.
    """
    path = kept_path(home, session)
    if path is None:
        return None
    before = [one for one in checkpoints(home, session).checkpoints if one.id != checkpoint.id]
    kept = sorted([*before, checkpoint], key=lambda one: one.time)[-MOST:]
    # what was sent is needed until it was seen, and only of the newest
    lean = [one if one is kept[-1] else replace(one, text="") for one in kept]
    with refusals(path):
        home.make(path.parent)
    put(path, msgspec.json.encode(_File(VERSION, tuple(lean))), 0o600)
    return path
