"""The digest files that a run touches: each read once, all written at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from coffer.core.events import Settings
from coffer.core.rule import Rules
from coffer.disk.project import digest_file, project_of, user_digest
from coffer.errors import CofferError, DigestElsewhere, WriteFailed
from coffer.store.db import Receipt
from coffer.store.home import Home
from coffer.work.rules.draft import PATIENCE, Draft, draft


@dataclass(frozen=True, slots=True)
class Reach:
    """The rules that hold in a project: its own and the person's. where: the draft and the id behind each name.

    A project's rule is named `project:R001` here and the person's `user:R001`, since both files may use a number.
    """

    rules: Rules
    where: dict[str, tuple[Draft, str]]


@dataclass(slots=True)
class Shelf:
    """Drafts by project. user: the home folder, in which the person's own digest lies.

    problems: sentences about files that can't be read or written. unwritten: drafts that could not be committed.
    patience: seconds for which a process that writes one of them is waited for.
    """

    home: Home
    user: Path
    settings: Settings
    now: datetime
    problems: list[str] = field(default_factory=list)
    unwritten: list[Draft] = field(default_factory=list)
    patience: float = PATIENCE
    _drafts: dict[str, Draft] = field(default_factory=dict)
    _projects: dict[str, str] = field(default_factory=dict)
    _reaches: dict[str, tuple[list[Rules], Reach]] = field(default_factory=dict)

    def project(self, folder: str) -> str:
        """The root of the project that a folder belongs to, "" for none."""
        if folder not in self._projects:
            found = project_of(Path(folder), self.user) if folder else None
            self._projects[folder] = str(found) if found else ""
        return self._projects[folder]

    def path(self, project: str) -> Path:
        """Where a project's digest lies, for "" the person's own."""
        return digest_file(Path(project)) if project else user_digest(self.user)

    def of(self, project: str) -> Draft:
        """The draft of a project's digest, for "" of the person's own. Raises as `draft` does."""
        if project not in self._drafts:
            self._drafts[project] = draft(
                self.path(project), project, self.home, self.settings, self.now, self.patience
            )
        return self._drafts[project]

    def drafts(self) -> list[Draft]:
        """Those that were opened."""
        return list(self._drafts.values())

    def readable(self, project: str) -> Draft | None:
        """The draft of a project, None where its file can't be read: that is told once, and others go on."""
        try:
            return self.of(project)
        except CofferError as error:
            if str(error) not in self.problems:
                self.problems.append(str(error))
            return None

    def reach(self, project: str) -> Reach:
        """What holds in a project; a file that can't be read adds nothing.

        Kept while neither file's rules change: naming all of them anew for each turn costs as much as judging it.
        """
        names = (("project", project), ("user", "")) if project else (("user", ""),)
        drafts = [(kind, one) for kind, name in names if (one := self.readable(name)) is not None]
        kept = self._reaches.get(project)
        if kept is None or [*map(id, kept[0])] != [id(one.rules) for _, one in drafts]:
            kept = [one.rules for _, one in drafts], _reach(drafts)
            self._reaches[project] = kept
        return kept[1]

    def commit(self, verb: str, session: str = "") -> Iterator[Receipt]:
        """Write one draft after the other; the receipt of each whose rules changed. Raises as `Draft.commit`.

        A file that can't be written is told of and goes among the `unwritten`: one project whose folder is
        read-only must not keep the others from learning.
        """
        for one in self._drafts.values():
            try:
                receipt = one.commit(verb, session)
            except (WriteFailed, DigestElsewhere) as error:
                if not one.changes:
                    raise  # then it is Coffer's own database, which all of them need
                self.problems.append(str(error))
                self.unwritten.append(one)
                continue
            if receipt is not None:
                yield receipt


def _reach(drafts: list[tuple[str, Draft]]) -> Reach:
    where: dict[str, tuple[Draft, str]] = {}
    rules = []
    for kind, one in drafts:
        for rule in one.rules.all:
            where[f"{kind}:{rule.id}"] = (one, rule.id)
            rules.append(replace(rule, id=f"{kind}:{rule.id}"))
    return Reach(Rules(tuple(rules)), where)
