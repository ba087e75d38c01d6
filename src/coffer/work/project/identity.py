"""Which project's memory a folder has part in, in a way that outlives moves, clones and worktrees (DESIGN section 9).

| the folder | its memory is that of |
|---|---|
| in a repository with an origin | the origin: clones, worktrees, a moved folder share it; a fork has another |
| in a repository without one | its root; worktrees of a bare repository: the bare repository |
| in a submodule | the submodule, by its own origin |
| in a part of a monorepo | the repository |
| without git, below a folder with `.cozempic/` | that folder |
| the home folder, `/`, all else | nobody: the global memory |

A project that had a memory before it had an origin keeps it. What a person says with `coffer project alias` or `merge`
stands above all of this. Two clones of one origin share their memory and their handoffs, which name the folder that
they were written in.

An origin is what the repository's own config says. A folder that somebody packed could so name another project and read
its notes; it could as well name the vault's files, which every agent may read: no secret is in them.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from coffer.core.origin import last_part, normalised, origin_in
from coffer.disk.checkout import checkout_of
from coffer.disk.git_files import LONGEST_CONFIG, said_in
from coffer.disk.project import FOLDER, project_of
from coffer.store import projects
from coffer.store.home import Home
from coffer.store.projects import Known

_LONGEST = 40
_UNSAFE = re.compile(r"[^\w-]+")


@dataclass(frozen=True, slots=True)
class Identity:
    """A project. id: name of its folder in the vault. name: for people. origin: "" for none.

    why: a sentence about which rule decided. aliases: other ids whose memory is read here too: none is lost by a merge.
    """

    id: str
    name: str
    root: Path
    origin: str
    why: str
    aliases: tuple[str, ...] = ()


def identity_of(root: Path, home: Home) -> Identity:
    """The project of a root as `project_of` gives it. Makes nothing, runs nothing."""
    facts = _facts(root)
    found, why = _decided(home, root, facts)
    stands = projects.standing(home, found)
    if stands != found:
        why = f"{why[:-1]}; an alias or a merge gives it the memory of {stands}."
    page = projects.known(home, stands)
    name = (page.label if page else "") or stands.rpartition("-")[0] or stands
    was, own = page.was if page else (), _by_place(root, facts)
    if own not in (found, stands, *was) and _is_there(home, own):
        begun = projects.known(home, own)
        if begun is None or (not begun.into and begun.origin in ("", facts.origin)):
            was = (*was, own)  # begun here before it had an origin, and then another clone began the origin's
    return Identity(stands, name, root, facts.origin, why, was)


def own_id(root: Path, home: Home) -> str:
    """The id that a root would have if nobody had said otherwise."""
    return _decided(home, root, _facts(root))[0]


def register(home: Home, root: Path) -> Identity:
    """The same, noted in the vault: where it was worked on and what its origin is. Every first write calls this.

    Nothing is written where that is known. Raises ProjectBroken, WriteFailed.
    """
    identity = identity_of(root, home)
    page = projects.read(home, identity.id) or Known(identity.id)
    if page.roots[:1] != (str(root),) or (identity.origin and not page.origin):
        projects.write(home, page.seen(root, identity.origin))
    by_origin = id_of(last_part(identity.origin), identity.origin) if identity.origin else ""
    if by_origin and projects.standing(home, by_origin) != identity.id and not _is_there(home, by_origin):
        projects.write(home, Known(by_origin, into=identity.id))  # so that another clone finds it
    return identity


def reason_for_none(folder: Path, user: Path) -> str:
    """Why a folder belongs to no project. user: the home folder. "" where it belongs to one."""
    if project_of(folder, user) is not None:
        return ""
    here = Path(os.path.realpath(folder))
    if here in (Path(os.path.realpath(user)), Path(here.anchor)):
        return "The home folder and / are no project: all of your work lies below them."
    bare = any((place / "HEAD").is_file() and (place / "objects").is_dir() for place in (here, *here.parents))
    what = "It lies in a bare repository" if bare else "It lies in no git work tree"
    return f"{what}, and no folder above it has a {FOLDER} folder. Making one makes that folder a project."


def id_of(name: str, key: str) -> str:
    """A readable name and a hash of what decides: the name alone would make `a/api` and `b/api` one project."""
    short = _UNSAFE.sub("-", unicodedata.normalize("NFC", name)).strip("-_")[:_LONGEST]
    digest = hashlib.sha256(os.fsencode(key)).hexdigest()
    return f"{short or 'project'}-{digest[:10]}"


def _decided(home: Home, root: Path, facts: _Facts) -> tuple[str, str]:
    """The id, and why."""
    origin, _, repository = facts
    own = _by_place(root, facts)
    if not origin:
        what = "a git repository without an origin" if repository else f"a folder with {FOLDER}"
        return own, f"It is {what}, so its place decides."
    by_origin = id_of(last_part(origin), origin)
    if not _is_there(home, by_origin) and _is_there(home, own):
        return own, "Its memory began before it had an origin, so its place decides."
    return by_origin, "Its origin decides, wherever it lies."


def _by_place(root: Path, facts: _Facts) -> str:
    key = facts.key
    return id_of(key.name.removesuffix(".git") if key != root else key.name, str(key))


def _is_there(home: Home, name: str) -> bool:
    return projects.folder(home, name).is_dir()


class _Facts(NamedTuple):
    """A root's origin, the path that stands for it where it has none, and whether it is a git repository."""

    origin: str
    key: Path
    repository: bool


def _facts(root: Path) -> _Facts:
    checkout = checkout_of(root)
    if checkout is None or checkout.top != root:
        return _Facts("", _cased(root), checkout is not None)
    config = checkout.common / "config"
    own = _is_ours(config)
    origin = normalised(_origin(said_in(config, LONGEST_CONFIG)), str(root)) if own else ""
    key = root if checkout.common == checkout.repository else _name_giving(checkout.common)
    return _Facts(origin, _cased(key), repository=True)


_origin = lru_cache(maxsize=64)(origin_in)


def _is_ours(path: Path) -> bool:
    """As git does it: what another user put here does not say which project this is."""
    try:
        return path.stat().st_uid in (os.geteuid(), 0)
    except OSError:
        return False


def _name_giving(common: Path) -> Path:
    """A bare repository that is hidden in a folder has that folder's name."""
    return common.parent if common.name in (".git", ".bare") else common


def _cased(path: Path) -> Path:
    """The path that all spellings of it share: on some disks Tide and tide are one folder."""
    try:
        other = path.with_name(path.name.swapcase()) if path.name else path
        alike = other != path and other.samefile(path)
    except OSError:
        return path
    return Path(unicodedata.normalize("NFC", str(path)).casefold()) if alike else path
