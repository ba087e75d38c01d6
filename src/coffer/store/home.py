"""Coffer's own folder: `~/.coffer`, or COFFER_HOME. Nothing is made in it before something is kept."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coffer.core.regex import regex

PRIVATE = 0o700
_SESSION = regex(r"[0-9A-Za-z][0-9A-Za-z._-]{0,99}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Home:
    """The folder and the places in it (DESIGN section 4).

    stands: it was there when this process began. A person who deletes it means that: what a daemon still has to
    write is no reason to make it again.
    """

    root: Path
    stands: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Home:
        """From COFFER_HOME, else below HOME."""
        said = environment.get("COFFER_HOME")
        return cls(
            Path(said).absolute() if said else Path(environment.get("HOME") or Path.home()) / ".coffer"
        )

    @property
    def database(self) -> Path:
        """Receipts, and where pruned content lies."""
        return self.root / "coffer.db"

    @property
    def pruned(self) -> Path:
        """Packs of pruned content."""
        return self.root / "pruned"

    @property
    def backups(self) -> Path:
        """Transcripts as they were, by receipt."""
        return self.root / "backups"

    @property
    def locks(self) -> Path:
        """One lock a transcript that is being written."""
        return self.root / "locks"

    def of_session(self, folder: str, session: str, ending: str) -> Path | None:
        """Where something of a session lies; None for an id that can't be a file's name."""
        return self.root / folder / f"{session}{ending}" if is_name(session) else None

    def make(self, folder: Path) -> Path:
        """Make one of the places, private to the user; its path. Raises OSError."""
        if not self.stands:
            self.root.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        elif not self.root.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.root))
        within = folder.relative_to(self.root).parts
        for count in range(1, len(within) + 1):  # each of its own: `parents` would make the root again
            self.root.joinpath(*within[:count]).mkdir(mode=PRIVATE, exist_ok=True)
        return folder


def is_name(session: str) -> bool:
    """Whether a session's id, which anybody may send, can be a file's name."""
    return _SESSION.fullmatch(session) is not None
