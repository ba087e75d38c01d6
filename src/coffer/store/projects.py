"""What the vault knows of a project besides its lanes: `memory/projects/<id>/project.toml`.

A person may read and edit it. One that can't be understood says nothing, and is never overwritten.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import tomlkit

from coffer.core.regex import regex
from coffer.disk.put import put
from coffer.store.home import Home
from coffer.store.project_errors import ProjectBroken

FILE = "project.toml"
MOST_HOPS = 8
_NAME = regex(r"\w[\w-]{0,79}")
_MOST_ROOTS = 20
_LONGEST = 65_536


@dataclass(frozen=True, slots=True)
class Known:
    """A project's own page. label: what the person calls it. origin: as `core.origin.normalised`, "" for none.

    roots: folders that it was worked on in, the last first. into: the id that stands in for this one. was: ids that
    were merged into it. apart: the person keeps the memory of this work tree apart from that of its repository.
    """

    id: str
    label: str = ""
    origin: str = ""
    roots: tuple[str, ...] = ()
    into: str = ""
    was: tuple[str, ...] = ()
    apart: bool = False

    def seen(self, root: Path, origin: str) -> Known:
        """The same, having been worked on in a folder."""
        roots = tuple(dict.fromkeys((str(root), *self.roots)))[:_MOST_ROOTS]
        return replace(self, roots=roots, origin=origin or self.origin)


def folder(home: Home, name: str) -> Path:
    """Where a project's part of the vault lies. Nothing is made or looked at."""
    return home.root / "memory" / "projects" / name


def is_id(name: str) -> bool:
    """Whether a text can be a project's id, which is the name of its folder: a path never is."""
    return _NAME.fullmatch(name) is not None


def known(home: Home, name: str) -> Known | None:
    """What is written of a project; None where nothing is, or nothing that can be understood."""
    try:
        return read(home, name)
    except ProjectBroken:
        return None


def read(home: Home, name: str) -> Known | None:
    """The same. Raises ProjectBroken for a file that can't be understood."""
    path = folder(home, name) / FILE
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ProjectBroken(str(path), (error.strerror or str(error)).lower()) from error
    with os.fdopen(descriptor, "rb") as file:
        try:
            return parsed(name, file.read(_LONGEST))
        except (OSError, ValueError) as error:
            raise ProjectBroken(str(path), str(error)) from error


def is_apart(home: Home, name: str) -> bool:
    """Whether the person keeps the memory of this id apart, as far as a page says so."""
    page = known(home, name)
    return page is not None and page.apart


def parsed(name: str, page: bytes) -> Known:
    """What a page says. Raises ValueError where it can't be understood."""
    said = tomllib.loads(page.decode())
    into = _text(said.get("into"))
    return Known(
        name,
        _text(said.get("label")),
        _text(said.get("origin")),
        _texts(said.get("roots")),
        into if is_id(into) else "",
        tuple(one for one in _texts(said.get("was")) if is_id(one)),
        said.get("apart") is True,
    )


def write(home: Home, page: Known) -> Path:
    """Write a project's page and make its folder; the path. Raises ProjectBroken, WriteFailed."""
    path = home.make(folder(home, page.id)) / FILE
    read(home, page.id)  # one that can't be understood is left alone
    document = tomlkit.document()
    document.add(tomlkit.comment("A project of Coffer's vault. `coffer project` shows and changes it."))
    for name in ("label", "origin", "into"):
        if value := getattr(page, name):
            document.add(name, tomlkit.string(value))
    for name in ("roots", "was"):
        if values := getattr(page, name):
            document.add(name, tomlkit.item(list(values)))
    if page.apart:
        document.add("apart", tomlkit.boolean("true"))
    put(path, tomlkit.dumps(document).encode("utf-8", "replace"), 0o600)
    return path


def all_known(home: Home) -> list[Known]:
    """Every project that has a folder in the vault, by id; one without a page knows only its id."""
    try:
        names = sorted(
            place.name for place in (home.root / "memory" / "projects").iterdir() if place.is_dir()
        )
    except OSError:
        return []
    return [known(home, name) or Known(name) for name in names if is_id(name)]


def standing(home: Home, name: str) -> str:
    """The id that stands in for one: itself, or what it was merged into. A circle ends where it closes."""
    seen = [name]
    while len(seen) <= MOST_HOPS:
        page = known(home, seen[-1])
        if page is None or not page.into or page.into in seen:
            break
        seen.append(page.into)
    return seen[-1]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()
