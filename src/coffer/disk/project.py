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

FOLDER = ".cozempic"
FILE = "behavioral-digest.md"
_LONGEST = 65_536
"""Bytes that are read of a file of git's; a longer one is none of git's."""


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
        if _is_folder(place / FOLDER) and _may_mark(place, FOLDER):
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
    if _is_folder(mark):
        return place if os.path.lexists(mark / "HEAD") else None
    repository = _led_to(mark)
    if repository is None:
        return place
    common = _common(repository)
    if common is None or not _belongs(place, repository, common):
        return place
    return next(_mains(common), place)


def _led_to(mark: Path) -> Path | None:
    """The repository that a `.git` leads to: itself, or what it names as a file; None if there is none."""
    if _is_folder(mark):
        return _real(mark)
    said = _said(mark)
    if not said.startswith("gitdir:"):
        return None
    found = _real(mark.parent / said.removeprefix("gitdir:").strip())
    return found if found is not None and _is_folder(found) else None


def _common(repository: Path) -> Path | None:
    """The repository that a linked worktree's own one belongs to; None for any other repository."""
    said = _said(repository / "commondir")
    return _real(repository / said) if said else None


def _belongs(place: Path, repository: Path, common: Path) -> bool:
    """Whether the repository knows this worktree.

    Otherwise any unpacked folder could name another project as its own, and what is learned here would be
    written there. A worktree that was moved and not used since is known by its former place, which is gone.
    """
    if repository.parent != common / "worktrees":
        return False
    said = _said(repository / "gitdir")
    known = _real(repository / said) if said else None
    return known is not None and (known == _real(place / ".git") or not os.path.lexists(known))


def _mains(common: Path) -> Iterator[Path]:
    """Folders that are the main worktree of a repository, the surest first."""
    configured = re.search(r"(?mi)^\s*worktree\s*=\s*\"?(.+?)\"?\s*$", _said(common / "config"))
    if configured is not None:
        found = _real(common / configured[1])  # a submodule, of which there are worktrees
        if found is not None and _led_to(found / ".git") == common:
            yield found
    if _led_to(common.parent / ".git") == common:
        yield common.parent


def _said(path: Path) -> str:
    """The text of a small file of git's; "" where there is none that can be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe must not hold us
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        return os.fsdecode(os.read(descriptor, _LONGEST)).strip()
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (OSError, ValueError):
        return False  # also where it may not be looked at: then git finds nothing there either


def _real(path: Path) -> Path | None:
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return None
