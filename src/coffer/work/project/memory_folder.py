"""Where a project's part of the vault lies."""

from __future__ import annotations

from pathlib import Path

from coffer.store.home import Home
from coffer.store.projects import folder
from coffer.work.project.identity import identity_of


def memory_folder(home: Home, project: Path | None) -> Path:
    """`memory/projects/<id>` of a project's root, or `memory/global` for None. Nothing is made."""
    if project is None:
        return home.root / "memory" / "global"
    return folder(home, identity_of(project, home).id)
