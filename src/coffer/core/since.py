"""What happened since a handoff was written, and how it is told together with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from coffer.core.chain import seconds
from coffer.core.entry import Entry
from coffer.core.handoff import LARGEST, ago, called

MOST_COMMITS = 10
MOST_FILES = 8
MOST_OTHERS = 6
LARGEST_ANSWER = 4_096
"""Bytes that all of it should have: a long handoff comes with fewer details of what happened since."""
_LONGEST_SUBJECT = 72
_AGENTS = {"claude": "Claude Code", "codex": "Codex"}

FileState = Literal["same", "changed", "gone", "new", "missing", "outside"]
BranchState = Literal["here", "merged", "gone", "gone, its commits are here", "unknown"]


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit. time: seconds since 1970."""

    sha: str
    subject: str
    time: float


@dataclass(frozen=True, slots=True)
class FileSince:
    """A file that the handoff names. missing: it was not there then either. outside: not in the work tree.

    now: what git calls one that is gone, since it was moved.
    """

    path: str
    state: FileState
    now: str = ""


@dataclass(frozen=True, slots=True)
class Since:
    """What git says. ahead: commits that came; None where the commit of the handoff is not known here any more.

    lost: commits that were there then and are no part of the branch now. rebased: those that are, as other commits with
    the same change; `ahead` counts them no more. dirty: files that differ from the last
    commit; None where git does not say. failed: git took too long, refused, or there is none.
    """

    git: bool = False
    ahead: int | None = None
    lost: int = 0
    rebased: int = 0
    commits: tuple[Commit, ...] = ()
    files: tuple[FileSince, ...] = ()
    dirty: int | None = None
    dirty_files: tuple[str, ...] = ()
    branch: BranchState = "here"
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Other:
    """The handoff of another branch. state: merged: all of its commits are in the branch that is checked out.

    now: what the branch is called by now.
    """

    entry: Entry
    state: BranchState
    now: str = ""


@dataclass(frozen=True, slots=True)
class Resumed:
    """A handoff and what happened since; entry None: there is none.

    branch: the one that was asked for. project: its name. path: of the file. was: a former name of the branch, under
    which the handoff lies. doing: rebase or bisect. folder: where it was read. notes, journal: what else the vault has
    of the project, in files, and the journal's last day. replaced: handoffs of this branch in its history.
    """

    project: str
    branch: str
    path: str
    folder: str
    entry: Entry | None = None
    edited: bool = False
    was: str = ""
    doing: str = ""
    since: Since = Since()
    others: tuple[Other, ...] = ()
    notes: int = 0
    journal: str = ""
    replaced: int = 0

    @property
    def found(self) -> bool:
        """Whether there is a handoff."""
        return self.entry is not None


class _Most(NamedTuple):
    """How many of each are named."""

    commits: int
    files: int
    others: int


_DETAILS = (_Most(MOST_COMMITS, MOST_FILES, MOST_OTHERS), _Most(5, 4, 3), _Most(2, 2, 1))
"""The first that fits; else the last."""


def told(resumed: Resumed, now: float) -> str:
    """Everything in words, for an agent and for a person. now: seconds since 1970."""
    text = ""
    for most in _DETAILS:
        lines = _missing(resumed) if resumed.entry is None else _found(resumed, resumed.entry, now, most)
        text = "\n".join([*lines, *_others(resumed, now, most.others)]).strip()
        if len(text.encode("utf-8", "replace")) <= LARGEST_ANSWER:
            break
    return text


def _missing(resumed: Resumed) -> list[str]:
    lines = [f"found: false. There is no handoff of {called(resumed.branch)} in project {resumed.project}."]
    if resumed.replaced:
        lines.append(
            f"Its history has {resumed.replaced}: the person sees them with `coffer handoff history`."
        )
    have = []
    if resumed.notes:
        have.append(f"{resumed.notes} file{'s' * (resumed.notes > 1)} of notes")
    if resumed.journal:
        have.append(f"a journal up to {resumed.journal}")
    if have:
        lines.append(f"The memory of this project has {' and '.join(have)}: `recall` searches them.")
    elif not resumed.others and not resumed.replaced:
        lines.append(
            "Nothing else is kept of this project either: ask the person what they want to go on with."
        )
    return lines


def _found(resumed: Resumed, entry: Entry, now: float, most: _Most) -> list[str]:
    lines = [f"Handoff of {called(resumed.branch)} in project {resumed.project}: {_by(entry, now)}."]
    if entry.source == "distil":
        lines.append(
            "It is a draft that Coffer made of the transcript, since the session wrote none: check it."
        )
    if resumed.edited:
        lines.append("A person has edited it by hand since.")
    if resumed.was:
        lines.append(f"It was written when this branch was called {resumed.was}.")
    folder = dict(entry.more).get("folder", "")
    if folder and folder != resumed.folder:
        lines.append(f"It was written in {folder}, another work tree than this one ({resumed.folder}).")
    text = _cut(entry.text, resumed.path)
    return [*lines, "", text, "", *_since(resumed, entry, most)]


def _since(resumed: Resumed, entry: Entry, most: _Most) -> list[str]:
    """What happened since, a line each."""
    since, lines = resumed.since, ["## Since then", ""]
    if resumed.doing:
        lines.append(f"- A {resumed.doing} of this branch is under way.")
    if since.git:
        lines += _commits(since, entry, most.commits)
        if since.branch == "gone":
            lines.append(f"- There is no branch {resumed.branch} here any more.")
        elif since.branch != "here":
            lines.append(f"- Its branch is {since.branch}.")
        if since.dirty is not None:
            lines.append(
                f"- Not committed now: {_named(since.dirty, since.dirty_files[: most.files]) or 'nothing'}."
            )
    lines += _files(since.files, most.files)
    if since.failed:
        lines.append(
            "- git gave no answer here in time, so this is not all: look for yourself (`git status`)."
        )
    return lines if len(lines) > 2 else []


def _commits(since: Since, entry: Entry, most: int) -> list[str]:
    commit = dict(entry.more).get("commit", "")
    if since.ahead is None:
        if not commit or since.failed:
            return []
        return [f"- The commit that it was written at ({commit[:8]}) is not in this repository any more."]
    lines = ["- No commits."]
    if since.ahead or since.lost:
        lines = [f"- {since.ahead} commit{'s' * (since.ahead != 1)}" + (":" if since.commits else ".")]
    shown = since.commits[:most]
    lines += [f"  - {one.sha} {_short(one.subject)}" for one in shown]
    if since.ahead > len(shown) > 0:
        lines.append(f"  - and {since.ahead - len(shown)} before these")
    if since.rebased:
        what = "1 commit of then is here as another one"
        if since.rebased > 1:
            what = f"{since.rebased} commits of then are here as others"
        lines.append(f"- Rebased or reworded: {what}.")
    if since.lost:
        lines.append(
            f"- History was rewritten, or another commit was checked out: {since.lost} that "
            f"{'were' if since.lost > 1 else 'was'} there then {_are(since.lost)} no part of it now."
        )
    return lines


def _are(count: int) -> str:
    return "are" if count > 1 else "is"


_WORDS: tuple[tuple[FileState, str], ...] = (
    ("changed", "Changed"),
    ("gone", "Vanished"),
    ("new", "Appeared"),
    ("missing", "Not there, then neither"),
    ("outside", "Outside of this work tree, not looked at"),
)


def _files(files: Sequence[FileSince], most: int) -> list[str]:
    lines = []
    for state, word in _WORDS:
        names = [
            f"{one.path} (now {one.now})" if one.now else one.path for one in files if one.state == state
        ]
        if names:
            lines.append(f"- {word}: {_named(len(names), names[:most])}.")
    same = sum(one.state == "same" for one in files)
    if same and same == len(files):
        lines.append("- The files that it names are as they were.")
    return lines


def _named(count: int, names: Sequence[str]) -> str:
    shown = ", ".join(_short(name) for name in names)
    more = count - len(names)
    return f"{shown} and {more} more" if more > 0 else shown


def _others(resumed: Resumed, now: float, most: int) -> list[str]:
    if not resumed.others:
        return []
    lines = ["", "Handoffs of other branches (`branch` names one):" if resumed.branch else "Others:"]
    for other in resumed.others[:most]:
        state = "" if other.state in ("here", "unknown") else f", {other.state}"
        called_now = f", now {other.now}" if other.now else ""
        lines.append(f"- {other.entry.branch or 'no branch'}{called_now} ({_by(other.entry, now)}{state})")
    if len(resumed.others) > most:
        lines.append(f"- and {len(resumed.others) - most} more: `coffer handoff list`")
    return lines


def _by(entry: Entry, now: float) -> str:
    """Who wrote it and when."""
    then = seconds(entry.time) if entry.time else None
    age = ago(now - then) if then is not None else "at a time that is not known"
    who = _AGENTS.get(entry.agent, entry.agent)
    author = "the person" if entry.source == "person" else who or "an agent"
    session = f", session {entry.session[:8]}" if entry.session else ""
    word = "drafted from a session of" if entry.source == "distil" else "written by"
    return f"{word} {author} {age}{session}"


def _cut(text: str, path: str) -> str:
    data = text.encode("utf-8", "replace")
    if len(data) <= LARGEST:
        return text
    return data[:LARGEST].decode("utf-8", "ignore").rstrip() + f"\n[…cut; the whole text is in {path}]"


def _short(said: str) -> str:
    line = " ".join(said.split())
    return line if len(line) <= _LONGEST_SUBJECT else line[: _LONGEST_SUBJECT - 1].rstrip() + "…"
