"""Go on with prior work: the handoff of a branch, and what happened since; only git is asked, and only to read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from coffer.core.chain import seconds
from coffer.core.entry import Entry
from coffer.core.handoff import DETACHED, parsed, path_in
from coffer.core.regex import regex
from coffer.core.since import (
    MOST_COMMITS,
    MOST_FILES,
    BranchState,
    Commit,
    FileSince,
    FileState,
    Other,
    Resumed,
    Since,
)
from coffer.disk.checkout import renamed_from
from coffer.disk.project import FOLDER
from coffer.store import vault
from coffer.work.memory.handoff import LATE, UNBORN, branches, current, edited, fingerprint, inside
from coffer.work.memory.handoff_place import Place

_HASH = regex(r"[0-9a-f]{7,64}")
_BREAK = "\x1f"


def resume_of(place: Place, branch: str = "") -> Resumed:
    """The handoff of a branch, for "" of the one that is checked out. Changes nothing; never raises for git."""
    wanted = branch or place.branch
    entry, was = current(place, wanted), ""
    heads = _heads(place)
    if entry is None and place.checkout is not None:
        for name in renamed_from(place.checkout, wanted):
            if name not in heads and (entry := current(place, name)) is not None:
                was = name
                break
    others = [one for one in branches(place) if entry is None or one.id != entry.id]
    notes, journal = _else(place)
    return Resumed(
        place.identity.name,
        wanted,
        str(place.file(was or wanted)),
        str(place.top),
        entry,
        entry is not None and edited(entry),
        was,
        place.doing if wanted == place.branch else "",
        _since(place, entry, wanted, heads) if entry is not None else Since(),
        tuple(_others(place, others, heads)),
        notes,
        journal,
        0 if entry is not None else len(vault.files(place.history(wanted))),
    )


_MOST_HEADS = 200
"""Branches whose reflog is looked at for a former name."""


def _others(place: Place, entries: Sequence[Entry], heads: Mapping[str, bool]) -> Iterator[Other]:
    """Other branches' handoffs, also where a branch has another name by now."""
    known = {"", DETACHED, *heads}
    names = _renamed(place, heads) if any(one.branch not in known for one in entries) else {}
    for one in entries:
        name = names.get(one.branch, "") if one.branch not in known else ""
        yield Other(one, _state(place, one, name or one.branch, heads), name)


def _renamed(place: Place, heads: Mapping[str, bool]) -> Mapping[str, str]:
    """Former names of the branches that there are → what they are called now; each reflog is read once."""
    found: dict[str, str] = {}
    if place.checkout is None:
        return found
    for name in list(heads)[:_MOST_HEADS]:
        for former in renamed_from(place.checkout, name):
            found.setdefault(former, name)
    return found


def _heads(place: Place) -> Mapping[str, bool]:
    """The branches that there are, and whether the commit that is checked out has all of theirs."""
    if place.checkout is None or not place.git.works():
        return {}
    form = "--format=%(refname:lstrip=2)"
    every = (place.git.ask("for-each-ref", form, "refs/heads") or "").split("\n")
    merged = set((place.git.ask("for-each-ref", form, "--merged=HEAD", "refs/heads") or "").split("\n"))
    return {name: name in merged for name in every if name}


def _state(place: Place, entry: Entry, branch: str, heads: Mapping[str, bool]) -> BranchState:
    if place.checkout is None or not heads or branch in ("", DETACHED, place.branch):
        return "here"
    if branch in heads:
        return "merged" if heads[branch] else "here"
    commit = _commit(entry)
    if commit and place.git.holds("merge-base", "--is-ancestor", commit, "HEAD"):
        return "gone, its commits are here"
    return "unknown" if place.git.failed else "gone"


def _commit(entry: Entry) -> str:
    """The commit of a handoff, which a person may have edited: a word that is none is not given to git."""
    said = dict(entry.more).get("commit", "")
    return said if _HASH.fullmatch(said) else ""


_DIGEST = ("??", f"{FOLDER}/")
"""The digest's folder, which Coffer itself makes: it is no work that somebody left."""


def _since(place: Place, entry: Entry, branch: str, heads: Mapping[str, bool]) -> Since:
    files = tuple(_files(place, entry))
    own = branch == place.branch and not place.doing
    if place.checkout is None:
        return Since(files=files)
    if place.git.failed:
        return Since(git=True, files=files, failed=True)
    tip = "HEAD" if own or branch not in heads else f"refs/heads/{branch}"
    commit, ahead, lost, rebased = _commit(entry), None, 0, 0
    born = dict(entry.more).get("commit", "") != UNBORN
    reach: tuple[str, ...] = (f"{commit}..{tip}" if born else tip,)
    if commit:
        counted = place.git.ask("rev-list", "--left-right", "--count", f"{commit}...{tip}", "--")
        if counted is not None:
            lost, ahead = (int(word) for word in counted.split())
        if lost:
            same = place.git.ask(
                "rev-list", "--left-right", "--cherry-mark", "--count", f"{commit}...{tip}", "--"
            )
            left, right, both = (int(word) for word in same.split()) if same is not None else (lost, ahead, 0)
            rebased, lost, ahead = lost - left, left, right if both else ahead
            reach = ("--right-only", "--cherry-pick", f"{commit}...{tip}") if both else reach
        if own and any(one.state == "gone" for one in files):
            files = tuple(_moved(place, commit, files))
    elif not born:
        counted = place.git.ask("rev-list", "--count", tip, "--")
        ahead = int(counted) if counted is not None else 0
    commits = tuple(_commits(place, *reach)) if ahead else ()
    dirty = place.git.status() if branch == place.branch else None
    names = [path for state, path in dirty or () if (state, path) != _DIGEST]
    return Since(
        git=True,
        ahead=ahead,
        lost=lost,
        rebased=rebased,
        commits=commits,
        files=files,
        dirty=None if dirty is None else len(names),
        dirty_files=tuple(names[:MOST_FILES]),
        branch=_state(place, entry, branch, heads),
        failed=place.git.failed,
    )


def _moved(place: Place, commit: str, files: tuple[FileSince, ...]) -> Iterator[FileSince]:
    """The files, with the new names of those that git sees as moved: committed, or noted to be."""
    words = (
        "--cached",
        "-r",
        "-M",
        "--diff-filter=R",
        "--name-status",
        "-z",
        "--no-ext-diff",
        "--no-textconv",
    )
    said = (place.git.ask("diff-index", *words, commit, "--") or "").split("\0")
    names = dict(zip(said[1::3], said[2::3], strict=False))
    for one in files:
        yield replace(one, now=names.get(one.path, "")) if one.state == "gone" else one


def _commits(place: Place, *reach: str) -> Iterator[Commit]:
    said = place.git.ask("log", f"--max-count={MOST_COMMITS}", "--format=%h%x1f%ct%x1f%s", *reach, "--")
    for line in (said or "").split("\n"):
        words = line.split(_BREAK)
        if len(words) == 3:
            yield Commit(words[0], words[2], float(words[1]))


def _files(place: Place, entry: Entry) -> Iterator[FileSince]:
    try:
        seen = json.loads(dict(entry.more).get("seen", "") or "{}")
    except ValueError:
        seen = {}
    then = seconds(entry.time) if entry.time else None
    for path in dict.fromkeys(filter(None, map(path_in, parsed(entry.text).files))):
        before = seen.get(path) if isinstance(seen, dict) else None
        yield FileSince(path, _file_state(place.top, path, before, then))


def _file_state(top: Path, path: str, before: object, then: float | None) -> FileState:
    """What became of a file. before: its fingerprint then; None where a person named it later: its time decides."""
    now = fingerprint(top, path)
    if now == "outside":
        return "outside"
    if before is None:
        if now == "-":
            return "missing"
        return "changed" if then is not None and _written(top, path) > then else "same"
    if before == LATE:
        return "gone" if now == "-" else "changed" if then and _written(top, path) > then else "same"
    if now == before:
        return "missing" if now == "-" else "same"
    if now == "-":
        return "gone"
    return "new" if before == "-" else "changed"


def _written(top: Path, path: str) -> float:
    whole = inside(top, path)
    try:
        return Path(whole).stat().st_mtime if whole else 0.0
    except OSError:
        return 0.0


def _else(place: Place) -> tuple[int, str]:
    """What else the vault has of this project: files of notes, and the journal's last day."""
    folder = place.lane.parent
    days = [path.stem for path in vault.files(folder / "journal")]
    return len(vault.files(folder / "knowledge")), max(days, default="")


def as_json(resumed: Resumed, now: datetime) -> dict[str, object]:
    """What `coffer handoff --json` prints."""
    entry, since = resumed.entry, resumed.since
    then = seconds(entry.time) if entry is not None and entry.time else None
    return {
        "found": resumed.found,
        "project": resumed.project,
        "branch": resumed.branch,
        "path": resumed.path,
        **({"was": resumed.was} if resumed.was else {}),
        "handoff": None if entry is None else entry_as_json(entry) | {"edited": resumed.edited},
        "age_seconds": None if then is None else round(now.timestamp() - then),
        "since": None
        if entry is None
        else {
            "commits": since.ahead,
            "lost": since.lost,
            "rebased": since.rebased,
            "subjects": [{"sha": one.sha, "subject": one.subject} for one in since.commits],
            "files": {one.path: one.state for one in since.files},
            "moved": {one.path: one.now for one in since.files if one.now},
            "dirty": since.dirty,
            "dirty_files": list(since.dirty_files),
            "branch": since.branch,
            "doing": resumed.doing,
            "git_failed": since.failed,
        },
        "others": [
            entry_as_json(one.entry, text=False) | {"state": one.state, "now": one.now}
            for one in resumed.others
        ],
        "notes": resumed.notes,
        "journal": resumed.journal,
        "replaced": resumed.replaced,
    }


def entry_as_json(entry: Entry, *, text: bool = True) -> dict[str, object]:
    """One handoff for programs."""
    told = dict(entry.more)
    return {
        "branch": entry.branch,
        "source": entry.source,
        "agent": entry.agent,
        "session": entry.session,
        "time": entry.time,
        "commit": told.get("commit", ""),
        "folder": told.get("folder", ""),
        **({"text": entry.text} if text else {}),
    }
