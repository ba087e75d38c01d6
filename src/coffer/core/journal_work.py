"""The work of a session: files by path, commands with their outcomes, commits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from coffer.core.commands import lasts
from coffer.core.redact import kept
from coffer.core.regex import regex
from coffer.core.sentences import quoted
from coffer.core.steps import CREATED, DELETED, EDITED, Committed, Ran, Step, Touched

LONGEST_SUBJECT = 200
"""Characters of a commit's subject."""


@dataclass(slots=True)
class File:
    """A file that was written. times: how often."""

    path: str
    what: str
    times: int = 0
    added: int = 0
    removed: int = 0


@dataclass(slots=True)
class Command:
    """A command, with its outcomes in order. bad, good: what its last failure and its last success counted.

    lasting: it changes something outside of the files that were edited.
    """

    command: str
    check: bool = False
    outcomes: list[bool] = field(default_factory=list)
    bad: str = ""
    good: str = ""
    why: str = ""
    lasting: bool = False

    @property
    def ok(self) -> bool:
        """Whether it went well in the end."""
        return self.outcomes[-1]


def files_of(steps: Iterable[Step], folders: Sequence[str]) -> list[File]:
    """The files that were written, each once, as seen from the session's folders; none that is gone again."""
    found: dict[str, File] = {}
    for step in steps:
        if not isinstance(step, Touched) or not step.path:
            continue
        path = relative(kept(step.path, 400), folders)
        if _TEMPORARY.search(path):
            continue
        one = found.setdefault(path, File(path, step.what))
        if step.what == DELETED and one.what == CREATED and one.times:
            del found[path]  # made and thrown away: nothing of it is left
            continue
        if step.what != EDITED and not (step.what == CREATED and one.times):
            one.what = step.what
        one.times += 1
        one.added += step.added
        one.removed += step.removed
    return list(found.values())


_USERS = regex(r"^(?:/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:\\Users\\[^\\]+)(?=[/\\]|$)")


def relative(path: str, folders: Sequence[str]) -> str:
    """A path as it is seen from the outermost of the folders that it lies in; else with `~` for a home."""
    slashed = path.replace("\\", "/")
    for base in sorted((folder.replace("\\", "/").rstrip("/") for folder in folders), key=len):
        if base and slashed.startswith(f"{base}/"):
            return slashed[len(base) + 1 :]
    return _USERS.sub("~", path).replace("\\", "/")


_TEMPORARY = regex(r"^(?:/tmp|/private/tmp|/var/folders|/var/tmp|/dev)/|/AppData/Local/Temp/|/scratchpad/")
"""Files beside the project that are gone tomorrow."""


def in_folders(text: str, folders: Sequence[str]) -> str:
    """A command, or an agent's words, with the paths of the session's folders as seen from there."""
    for folder in sorted(folders, key=len, reverse=True):
        text = text.replace(f"{folder}/", "") if len(folder) > 1 else text
    return _HOMES.sub("~", text)


_HOMES = regex(r"(?:/home|/Users)/[^/\s'\"]+(?=/)|/root(?=/)")


def commands_of(steps: Iterable[Step], folders: Sequence[str]) -> list[Command]:
    """Commands with their outcomes, in the order of their last run."""
    found: dict[str, Command] = {}
    for step in steps:
        if not isinstance(step, Ran):
            continue
        name = in_folders(step.command, folders)
        one = found.pop(name, None) or Command(name, step.check, lasting=lasts(name))
        one.outcomes.append(step.ok)
        if step.ok:
            one.good = step.result
        else:
            one.bad, one.why = step.result, step.why
        found[name] = one
    return list(found.values())


def commits_of(steps: Iterable[Step]) -> list[Committed]:
    """Commits; one that was amended counts with its last hash."""
    found: dict[str, Committed] = {}
    for step in steps:
        if isinstance(step, Committed):
            subject = quoted(step.subject, LONGEST_SUBJECT)
            found.pop(subject, None)
            found[subject] = Committed(step.sha[:8], subject)
    return list(found.values())
