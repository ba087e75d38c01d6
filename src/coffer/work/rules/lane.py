"""The rules lane on disk: `memory/global/rules/*.md` and `memory/projects/<id>/rules/*.md` of Coffer's folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from coffer.core.lane import Lane, LaneRefused, lane_of
from coffer.store.home import Home
from coffer.store.projects import folder
from coffer.work.project.identity import shared_id
from coffer.work.project.memory_folder import memory_folder

LARGEST = 262_144
"""Bytes of a lane file. A bundle has room for 9,500; a session start must not wait for more."""
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def lane_folder(home: Home, project: Path | None) -> Path:
    """Where a project's lane lies, or the one for every project (None). Nothing is made.

    A clone whose memory is kept apart has the lane of the others: what the person forbade holds in all of them.
    """
    return (folder(home, shared_id(project, home)) if project else memory_folder(home, None)) / "rules"


def lane_for(home: Home, project: Path | None) -> Lane:
    """The lane that holds in a project: its own files before the global ones, each by name. Makes nothing."""
    own = _folder(lane_folder(home, project), "project", project=True) if project else Lane()
    return own + _folder(lane_folder(home, None), "global", project=False)


def lane_files(folder: Path) -> list[Path]:
    """The files of a lane, by name; none where nobody wrote a rule into it."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".md" and path.name[0] != ".")
    except OSError:
        return []


def _folder(folder: Path, name: str, *, project: bool) -> Lane:
    found = Lane()
    for path in lane_files(folder):
        where = f"{name}/{path.name}"
        try:
            found += lane_of(_text(path), where, project=project)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            found += Lane(refused=(LaneRefused(where, f"the file can't be read: {why.lower()}"),))
    return found


def _text(path: Path) -> str:
    """A lane file. Raises OSError, also for a link, and ValueError for what is no text of a lane's size."""
    descriptor = os.open(path, _READ)  # a link could name a file of somebody else's as the person's rules
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is no file")
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST >> 10} KB")
    return data.decode("utf-8", "replace")
