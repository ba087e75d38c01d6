"""Pruned content for an agent: only that of its own project, a page at a time."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coffer.disk.sessions import MAIN, Found
from coffer.errors import RestoreNotFound
from coffer.store.db import database
from coffer.store.home import Home
from coffer.work.pruning.restore import Restored, restore
from coffer.work.sessions.find import folder_of

PAGE = 20_000
"""UTF-8 bytes of a page: clients cut longer answers of tools, and a whole file would undo the prune."""
_SHORTEST = 4
_MOST_KEEPERS = 50


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a text. start, end: in characters; more: whether the text goes on."""

    text: str
    start: int
    end: int
    total: int

    @property
    def more(self) -> bool:
        """Whether the text goes on."""
        return self.end < self.total


def restore_own(home: Home, name: str, folder: str, project_of: Callable[[str], str]) -> Restored:
    """The content whose id begins with `name`, if it was pruned from a session of the folder's project.

    The id of another project's content is not found, as one that does not exist: an agent learns nothing of it.
    Without a project, the folder itself must be the same. Raises RestoreNotFound, RestoreAmbiguous,
    PrunedContentMissing.
    """
    if not home.database.exists() or not _is_id(name):
        raise RestoreNotFound(name)
    with database(home, write=False) as connection:
        found = _kept(connection, name)
    own = [key for key, folders, paths in found if _is_own(folder, folders, paths, project_of)]
    if not own:
        raise RestoreNotFound(name)
    return restore(home, own[0] if len(own) == 1 else name)  # several: let it say so


def page_of(text: str, start: int, size: int = PAGE) -> Page:
    """What fits into `size` bytes from character `start` on, at least one character of what is left."""
    start = min(start, len(text))
    cut = text[start : start + size].encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
    end = min(len(text), start + max(1, len(cut)))
    return Page(text[start:end], start, end, len(text))


def _is_id(name: str) -> bool:
    return len(name) >= _SHORTEST and all(digit in "0123456789abcdef" for digit in name)


def _kept(connection: sqlite3.Connection, name: str) -> list[tuple[str, set[str], list[str]]]:
    """Ids with this beginning; for each the folder it was first pruned in, and the transcripts that it is kept for."""
    rows = connection.execute(
        "SELECT hash, project FROM blobs WHERE hash >= ? AND hash < ? LIMIT 20", (name, name + "g")
    ).fetchall()
    keepers = (
        "SELECT DISTINCT receipts.path FROM blob_refs JOIN receipts ON receipts.id = blob_refs.receipt "
        "WHERE blob_refs.hash = ? ORDER BY receipts.time DESC LIMIT ?"
    )
    return [
        (key, {project}, [row[0] for row in connection.execute(keepers, (key, _MOST_KEEPERS))])
        for key, project in rows
    ]


def _is_own(folder: str, folders: set[str], paths: list[str], project_of: Callable[[str], str]) -> bool:
    """Whether one of the folders is of the caller's project; the same content may be kept for several."""
    project = project_of(folder)

    def is_same(other: str) -> bool:
        if not other:
            return False
        if project:
            return project_of(other) == project
        return not project_of(other) and bool(folder) and os.path.realpath(other) == os.path.realpath(folder)

    if any(is_same(other) for other in folders):
        return True
    agents = (("codex" if "rollout-" in Path(path).name else "claude", Path(path)) for path in paths)
    return any(is_same(folder_of(_found(agent, path))) for agent, path in agents)


def _found(agent: str, path: Path) -> Found:
    return Found(agent, path.stem, path, MAIN, 0, 0.0)
