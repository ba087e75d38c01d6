"""Which rules hold in a folder: both digests read, their trust looked up, merged. Nothing is made or written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coffer.core.digest import Digest, DigestUnreadable
from coffer.core.effective import Effective, Held, Origin, active, effective, key
from coffer.core.settings import Guard, Settings
from coffer.disk.digest_file import Loaded, read
from coffer.disk.places import Places
from coffer.disk.project import digest_file, project_of, user_digest
from coffer.errors import CofferError
from coffer.store import trust
from coffer.store.db import database
from coffer.store.home import Home
from coffer.work.rules.quiet import changed_alone
from coffer.work.rules.understood import understood


@dataclass(frozen=True, slots=True)
class Standing:
    """A digest file as it stands. loaded None: there is none, or it can't be read.

    problem: the sentence that says why it yields no rule, "" if it does; line: where, 0 for nowhere.
    known: what is known of its texts, by key. taken: keys of texts that nobody but the person can have put there.
    """

    origin: Origin
    path: Path
    loaded: Loaded | None = None
    digest: Digest | None = None
    problem: str = ""
    line: int = 0
    known: Mapping[str, trust.By] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()

    @property
    def trusted(self) -> frozenset[str]:
        """Keys of the texts that may be delivered from here."""
        return frozenset(text for text, by in self.known.items() if by in trust.DELIVERED) | self.taken

    @property
    def untrusted(self) -> list[str]:
        """Active rule texts that may not, in the file's order."""
        rules = [rule for rule, _ in active(self.digest)] if self.digest else []
        return [rule.text for rule in rules if key(rule.text) not in self.trusted]

    def held(self) -> Held | None:
        """For the merge; None where it yields no rule."""
        return Held(self.origin, str(self.path), self.digest, self.trusted) if self.digest else None


@dataclass(frozen=True, slots=True)
class Looked:
    """What holds in a folder. project: its root, None for none. files: the project's before the person's own."""

    project: Path | None
    files: tuple[Standing, ...]
    effective: Effective


def user_home(environment: Mapping[str, str]) -> Path:
    """The person's home folder."""
    return Path(environment.get("HOME") or Path.home())


def guard_at(settings: Settings, folder: Path | str, environment: Mapping[str, str]) -> Guard:
    """What the guard does where a session works. folder: "" where nobody knows."""
    root = project_of(Path(folder), user_home(environment)) if folder and settings.projects else None
    return settings.guard_in(str(root) if root is not None else "")


def standing(path: Path, origin: Origin, home: Home, places: Places) -> Standing:
    """Look at a digest file. What is wrong with it, or with the database, is part of the answer, no error."""
    try:
        return examined(path, origin, home, places)
    except CofferError as error:
        cause = error.__cause__
        line = cause.line if isinstance(cause, DigestUnreadable) else 0
        return Standing(origin, path, problem=str(error), line=line)


def examined(path: Path, origin: Origin, home: Home, places: Places) -> Standing:
    """Look at a digest file. Raises DigestBroken, StoreFailed, and what `digest_file.read` raises."""
    loaded = read(path)
    if loaded is None:
        return Standing(origin, path)
    digest = understood(path, loaded.text)
    found = Standing(origin, path, loaded, digest, known=_known(home, path))
    return replace(found, taken=_taken(found, places))


def _known(home: Home, path: Path) -> dict[str, trust.By]:
    if not home.database.exists():
        return {}
    with database(home, write=False) as connection:
        return trust.rows(connection, str(path))


def _taken(found: Standing, places: Places) -> frozenset[str]:
    """Texts of the person's own file that are theirs without asking: it changed while no agent was there.

    A text that stood there before, when an agent may have put it there, is not taken with a later change.
    """
    new = {key(text) for text in found.untrusted} - found.known.keys()
    if found.origin == "project" or not new or found.loaded is None:
        return frozenset()
    return frozenset(new) if changed_alone(found.loaded.changed, places) else frozenset()


def look(folder: Path, home: Home, environment: Mapping[str, str]) -> Looked:
    """Which rules hold in a folder. A file that can't be read yields none and takes none from the other."""
    user, places = user_home(environment), Places.of(environment)
    project = project_of(folder, user)
    files = [standing(user_digest(user), "user", home, places)]
    if project is not None:
        files.insert(0, standing(digest_file(project), "project", home, places))
    by_origin = {file.origin: file.held() for file in files}
    return Looked(project, tuple(files), effective(by_origin.get("project"), by_origin.get("user")))


def effective_of(folder: Path, home: Home, environment: Mapping[str, str]) -> dict[str, Any]:
    """The same for programs: project, files, rules (in the order of their delivery), left_out, problems."""
    looked = look(folder, home, environment)
    return {
        "project": str(looked.project) if looked.project else None,
        "files": [
            {
                "path": str(file.path),
                "origin": file.origin,
                "exists": file.loaded is not None or bool(file.problem),
                "active": len(list(active(file.digest))) if file.digest else 0,
                "untrusted": len(file.untrusted),
                "problem": file.problem,
            }
            for file in looked.files
        ],
        "rules": [
            {
                "id": one.rule.id,
                "text": one.rule.text,
                "title": one.rule.title,
                "priority": one.rule.priority,
                "scope": one.rule.scope,
                "origin": one.origin,
                "file": one.file,
                "importance": one.rule.importance,
            }
            for one in looked.effective.rules
        ],
        "left_out": [
            {"id": out.rule, "text": out.text, "file": out.file, "reason": out.reason, "line": out.line}
            for out in looked.effective.left_out
        ],
        "problems": [
            {"file": str(file.path), "line": file.line, "reason": file.problem}
            for file in looked.files
            if file.problem
        ],
    }
