"""Look at projects, name them, and let one have the memory of another: `coffer project`.

A merge moves files, and never puts one over another: a name that is taken gets the former project's beside it. Its
receipt names each move, so that `coffer undo` moves them back.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from coffer.core.entry import LANES, count_of
from coffer.disk.replace import refusals
from coffer.disk.sync import sync_folder
from coffer.store import projects, vault
from coffer.store.db import DONE, Receipt, begun, database, save, undone
from coffer.store.held import held
from coffer.store.home import Home
from coffer.store.project_errors import MergedSince, MergeRefused, ProjectNotFound
from coffer.store.projects import FILE, Known
from coffer.work.project.identity import Identity, identity_of, memory_root, own_id, reason_for_none

KIND = "project"
_WAIT = 10.0
_PASSES = 3
"""How often what an agent wrote meanwhile is moved after the rest."""


@dataclass(frozen=True, slots=True)
class About:
    """What `coffer project` tells of a folder. identity None: it belongs to none, and why says so.

    lanes: entries by lane, of the project's memory, else of the global one. maybe: projects that were worked on in
    folders which are gone, and are called alike.
    """

    folder: Path
    memory: Path
    why: str
    lanes: Mapping[str, int]
    identity: Identity | None = None
    roots: tuple[str, ...] = ()
    maybe: tuple[Known, ...] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """A file of the vault and where it goes, both from `memory/projects`."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Merge:
    """What a merge would do, or did. receipt None: nothing was done."""

    old: str
    new: str
    moves: tuple[Move, ...] = ()
    receipt: Receipt | None = field(default=None, compare=False)


def about(home: Home, user: Path, folder: Path) -> About:
    """Everything about a folder. user: the home folder. Makes nothing."""
    root = memory_root(home, user, folder)
    if root is None:
        memory = home.root / "memory" / "global"
        return About(folder, memory, reason_for_none(folder, user), lanes_of(memory))
    identity = identity_of(root, home)
    memory = projects.folder(home, identity.id)
    page = projects.known(home, identity.id)
    maybe = tuple(_alike(home, identity, new=not memory.is_dir()))
    return About(folder, memory, identity.why, lanes_of(memory), identity, page.roots if page else (), maybe)


def lanes_of(memory: Path) -> dict[str, int]:
    """How many entries each lane has; of the rules, files."""
    return {
        lane: sum(
            1 if lane == "rules" else count_of(vault.read(path) or "") for path in vault.files(memory / lane)
        )
        for lane in LANES
    }


def _alike(home: Home, identity: Identity, *, new: bool) -> Iterator[Known]:
    """Memories of folders that are gone and were called alike. new: this one has none, so it may be any of theirs."""
    for page in projects.all_known(home):
        called = page.id.rpartition("-")[0]
        gone = bool(page.roots) and not any(os.path.lexists(root) for root in page.roots)
        if (
            (new or page.apart)
            and page.id != identity.id
            and not page.into
            and gone
            and called == identity.root.name
        ):
            yield page


def find(home: Home, user: Path, name: str) -> str:
    """The id that a person means: an id, its unique beginning, a label, or a folder. Raises ProjectNotFound."""
    every = projects.all_known(home)
    if any(page.id == name for page in every):
        return name
    fitting = [page.id for page in every if page.id.startswith(name) or page.label == name]
    if len(fitting) == 1:
        return fitting[0]
    if len(fitting) > 1:
        raise ProjectNotFound(f"“{name}” fits {len(fitting)} projects: {', '.join(fitting[:5])}.")
    root = memory_root(home, user, Path(name).absolute()) if Path(name).exists() else None
    if root is None:
        raise ProjectNotFound(f"No project is called or lies at “{name}”.")
    return identity_of(root, home).id


def label(home: Home, user: Path, folder: Path, name: str, now: datetime) -> Receipt:
    """Call a project something. Raises ProjectNotFound, ProjectBroken, WriteFailed."""
    identity = identity_here(home, user, folder)
    page = projects.read(home, identity.id) or Known(identity.id).seen(identity.root, identity.origin)
    return written(home, [replace(page, label=" ".join(name.split())[:80])], "label", now)


def alias(home: Home, user: Path, folder: Path, name: str, now: datetime) -> Receipt:
    """Let a folder's project have the memory of another. name: as `find` takes it.

    Raises ProjectNotFound, MergeRefused where it has a memory of its own already, ProjectBroken, WriteFailed.
    """
    identity = identity_here(home, user, folder)
    own, into = own_id(identity.root, home), find(home, user, name)
    stands = projects.standing(home, into)
    if stands in (own, identity.id):
        raise MergeRefused(f"{folder} has the memory of {identity.id} already.")
    if any(lanes_of(projects.folder(home, own)).values()):
        raise MergeRefused(
            f"{own} has a memory of its own: `coffer project merge {own} {stands}` moves it there."
        )
    page = projects.read(home, own) or Known(own).seen(identity.root, identity.origin)
    other = projects.read(home, stands) or Known(stands)
    pages = [replace(page, into=stands), replace(other, was=_with(other.was, own))]
    return written(home, pages, "alias", now)


def planned(home: Home, old: str, new: str) -> Merge:
    """What a merge of one project's memory into another's would move. Raises MergeRefused."""
    source, target = projects.folder(home, old), projects.folder(home, new)
    if projects.standing(home, new) != new:
        raise MergeRefused(f"{new} was merged into {projects.standing(home, new)}: name that one.")
    if old == new or projects.standing(home, old) == new:
        raise MergeRefused(f"{old} and {new} have one memory already.")
    if not source.is_dir():
        raise ProjectNotFound(f"{old} has no memory.")
    moves, taken = [], set()
    for path in _files(source):
        inner = path.relative_to(source)
        place = next(
            where
            for where in _names(inner, old)
            if where not in taken and (not os.path.lexists(target / where) or _is_one(path, target / where))
        )
        taken.add(place)
        moves.append(Move(f"{old}/{inner}", f"{new}/{place}"))
    return Merge(old, new, tuple(moves))


def merge(home: Home, old: str, new: str, now: datetime) -> Merge:
    """Move all of one project's memory into another's, and let the former stand for the latter from now on.

    Raises as `planned`, ProjectBroken, Busy, WriteFailed; what was moved until then is in the receipt.
    """
    before = _pages(home, old, new)
    receipt = begun(KIND, "", "", projects.folder(home, new), now)
    receipt.data = {"verb": "merge", "old": old, "new": new, "pages": before, "moves": []}
    done: list[Move] = []
    for _ in range(_PASSES):
        moves = planned(home, old, new).moves
        if not moves:
            break
        _note(home, receipt, moves)
        for move in moves:
            _move(home, move)
        done += moves
    page, other = projects.read(home, old) or Known(old), projects.read(home, new) or Known(new)
    roots = tuple(dict.fromkeys((*other.roots, *page.roots)))
    projects.write(home, replace(page, into=new, apart=False))
    projects.write(home, replace(other, roots=roots, was=_with(other.was, old, *page.was)))
    receipt.status, receipt.data["after"] = DONE, _pages(home, old, new)
    _note(home, receipt, ())
    return Merge(old, new, tuple(done), receipt)


def undo_project(receipt: Receipt, home: Home, now: datetime | None = None) -> Receipt:
    """Take back a merge, an alias, a label or a `separate`; the receipt of the undo.

    Raises MergeRefused where what is kept apart has a memory of its own by now, MergedSince where a file was changed
    since or its old place is taken, Busy, WriteFailed; a merge is then as it was.
    """
    moves = [(Move(*told[:2]), told[2]) for told in receipt.data.get("moves", ())]
    base = home.root / "memory" / "projects"
    if receipt.data.get("verb") == "separate":
        _require_unused(home, next(iter(receipt.data["pages"])))
    back = []
    for move, digest in reversed(moves):
        source, target = base / move.source, base / move.target
        if not os.path.lexists(target) and os.path.lexists(source):
            continue  # a merge that was killed never moved it
        if _digest(target) != digest or (os.path.lexists(source) and not _is_one(source, target)):
            raise MergedSince(receipt.id, str(target))
        back.append(Move(move.target, move.source))
    for move in back:
        _move(home, move)
    after = receipt.data.get("after", {})
    for name, text in receipt.data["pages"].items():
        _page_back(home, name, text, after.get(name))
    return undone(home, receipt, now)


def _require_unused(home: Home, own: str) -> None:
    """Refuse to let a memory go that was kept apart and is not empty: nobody would find it then."""
    if any(lanes_of(projects.folder(home, own)).values()):
        raise MergeRefused(
            f"{own} has a memory of its own by now. `coffer project join` in its folder moves that to the others'."
        )


def _page_back(home: Home, name: str, text: str | None, after: str | None) -> None:
    """A page as it was before; of one that was changed since only where its memory lies, the rest stays.

    after: what stood there when it was done, None where a kill left that open.
    """
    path = projects.folder(home, name) / FILE
    now = vault.read(path)
    if after is None or now in (None, after):
        vault.rewrite(home, path, now, text)
        return
    before = projects.parsed(name, (text or "").encode("utf-8", "surrogateescape"))
    projects.write(
        home,
        replace(projects.read(home, name) or before, into=before.into, was=before.was, apart=before.apart),
    )


def identity_here(home: Home, user: Path, folder: Path) -> Identity:
    """The project of a folder. user: the home folder. Raises ProjectNotFound."""
    root = memory_root(home, user, folder)
    if root is None:
        raise ProjectNotFound(f"{folder} belongs to no project. {reason_for_none(folder, user)}")
    return identity_of(root, home)


def written(home: Home, pages: list[Known], verb: str, now: datetime) -> Receipt:
    """Write pages of projects with a receipt that holds what was there. Raises ProjectBroken, WriteFailed."""
    receipt = begun(KIND, "", "", projects.folder(home, pages[0].id), now)
    receipt.data = {"verb": verb, "pages": _pages(home, *(page.id for page in pages))}
    for page in reversed(
        pages
    ):  # the one that says where a memory lies comes last: a kill before it changes nothing
        projects.write(home, page)
    receipt.status, receipt.data["after"] = DONE, _pages(home, *(page.id for page in pages))
    with database(home) as connection:
        save(connection, receipt)
    return receipt


def _pages(home: Home, *names: str) -> dict[str, str | None]:
    """The pages as they are. Raises ProjectBroken for one that would not be overwritten."""
    for name in names:
        projects.read(home, name)
    return {name: vault.read(projects.folder(home, name) / FILE) for name in names}


def _with(names: tuple[str, ...], *more: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*names, *more)))


def _files(folder: Path) -> Iterator[Path]:
    """The files of all lanes, and of folders below them; links are left where they are."""
    for lane in LANES:
        for top, folders, names in os.walk(folder / lane):
            folders.sort()
            for name in sorted(names):
                path = Path(top, name)
                if not path.is_symlink() and name[0] != ".":
                    yield path


def _names(inner: Path, old: str) -> Iterator[Path]:
    """Where a file may go, the best first: a handoff whose branch has one goes to that branch's history."""
    yield inner
    if len(inner.parts) == 2 and inner.parts[0] == "handoff":
        inner = Path("handoff", "history", inner.stem, f"merged-{inner.name}")
        yield inner
    yield inner.with_name(f"{inner.stem}-{old}{inner.suffix}")
    for count in range(2, 1_000_000):
        yield inner.with_name(f"{inner.stem}-{old}-{count}{inner.suffix}")


def _note(home: Home, receipt: Receipt, moves: tuple[Move, ...]) -> None:
    """Write down what is about to be moved, before it is."""
    base = home.root / "memory" / "projects"
    told: list[Any] = receipt.data["moves"]
    told += [[move.source, move.target, _digest(base / move.source)] for move in moves]
    with database(home) as connection:
        save(connection, receipt)


def _move(home: Home, move: Move) -> None:
    """Move a file; one that is in the way is never replaced. Raises Busy, WriteFailed."""
    base = home.root / "memory" / "projects"
    source, target = base / move.source, base / move.target
    with held(home, source, _WAIT), refusals(target):
        for folder in (
            *reversed(target.parent.relative_to(home.root).parents),
            target.parent.relative_to(home.root),
        ):
            home.make(home.root / folder)
        if not _is_one(source, target):
            os.link(source, target, follow_symlinks=False)
        source.unlink()
        sync_folder(target.parent)
        sync_folder(source.parent)


def _is_one(source: Path, target: Path) -> bool:
    """Whether both are one file: a move that was killed in the middle leaves it under either name."""
    try:
        return os.path.samestat(source.lstat(), target.lstat())
    except OSError:
        return False


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
