"""What the guard keeps of a session: `<home>/guard/<session>.state.json`, and `everyone.state.json` for all of them.

mode: what a person asked for. fired: tiers that were nudged for and not armed again. cleared: ids of blockers that a
person cleared. told: the receipt of the last move that the person was told of. acted: tiers that were acted upon and
not armed again. A file that can't be understood is one in which nothing was said, except that it pauses: a person who
asked for quiet must not be nudged since a disk broke the file.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

from coffer.core.loads import loads
from coffer.disk.lock import acquired
from coffer.disk.put import put
from coffer.disk.replace import refusals
from coffer.store.home import Home

Mode = Literal["on", "paused", "off"]
"""on: it watches and nudges. paused: it watches. off: it leaves the session alone."""
EVERYONE = "everyone"
"""In place of a session: all of them."""
FOLDER = "guard"
_PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class GuardState:
    """See above."""

    mode: Mode = "on"
    fired: tuple[str, ...] = ()
    cleared: tuple[str, ...] = ()
    told: str = ""
    acted: tuple[str, ...] = ()


def state_path(home: Home, session: str) -> Path | None:
    """Where a session's state lies; None for an id that can't be a file's name."""
    return home.of_session(FOLDER, session, ".state.json")


def guard_state(home: Home, session: str) -> GuardState:
    """What is kept of a session."""
    path = state_path(home, session)
    if path is None:
        return GuardState("paused")
    try:
        said = loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        return GuardState()
    except (OSError, ValueError):
        return GuardState("paused")
    if not isinstance(said, dict) or said.get("mode") not in get_args(Mode):
        return GuardState("paused")
    told = said.get("told")
    return GuardState(
        cast("Mode", said["mode"]),
        _words(said.get("fired")),
        _words(said.get("cleared")),
        told if isinstance(told, str) else "",
        _words(said.get("acted")),
    )


def mode_of(home: Home, session: str) -> Mode:
    """What a person asked for, for this session or for all: the quieter of the two."""
    modes = get_args(Mode)
    asked = (guard_state(home, session).mode, guard_state(home, EVERYONE).mode)
    return max(asked, key=modes.index)


def keep_state(home: Home, session: str, **changed: Any) -> bool:
    """Change what is kept of a session; False where it is so already. Raises WriteFailed.

    The daemon, its worker and the person's commands write it: one after the other, so that none loses a change.
    """
    path = state_path(home, session)
    if path is None or replace(before := guard_state(home, session), **changed) == before:
        return False
    with refusals(path):
        home.make(path.parent)
        lock = acquired(path.parent / ".state.lock", _PATIENCE)
        try:
            after = replace(guard_state(home, session), **changed)
            return put(path, json.dumps(asdict(after)).encode(), 0o600)
        finally:
            lock.release()


def _words(said: object) -> tuple[str, ...]:
    return tuple(word for word in said if isinstance(word, str)) if isinstance(said, list) else ()
