"""Where a session's entry belongs: which project's journal, which day, and what of it stands there already."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from coffer.core.entry import Entry
from coffer.core.origin import last_part, normalised
from coffer.core.steps import Story
from coffer.store import vault
from coffer.store.home import Home
from coffer.store.projects import all_known, folder, standing
from coffer.work.memory.journal_entry import LANE
from coffer.work.memory.journal_list import all_lanes
from coffer.work.memory.story import root_of
from coffer.work.project.identity import id_of, identity_of
from coffer.work.project.memory_folder import memory_folder

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry belongs: its lane's folder and file, the project's id ("" for none) and its root.

    root: None without a project, and where the project's folder is gone. ended: when the session did, by which it is
    dated.
    """

    folder: Path
    name: str
    project: str
    root: Path | None
    ended: datetime


def place_of_story(home: Home, user: Path, story: Story, modified: float, now: float) -> Place:
    """The place of a session's entry. user: the home folder. modified: of its file, seconds. Makes nothing.

    Where a project's folder is gone, the vault's own pages and the origin in the records tell which it was.
    """
    ended = ended_at(story, modified, now)
    name = f"{ended.astimezone():%Y-%m-%d}.md"
    root = root_of(home, story, user)
    if root is not None:
        return Place(memory_folder(home, root) / LANE, name, identity_of(root, home).id, root, ended)
    known = _known_as(home, story)
    lane = (folder(home, known) if known else memory_folder(home, None)) / LANE
    return Place(lane, name, known, None, ended)


def ended_at(story: Story, modified: float, now: float) -> datetime:
    """When a session ended, in UTC; never in the future, which a clock that was wrong once would make of it."""
    latest = datetime.fromtimestamp(now, UTC)
    try:
        said = datetime.fromisoformat(story.ended).astimezone(UTC)
    except (ValueError, OverflowError):  # no time, or none that is one
        said = datetime.fromtimestamp(modified, UTC)
    return min(said, latest)


def _known_as(home: Home, story: Story) -> str:
    """The id of the project that a folder, which is gone, was one of; "" where nothing tells."""
    gone = [
        Path(name) for name in reversed(story.folders) if name.startswith("/") and not os.path.lexists(name)
    ]
    if not gone:
        return ""
    pages = [page for page in all_known(home) if not page.into]
    for name in gone:
        for page in pages:
            if any(name.is_relative_to(root) and not os.path.lexists(root) for root in page.roots):
                return standing(home, page.id)
    origin = normalised(story.origin, str(gone[0])) if story.origin else ""
    known = standing(home, id_of(last_part(origin), origin)) if origin else ""
    return known if known and folder(home, known).is_dir() else ""


def told_before(
    home: Home, agent: str, session: str, started: str, ended: datetime
) -> tuple[Path, Entry] | None:
    """A session's last entry that stands in the vault though the ledger knows nothing of it, and its file.

    So it is after an import on another machine, and after a database that had to go.
    """
    try:
        first = datetime.fromisoformat(started).astimezone(UTC)
    except (ValueError, OverflowError):
        first = ended
    days = f"{first - _DAY:%Y-%m-%d}", f"{ended + _DAY:%Y-%m-%d}"
    found: list[tuple[Path, Entry]] = []
    for lane in all_lanes(home):
        for path in vault.files(lane):
            if not days[0] <= path.stem <= days[1] or session not in (vault.read(path) or ""):
                continue
            found += [
                (path, one)
                for one in vault.entries(path, LANE)
                if (one.source, one.agent, one.session) == ("distil", agent, session) and one.time
            ]
    return max(found, key=lambda one: one[1].time, default=None)
