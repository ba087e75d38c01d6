"""Which project a folder belongs to, and where that project's digest lies (DESIGN section 7).

The answer comes from the files that git keeps, without running git: a hook asks this at every session start.

| where the folder lies | the project |
|---|---|
| in a git work tree | its top level |
| in a linked worktree | the top level of the main worktree, so that all worktrees share their rules |
| in a worktree of a bare repository | the folder whose `.git` leads to that repository, else the worktree itself |
| in a submodule | the submodule's own top level |
| below a `.git` file that leads nowhere | the folder of that file: the checkout that a person sees there |
| in a bare repository, or without git | the nearest folder upward with `.cozempic/`, else none |

The home folder and `/` are never a project, also where they are a git work tree: everything below them would be
one project. A folder that was deleted is answered from its path.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from coffer.disk.git_files import belongs, common_of, is_folder, led_to, real, said_in

FOLDER = ".cozempic"
FILE = "behavioral-digest.md"


def project_of(folder: Path, home: Path) -> Path | None:
    """The root of the project that a folder belongs to, links resolved; None outside of any project."""
    try:
        here, house = Path(os.path.realpath(folder)), Path(os.path.realpath(home))
    except (OSError, ValueError):
        return None  # a NUL, or a loop of links: no folder that anything could lie in
    above = [here, *here.parents]
    for place in above:
        top = _top_level(place) if _may_mark(place, ".git") else None
        if top is not None:
            if _is_nobodys(top, house):
                break  # a home folder under git: what is below is judged by its own marks
            return top
    for place in above:
        if _is_nobodys(place, house):
            return None
        if is_folder(place / FOLDER) and _may_mark(place, FOLDER):
            return place
    return None


def _is_nobodys(place: Path, home: Path) -> bool:
    return place in (home, Path(place.anchor))


def digest_file(root: Path) -> Path:
    """Where a project's digest lies; root: as `project_of` gives it. Nothing is looked at."""
    return root / FOLDER / FILE


def user_digest(home: Path) -> Path:
    """Where the person's own digest lies, the links of the home folder itself resolved."""
    return digest_file(Path(os.path.realpath(home)))


def _may_mark(place: Path, name: str) -> bool:
    """Whether the entry exists and may say what the folder is.

    In a folder that everybody may write to, like /tmp, another user's entry would collect this user's rules.
    """
    try:
        mark, folder = os.lstat(place / name), place.stat()
    except OSError:
        return False
    return not folder.st_mode & stat.S_IWOTH or mark.st_uid == os.geteuid()


def _top_level(place: Path) -> Path | None:
    """The top level that a folder's `.git` makes; None where it is a folder that is no repository."""
    mark = place / ".git"
    if is_folder(mark):
        return place if os.path.lexists(mark / "HEAD") else None
    repository = led_to(mark)
    if repository is None:
        return place
    common = common_of(repository)
    if common is None or not belongs(place, repository, common):
        return place
    return next(_mains(common), place)


def _mains(common: Path) -> Iterator[Path]:
    """Folders that are the main worktree of a repository, the surest first."""
    configured = re.search(r"(?mi)^\s*worktree\s*=\s*\"?(.+?)\"?\s*$", said_in(common / "config"))
    if configured is not None:
        found = real(common / configured[1])  # a submodule, of which there are worktrees
        if found is not None and led_to(found / ".git") == common:
            yield found
    if led_to(common.parent / ".git") == common:
        yield common.parent
