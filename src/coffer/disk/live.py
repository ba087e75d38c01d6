"""Which sessions a running client holds, by the client's own registry or lock (DESIGN section 5).

Claude Code: `<config>/sessions/<pid>.json` of a living process with the same start time; the file is left
behind by kill -9, so a pid alone says nothing. Codex: an flock held on `thread-writer-locks/<id>.lock`.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from msgspec import Struct

from coffer.core.loads import loads
from coffer.disk.places import Places

_LINUX: bool = sys.platform == "linux"


class Holder(Struct, frozen=True):
    """The process that has a session open. status: idle, busy, waiting, shell, or "" where none is stated."""

    agent: str
    session: str
    pid: int
    status: str = ""
    waiting_for: str = ""


def holders(places: Places) -> dict[str, list[Holder]]:
    """Living Claude Code processes by session id; two clients on one session are two holders (facts §11)."""
    found: dict[str, list[Holder]] = {}
    try:
        files = sorted((places.claude / "sessions").glob("*.json"))
    except OSError:
        files = []  # a registry that may not be read names nobody
    for path in files:
        holder = _holder(path)
        if holder is not None:
            found.setdefault(holder.session, []).append(holder)
    return found


def _holder(path: Path) -> Holder | None:
    try:
        said = loads(path.read_bytes().decode("utf-8", "replace"))
    except (OSError, ValueError):
        return None  # just removed or half written: the next look tells
    if not isinstance(said, dict) or not isinstance(said.get("pid"), int):
        return None
    start = said.get("procStart")
    if start is None or start != start_mark(said["pid"]):
        return None
    status, waiting = said.get("status"), said.get("waitingFor")
    return Holder(
        "claude",
        str(said.get("sessionId", "")),
        said["pid"],
        status if isinstance(status, str) else "",
        waiting if isinstance(waiting, str) else "",
    )


_ENDED = ("Z", "X", "x")
"""States of a process in /proc that only waits to be forgotten."""


def start_mark(pid: int) -> str | None:
    """When a process started, in the form that Claude Code writes into its registry; None: no such process.

    One that has ended and that its parent has not asked about (a zombie) is none: it might stay so for days.
    Linux: field 22 of /proc/<pid>/stat (clock ticks). macOS: `ps -o lstart=` in UTC (read in 2.1.197).
    """
    if _LINUX:
        try:
            text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        except OSError:
            return None
        state, *fields = text.rpartition(")")[2].split()
        return None if state in _ENDED else fields[18]
    done = subprocess.run(
        ["ps", "-o", "state=", "-o", "lstart=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
    )
    state, _, start = done.stdout.strip().partition(" ")
    return None if state[:1] in _ENDED else start.strip() or None


def codex_holder(places: Places, thread: str) -> Holder | None:
    """The process that holds a Codex thread's writer lock, or None. pid 0: held, and unknown by whom."""
    lock = places.codex / "thread-writer-locks" / f"{thread}.lock"
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None  # deleted at a clean end, or no name that a lock could have
    try:
        status = os.fstat(descriptor)
        if _LINUX:
            pid = _flock_owner(status.st_dev, status.st_ino)
            return None if pid is None else Holder("codex", thread, pid)
        return Holder("codex", thread, 0) if _is_locked(descriptor) else None
    finally:
        os.close(descriptor)


def _flock_owner(device: int, inode: int) -> int | None:
    """From /proc/locks, so that looking never takes the lock that a client is about to take."""
    wanted = f"{os.major(device):02x}:{os.minor(device):02x}:{inode}"
    for line in Path("/proc/locks").read_text("utf-8").splitlines():
        fields = line.split()
        if "FLOCK" in fields and "->" not in fields and wanted in fields:
            return max(0, int(fields[fields.index("FLOCK") + 3]))
    return None


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False
