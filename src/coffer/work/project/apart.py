"""Keep the memory of one worktree, or of one clone, apart from the rest: `coffer project separate`, and `join`.

Worktrees of a repository and clones of an origin share notes, journal and handoffs, which is what most people want of
them. Who wants one apart says so once, in that folder. Rules and digest stay shared by the worktrees: what a person
forbade holds in all of them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from coffer.disk.checkout import Checkout, checkout_of
from coffer.disk.project import project_of
from coffer.store import projects
from coffer.store.db import Receipt
from coffer.store.home import Home
from coffer.store.project_errors import MergeRefused, ProjectNotFound
from coffer.store.projects import Known
from coffer.work.project.identity import apart_id, identity_of, memory_root, reason_for_none, shared_id
from coffer.work.project.projects import Merge, merge, planned, written


@dataclass(frozen=True, slots=True)
class Tree:
    """A work tree. own: the id of its memory where it is kept apart, shared: where it is not."""

    checkout: Checkout
    own: str
    shared: str
    is_apart: bool


def tree_of(home: Home, user: Path, folder: Path) -> Tree:
    """The work tree that a folder lies in. user: the home folder. Raises ProjectNotFound, MergeRefused."""
    gone = memory_root(home, user, folder)
    if gone is not None and not os.path.lexists(gone):
        own = identity_of(gone, home).id
        raise MergeRefused(
            f"{gone} is gone. `coffer project merge {own} NAME` moves its memory to another's."
        )
    root = project_of(folder, user)
    if root is None:
        raise ProjectNotFound(f"{folder} belongs to no project. {reason_for_none(folder, user)}")
    checkout = checkout_of(folder)
    if checkout is None or project_of(checkout.top, user) != root:
        raise MergeRefused(f"{folder} lies in no git work tree, so its memory is its own already.")
    shared = identity_of(root, home).id if checkout.top != root else shared_id(root, home)
    own = apart_id(checkout)
    page = projects.read(home, own)
    return Tree(checkout, own, shared, page is not None and page.apart)


def separate(home: Home, user: Path, folder: Path, now: datetime) -> Receipt:
    """Give a folder's work tree a memory of its own from now on; what was kept until then stays where it is.

    Raises ProjectNotFound, MergeRefused, ProjectBroken, WriteFailed; nothing was changed then.
    """
    tree = tree_of(home, user, folder)
    if tree.is_apart:
        raise MergeRefused(f"{tree.checkout.top} is kept apart already.")
    origin = identity_of(tree.checkout.top, home).origin
    if not origin and tree.checkout.common == tree.checkout.repository:
        raise MergeRefused(
            f"{tree.checkout.top} has no origin, so no clone shares its memory; only its worktrees do. "
            "Name the worktree that is to be apart."
        )
    before = projects.read(home, tree.own) or Known(
        tree.own
    )  # of one that was apart already: its label stays
    page = replace(before.seen(tree.checkout.top, origin), into="", was=(), apart=True)
    other = projects.read(home, tree.shared) or Known(tree.shared)
    pages = [page]
    if tree.own in other.was:  # it was apart before, and joined
        pages.append(replace(other, was=tuple(name for name in other.was if name != tree.own)))
    return written(home, pages, "separate", now)


def to_join(home: Home, user: Path, folder: Path) -> tuple[Tree, Merge]:
    """What `join` would move. Raises ProjectNotFound, MergeRefused where it is not apart."""
    tree = tree_of(home, user, folder)
    if not tree.is_apart:
        raise MergeRefused(f"{tree.checkout.top} is not kept apart: it has the memory of {tree.shared}.")
    return tree, planned(home, tree.own, tree.shared)


def join(home: Home, user: Path, folder: Path, now: datetime) -> Merge:
    """Let a work tree that was kept apart share again; its memory is moved to the others', nothing is overwritten.

    Raises as `to_join` and `merge`.
    """
    tree, _ = to_join(home, user, folder)
    return merge(home, tree.own, tree.shared, now)
