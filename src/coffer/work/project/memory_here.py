"""What of the vault belongs to a folder: its project's part, and the global one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from coffer.disk.checkout import checkout_of, head_of
from coffer.store.home import Home
from coffer.store.index import GLOBAL
from coffer.store.project_errors import ProjectNotFound
from coffer.work.project.identity import Identity, identity_of, memory_root, reason_for_none


@dataclass(frozen=True, slots=True)
class Here:
    """A folder. root, identity: None outside of any project. branch: "" where there is none."""

    home: Home
    user: Path
    folder: Path
    root: Path | None
    identity: Identity | None
    branch: str = ""

    @property
    def project(self) -> tuple[str, ...]:
        """The project's folders in the vault, its own first; none outside of any."""
        return (self.identity.id, *self.identity.aliases) if self.identity else ()

    def folders(self, scope: str = "") -> tuple[str, ...]:
        """The folders of a scope: project, global, or "" for both. Raises ProjectNotFound."""
        if scope == "project" and not self.project:
            raise self.no_project("asked for")
        return {"project": self.project, "global": (GLOBAL,)}.get(scope, (*self.project, GLOBAL))

    def no_project(self, what: str) -> ProjectNotFound:
        """The error that a project's memory is wanted where there is no project."""
        why = reason_for_none(self.folder, self.user)
        return ProjectNotFound(
            f"A project's memory was {what}, and {self.folder} belongs to no project. {why} "
            "Use the global memory instead, or work inside of the project."
        )


def here(home: Home, user: Path, folder: Path) -> Here:
    """The part of a folder. user: the home folder. Makes nothing."""
    root = memory_root(home, user, folder)
    if root is None:
        return Here(home, user, folder, None, None)
    checkout = checkout_of(folder)
    branch = head_of(checkout).branch if checkout is not None else ""
    return Here(home, user, folder, root, identity_of(root, home), branch)
