"""Read the journal: entries of a project, or of all, by day."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from coffer.core.entry import Entry
from coffer.store import vault
from coffer.store.home import Home
from coffer.store.projects import folder
from coffer.work.memory.journal_entry import LANE
from coffer.work.project.identity import identity_of
from coffer.work.project.memory_folder import memory_folder

GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class Page:
    """An entry and where it stands. project: the id, or `global`. day: of its file, "" where its name is none."""

    entry: Entry
    path: Path
    project: str
    day: str


def lanes_of(home: Home, root: Path | None) -> list[Path]:
    """The journal folders of a project with those that were merged into it; of none: the global one."""
    if root is None:
        return [memory_folder(home, None) / LANE]
    identity = identity_of(root, home)
    return [folder(home, name) / LANE for name in (identity.id, *identity.aliases)]


def all_lanes(home: Home) -> list[Path]:
    """Every project's, and the global one."""
    projects = vault.vault(home) / "projects"
    try:
        found = sorted(path for path in projects.iterdir() if not path.is_symlink())
    except OSError:
        found = []
    return [memory_folder(home, None) / LANE, *(path / LANE for path in found)]


def pages(lanes: Iterable[Path], since: date | None = None, until: date | None = None) -> list[Page]:
    """The entries of these folders, the oldest first. since, until: days, both included; None for no limit.

    Nothing is made by looking.
    """
    found = []
    for lane in lanes:
        for path in vault.files(lane):
            day = _day(path)
            if (since and (day is None or day < since)) or (until and (day is None or day > until)):
                continue
            project = lane.parent.name
            found += [Page(entry, path, project, str(day or "")) for entry in vault.entries(path, LANE)]
    return sorted(found, key=lambda page: (page.day, page.entry.time))


def _day(path: Path) -> date | None:
    try:
        return date.fromisoformat(path.stem)
    except ValueError:
        return None
