"""Whether a file was changed while no agent session was open, so that the change must be the person's own.

Decided conservatively; what says no:

- an agent's process, or a client that holds a session, that was running when the file changed. One that started
  afterwards can't have made the change, so the session that asks for its rules does not silence them;
- a transcript that began before the change and was written after it, or in the 10 minutes before it;
- anything that can't be told: a transcript without a time, a holder without a start, a change in the future.

The change is dated by the inode's own time too, which `touch` can't set back. Not seen: sessions that leave no
transcript and have ended, and agents that Coffer doesn't know (docs/threat-model.md).
"""

from __future__ import annotations

import time

from coffer.core.chain import seconds
from coffer.core.regex import regex
from coffer.disk.ancestors import running_agents, started
from coffer.disk.files import open_source
from coffer.disk.live import Holder, codex_holder, holders
from coffer.disk.places import Places
from coffer.disk.sessions import Found, find_sessions
from coffer.errors import CofferError

BEFORE_SECONDS = 600.0
"""A session that was written to less than this before a change may still have been open."""
_SLACK_SECONDS = 2.0
"""Clocks of processes and of files differ by less."""
_TIME = regex(rb'"timestamp":\s*"([0-9T:.+Z-]{10,40})"')


def changed_alone(changed: float, places: Places, now: float | None = None) -> bool:
    """Whether no agent session was open at a moment. changed, now: seconds since the epoch."""
    if changed > (time.time() if now is None else now) + _SLACK_SECONDS:
        return False
    until = changed + _SLACK_SECONDS
    if any(start <= until for _, start in running_agents()):
        return False
    if any(start is None or start <= until for start in map(_start, _held(places))):
        return False
    return not any(
        found.modified >= changed - BEFORE_SECONDS and _began(found) <= until
        for found in find_sessions(places)
    )


def _held(places: Places) -> list[Holder]:
    """Clients that have a session open, whatever their process is called."""
    found = [holder for held in holders(places).values() for holder in held]
    try:
        locks = sorted((places.codex / "thread-writer-locks").glob("*.lock"))
    except OSError:
        locks = []  # a folder that may not be read names nobody
    threads = (codex_holder(places, lock.stem) for lock in locks)
    return [*found, *(holder for holder in threads if holder is not None)]


def _start(holder: Holder) -> float | None:
    return started(holder.pid) if holder.pid else None


def _began(found: Found) -> float:
    """When a session began; 0 where its file doesn't say, which is before any change."""
    try:
        with open_source(found.path) as source:
            match = _TIME.search(source.head())
    except CofferError:
        return 0.0
    return (seconds(match[1].decode("ascii")) or 0.0) if match else 0.0
