"""Where a handoff belongs: the project and the branch that a folder stands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coffer.core.handoff import file_stem
from coffer.disk.checkout import Checkout, checkout_of, head_of
from coffer.disk.git import Git
from coffer.store import projects
from coffer.store.home import Home
from coffer.store.project_errors import ProjectNotFound
from coffer.work.project.identity import Identity, identity_of, memory_root, reason_for_none


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of a project. top: of its work tree. branch: "" without git. doing: rebase, bisect, or ""."""

    home: Home
    root: Path
    top: Path
    identity: Identity
    lane: Path
    checkout: Checkout | None
    git: Git
    branch: str
    doing: str = ""

    def file(self, branch: str) -> Path:
        """Where the handoff of a branch lies."""
        return self.lane / f"{file_stem(branch)}.md"

    def history(self, branch: str) -> Path:
        """The folder of those that it replaced."""
        return self.lane / "history" / file_stem(branch)


def place_of(home: Home, user: Path, folder: Path, environment: Mapping[str, str]) -> Place:
    """The place of a folder. user: the home folder. Makes nothing. Raises ProjectNotFound."""
    root = memory_root(home, user, folder)
    if root is None:
        why = reason_for_none(folder, user)
        raise ProjectNotFound(f"{folder} belongs to no project, and a handoff is of one. {why}")
    checkout = checkout_of(folder)
    if checkout is not None and memory_root(home, user, checkout.top) != root:
        checkout = None  # a home folder under git: the project is a folder in it with a mark of its own
    top = checkout.top if checkout is not None else root
    git = Git(top, environment)
    branch, doing = "", ""
    if checkout is not None:
        head = head_of(checkout)
        branch = head.branch or (git.ask("symbolic-ref", "--short", "HEAD") or "HEAD").strip()
        doing = head.doing
    identity = identity_of(root, home)
    lane = projects.folder(home, identity.id) / "handoff"
    return Place(home, root, top, identity, lane, checkout, git, branch, doing)
