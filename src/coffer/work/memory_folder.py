"""Where a project's part of the vault lies."""

from __future__ import annotations

from pathlib import Path

from coffer.store.home import Home
from coffer.work.project_id import project_id


def memory_folder(home: Home, project: Path | None) -> Path:
    """`memory/projects/<id>` of a project's root, or `memory/global` for None. Nothing is made."""
    memory = home.root / "memory"
    return memory / "projects" / project_id(project) if project else memory / "global"
