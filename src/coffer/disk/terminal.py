"""What the system says about a process and its terminal, at this moment.

psutil lists the terminals once and keeps the list: to a daemon that runs for days, each that was opened since has
no name. So the system is asked itself.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_LINUX: bool = sys.platform == "linux"
_GROUP, _TERMINAL, _FRONT = 2, 4, 5
"""Of the fields of `/proc/PID/stat` behind the program's name: process group, terminal, the group in front there."""


def is_at(pid: int, terminal: str) -> bool:
    """Whether a process has this terminal, a path such as `/dev/pts/3`. False where either is gone."""
    if not _LINUX:
        said = _asked(pid, "tty=")
        return len(said) == 1 and f"/dev/{said[0]}" == terminal
    fields = _stat(pid)
    try:
        return bool(fields) and int(fields[_TERMINAL]) == Path(terminal).stat().st_rdev
    except (OSError, ValueError):
        return False


def is_in_front(pid: int) -> bool:
    """Whether its terminal's keys go to the process's own group: one that is suspended gets none."""
    if not _LINUX:
        said = _asked(pid, "pgid=,tpgid=")
        return len(said) == len(("pgid", "tpgid")) and said[0] == said[1]
    fields = _stat(pid)
    return bool(fields) and fields[_GROUP] == fields[_FRONT]


def _stat(pid: int) -> list[str]:
    try:
        said = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return []
    fields = said.rpartition(")")[2].split()
    return fields if len(fields) > _FRONT else []


def _asked(pid: int, what: str) -> list[str]:
    words = ["/bin/ps", "-o", what, "-p", str(pid)]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.split()
