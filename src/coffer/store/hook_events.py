"""The hook events of a session, as the gate reads them: one line each, {ts, event, stdin}.

Only what the gate looks at is kept, redacted; a person's prompts are not. The file is a session's and small: the
gate needs the last end of a turn and what came since, so older lines go once there are many.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from coffer.core.inherited import stays
from coffer.core.redact import redact
from coffer.disk.put import put
from coffer.disk.replace import refusals
from coffer.store.guard_state import EVERYONE
from coffer.store.home import Home, is_name

FOLDER = "guard"
STATE = ".state.json"
KEPT = (
    "session_id",
    "hook_event_name",
    "source",
    "reason",
    "trigger",
    "notification_type",
    "agent_id",
    "agent_type",
    "background_tasks",
    "session_crons",
    "stop_hook_active",
    "last_assistant_message",
    "teammate_name",
    "task_id",
    "prompt_id",
)
"""Keys of a hook's stdin that are kept (facts/claude-code §2)."""
LARGEST = 1 << 18
"""Bytes from which on a file is cut to its newer half."""
_NEWEST = 1 << 16
PASSING = 60.0
"""Seconds between the end of a session and the start of the next in one process: hooks of the end may take as long."""
_LEAVES = frozenset({"prompt_input_exit", "logout", "other"})


def kept_hooks(home: Home, session: str) -> Path:
    """Where a session's hook events lie."""
    return home.root / FOLDER / f"{session}.jsonl"


def keep(home: Home, event: str, said: Mapping[str, Any], time: float) -> bool:
    """Keep an event; False for one without a session id that may be a file's name. time: Unix seconds.

    Raises WriteFailed.
    """
    session = said.get("session_id")
    if not isinstance(session, str) or not is_name(session):
        return False
    path = kept_hooks(home, session)
    line = json.dumps(
        {"ts": time, "event": event, "stdin": _clean({key: said[key] for key in KEPT if key in said})}
    )
    with refusals(path):
        home.make(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            size = _put(descriptor, line.encode() + b"\n")
        finally:
            os.close(descriptor)
        if size > LARGEST:
            data = path.read_bytes()
            put(path, data[data.find(b"\n", len(data) // 2) + 1 :], 0o600)
    return True


def _put(descriptor: int, line: bytes) -> int:
    """Append a whole line; the size of the file then. What a full disk or a death left of one is cut off.

    A torn line would take the next one with it, and the gate could not be sure of any of the two.
    """
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        tail = os.pread(descriptor, size, max(0, size - _NEWEST))
        size = max(0, size - len(tail)) + tail.rfind(b"\n") + 1
        os.ftruncate(descriptor, size)
    if os.write(descriptor, line) < len(line):
        os.ftruncate(descriptor, size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return size + len(line)


def with_those_before(home: Home, session: str) -> bytes | None:
    """A session's events behind those of the sessions that its process had before; None: none of its own were kept.

    A session that ended within a minute of this one's beginning, and not because its client was left, is one of those:
    what it left in the process is in no event of this one before its first Stop (`core.inherited`).
    """
    try:
        found = [kept_hooks(home, session).read_bytes()]
    except OSError:
        return None
    seen, waiting = {session}, [_begun(found[0])]
    while waiting:
        begun = waiting.pop()
        for name, data in _ended_by(home, begun, frozenset(seen)) if begun is not None else ():
            seen.add(name)
            found.insert(0, data)
            waiting.append(_begun(data))
    return b"".join(found)


def _begun(data: bytes) -> float | None:
    """When a session that has had no Stop since was begun or taken up in a process that may have had another."""
    came = max(_times(data, "SessionStart", "source", stays()), default=None)
    return None if came is None or any(time > came for time in _times(data, "Stop")) else came


def _ended_by(home: Home, begun: float, seen: Collection[str]) -> Iterator[tuple[str, bytes]]:
    for path in sorted((home.root / FOLDER).glob("*.jsonl")):
        try:
            late = path.stem not in seen and path.stat().st_mtime >= begun - PASSING
            data = path.read_bytes() if late else b""
        except OSError:
            continue  # it went meanwhile, with a session that was silent for long
        if any(abs(begun - time) <= PASSING for time in _times(data, "SessionEnd", "reason", _LEAVES)):
            yield path.stem, data


def _times(data: bytes, event: str, name: str = "", besides: Collection[str] = ()) -> Iterator[float]:
    """When events of this name came, but for those whose stdin has one of these words under a name."""
    for line in data.split(b"\n"):
        if f'"{event}"'.encode() not in line:
            continue
        try:
            told = json.loads(line)
            time, word = float(told["ts"]), told["stdin"].get(name) if name else None
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if told.get("event") == event and word not in besides:
            yield time


def last_stop(home: Home, session: str) -> tuple[float, tuple[Mapping[str, Any], ...]] | None:
    """When a session said last that a turn ended, and what it listed as going on in the background; None for never.

    Of the newest events only: a session that has said so much since is not at rest.
    """
    if not is_name(session):
        return None
    try:
        with kept_hooks(home, session).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _NEWEST))
            lines = file.read().split(b"\n")
    except OSError:
        return None  # nothing was kept
    for line in reversed(lines):
        if b'"event": "Stop"' not in line:
            continue
        try:
            said = json.loads(line)
            time, stdin = float(said["ts"]), said["stdin"]
        except (ValueError, KeyError, TypeError):
            continue  # the first line of what was read may be half a one
        tasks = stdin.get("background_tasks") if isinstance(stdin, dict) else None
        return time, tuple(task for task in tasks if isinstance(task, dict)) if isinstance(
            tasks, list
        ) else ()
    return None


READ = ("resume", "startup")
"""Sources of a SessionStart for which the client has read its file. A compaction starts a session too, from memory."""


def loaded_at(home: Home, session: str, since: float, sources: Collection[str] = READ) -> float | None:
    """When a SessionStart of these sources came, at or after a time, in Unix seconds; None: none was seen."""
    try:
        lines = kept_hooks(home, session).read_bytes().split(b"\n")
    except OSError:
        return None
    for line in lines:
        if b'"SessionStart"' not in line:
            continue
        try:
            told = json.loads(line)
            time, source = float(told["ts"]), told["stdin"].get("source")
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if time >= since and source in sources:
            return time
    return None


def drop_old(home: Home, before: float) -> int:
    """Remove what is kept of sessions that were silent since `before` (Unix seconds); how many files that were.

    What a person said of a session goes last, with everything else of it: a session that is left alone stays so.
    """
    folder = home.root / FOLDER
    gone = 0
    with refusals(folder):
        every = list(folder.glob("*.json*")) if folder.is_dir() else []
        said = [path for path in every if path.name.endswith(STATE)]
        for path in [*(path for path in every if path not in said), *said]:
            name = path.name.removesuffix(STATE)
            lives = path in said and (
                name == EVERYONE
                or any((folder / f"{name}{end}").exists() for end in (".jsonl", ".window.json"))
            )
            if not lives and path.stat().st_mtime < before:
                path.unlink(missing_ok=True)
                gone += 1
    return gone


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value).text
    if isinstance(value, dict):
        return {str(name): _clean(inner) for name, inner in value.items()}
    return [_clean(inner) for inner in value] if isinstance(value, list) else value
