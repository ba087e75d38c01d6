"""Where git keeps what belongs to a folder, and what is checked out there; from its files, without running git."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from coffer.core.regex import regex
from coffer.disk.git_files import belongs, common_of, is_folder, led_to, real, said_in

DETACHED = "HEAD"
"""What stands for a branch where none is checked out; git refuses to make a branch of that name."""
_BRANCH = "refs/heads/"
_HASH = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?$")


@dataclass(frozen=True, slots=True)
class Checkout:
    """A work tree. repository: its own git folder, common: the one that it shares with its other worktrees."""

    top: Path
    repository: Path
    common: Path


@dataclass(frozen=True, slots=True)
class Head:
    """What is checked out. branch: DETACHED for none, "" where the files do not say it.

    doing: rebase or bisect, which check out commits by themselves: branch is then the one that it is about.
    """

    branch: str
    doing: str = ""


def checkout_of(folder: Path) -> Checkout | None:
    """The nearest work tree upward; None outside of any, in a bare repository, and where `.git` leads nowhere."""
    here = real(folder)
    if here is None:
        return None
    for place in (here, *here.parents):
        mark = place / ".git"
        if os.path.lexists(mark) and (not is_folder(mark) or os.path.lexists(mark / "HEAD")):
            repository = led_to(mark)
            common = _shared(place, repository) if repository is not None else None
            return Checkout(place, repository, common) if repository and common else None
    return None


def _shared(place: Path, repository: Path) -> Path | None:
    """The common folder of a work tree's repository; None where that does not know this work tree."""
    common = common_of(repository)
    if common is None:
        return repository
    return common if belongs(place, repository, common) else None


def head_of(checkout: Checkout) -> Head:
    """What is checked out there."""
    repository = checkout.repository
    try:
        said = f"ref: {(repository / 'HEAD').readlink()}"  # as git made it long ago
    except OSError:
        said = said_in(repository / "HEAD")
    if said.startswith("ref:"):
        name = said.removeprefix("ref:").strip()
        if name == f"{_BRANCH}.invalid":
            return Head("")  # references are in tables, and only git reads them
        return Head(name.removeprefix(_BRANCH))
    for where in ("rebase-merge", "rebase-apply"):
        name = said_in(repository / where / "head-name")
        if name.startswith(_BRANCH):
            return Head(name.removeprefix(_BRANCH), "rebase")
    begun = said_in(repository / "BISECT_START")
    if begun and not _HASH.match(begun):
        return Head(begun.removeprefix(_BRANCH), "bisect")
    return Head(DETACHED)


def renamed_from(checkout: Checkout, branch: str) -> list[str]:
    """Former names of a branch, the last first, as its reflog tells."""
    log = said_in(checkout.common / "logs" / "refs" / "heads" / branch, 1 << 20)
    found = re.findall(r"\tBranch: renamed refs/heads/(\S+) to refs/heads/\S+$", log, re.MULTILINE)
    return list(dict.fromkeys(reversed(found)))


def commit_at(checkout: Checkout, branch: str, moment: float) -> str:
    """The commit that a branch stood on at a moment (seconds since 1970), as its reflog tells; "" if it does not."""
    where = checkout.repository / "logs" / "HEAD"
    if branch != DETACHED:
        where = checkout.common / "logs" / "refs" / "heads" / branch
    found = ""
    for line in said_in(where, 1 << 20).split("\n"):
        told = re.match(r"\S+ ([0-9a-f]{40,64}) .*> (\d+) [+-]\d{4}", line)
        if told is not None and int(told[2]) <= moment:
            found = told[1]
    return found
