"""Which project's memory a folder has part in, in a way that outlives moves, clones and worktrees (DESIGN section 9).

| the folder | its memory is that of |
|---|---|
| in a repository with an origin | the origin: clones, worktrees, a moved folder share it; a fork has another |
| in a repository without one | its root; worktrees of a bare repository: the bare repository |
| in a submodule | the submodule, by its own origin |
| in a part of a monorepo | the repository |
| without git, below a folder with `.cozempic/` | that folder |
| the home folder, `/`, all else | nobody: the global memory |
| a linked worktree, or a clone, that the person keeps apart | itself: neither its repository's nor its origin's |

A project that had a memory before it had an origin keeps it. What a person says with `coffer project alias` or `merge`
stands above all of this. What is kept apart (`coffer project separate`) is known by its own git folder, which `git
worktree move` leaves where it is; its rules and its digest stay those of its repository. Two clones of one origin share
their memory and their handoffs, which name the folder that they were written in.

An origin is what the repository's own config says. A folder that somebody packed could so name another project and read
its notes; it could as well name the vault's files, which every agent may read: no secret is in them.
"""

from __future__ import annotations

import hashlib
import os
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from coffer.core.origin import last_part, normalised, origin_in
from coffer.core.regex import regex
from coffer.disk.checkout import Checkout, checkout_of
from coffer.disk.git_files import LONGEST_CONFIG, said_in
from coffer.disk.project import FOLDER, project_of
from coffer.store import projects
from coffer.store.home import Home
from coffer.store.projects import Known

_LONGEST = 40
_UNSAFE = regex(r"[^\w-]+")


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
    apart: bool = False


def memory_root(home: Home, user: Path, folder: Path) -> Path | None:
    """The root whose memory a folder has part in: its project's, or its own worktree where that is kept apart.

    user: the home folder. None outside of any project. Makes nothing.
    """
    root = project_of(folder, user)
    gone = _gone_apart(home, folder)
    if root is None or gone is not None:
        return gone
    checkout = checkout_of(folder)
    if checkout is None or checkout.top == root or project_of(checkout.top, user) != root:
        return root
    return checkout.top if projects.is_apart(home, apart_id(checkout)) else root


def apart_id(checkout: Checkout) -> str:
    """The id of a work tree's memory where it is kept apart."""
    linked = checkout.common != checkout.repository
    return id_of(
        (checkout.repository if linked else checkout.top).name, f"apart:{_cased(checkout.repository)}"
    )


def _gone_apart(home: Home, folder: Path) -> Path | None:
    """The worktree that was kept apart and is gone, of which a folder was a part: its sessions may still be untold."""
    if os.path.lexists(folder):
        return None
    here = Path(os.path.realpath(folder))
    roots = (Path(root) for page in projects.all_known(home) if page.apart for root in page.roots)
    return next((root for root in roots if here.is_relative_to(root) and not os.path.lexists(root)), None)


def identity_of(root: Path, home: Home) -> Identity:
    """The project of a root as `project_of` gives it. Makes nothing, runs nothing."""
    facts = _facts(root)
    found, why = _decided(home, root, facts)
    apart = projects.is_apart(home, found)
    stands = projects.standing(home, found)
    if stands != found:
        why = f"{why[:-1]}; an alias or a merge gives it the memory of {stands}."
    page = projects.known(home, stands)
    name = (page.label if page else "") or stands.rpartition("-")[0] or stands
    was, own = page.was if page else (), _by_place(root, facts)
    if not apart and own not in (found, stands, *was) and _is_there(home, own):
        begun = projects.known(home, own)
        if begun is None or (not begun.into and begun.origin in ("", facts.origin)):
            was = (*was, own)  # begun here before it had an origin, and then another clone began the origin's
    return Identity(stands, name, root, facts.origin, why, was, apart)


def own_id(root: Path, home: Home) -> str:
    """The id that a root would have if nobody had said otherwise."""
    return _decided(home, root, _facts(root))[0]


def shared_id(root: Path, home: Home) -> str:
    """The id whose memory a root has, or would have if the person did not keep it apart."""
    return projects.standing(home, _decided(home, root, _facts(root)._replace(apart=""))[0])


def register(home: Home, root: Path) -> Identity:
    """The same, noted in the vault: where it was worked on and what its origin is. Every first write calls this.

    Nothing is written where that is known. Raises ProjectBroken, WriteFailed.
    """
    identity = identity_of(root, home)
    page = projects.read(home, identity.id) or Known(identity.id)
    if page.roots[:1] != (str(root),) or (identity.origin and not page.origin):
        projects.write(home, page.seen(root, identity.origin))
    shared = "" if identity.apart else identity.origin
    by_origin = id_of(last_part(shared), shared) if shared else ""
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
    origin, repository = facts.origin, facts.repository
    own = _by_place(root, facts)
    kept_apart = _apart(home, root, facts)
    if kept_apart:
        return kept_apart, "The person keeps its memory apart, with `coffer project separate`."
    if not origin:
        what = "a git repository without an origin" if repository else f"a folder with {FOLDER}"
        return own, f"It is {what}, so its place decides."
    by_origin = id_of(last_part(origin), origin)
    if not _is_there(home, by_origin) and _is_there(home, own):
        return own, "Its memory began before it had an origin, so its place decides."
    return by_origin, "Its origin decides, wherever it lies."


def _apart(home: Home, root: Path, facts: _Facts) -> str:
    """The id of a root that the person keeps apart, "" for any other."""
    if facts.apart:
        return facts.apart if projects.is_apart(home, facts.apart) else ""
    if os.path.lexists(root):
        return ""
    return next((one.id for one in projects.all_known(home) if one.apart and str(root) in one.roots), "")


def _by_place(root: Path, facts: _Facts) -> str:
    key = facts.key
    return id_of(key.name.removesuffix(".git") if key != root else key.name, str(key))


def _is_there(home: Home, name: str) -> bool:
    return projects.folder(home, name).is_dir()


class _Facts(NamedTuple):
    """A root's origin, the path that stands for it where it has none, and whether it is a git repository.

    apart: the id that it would have if the person kept it apart; "" where it is no work tree.
    """

    origin: str
    key: Path
    repository: bool
    apart: str = ""


def _facts(root: Path) -> _Facts:
    checkout = checkout_of(root)
    if checkout is None or checkout.top != root:
        return _Facts("", _cased(root), checkout is not None)
    config = checkout.common / "config"
    own = _is_ours(config)
    origin = normalised(_origin(said_in(config, LONGEST_CONFIG)), str(root)) if own else ""
    key = root if checkout.common == checkout.repository else _name_giving(checkout.common)
    return _Facts(origin, _cased(key), repository=True, apart=apart_id(checkout))


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
