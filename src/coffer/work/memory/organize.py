"""Notes of a project put in order: repeated ones once, those that belong together in one file, rules proposed.

Each day's notes go into topic files, whole and with their source; with a configured model the notes of a topic become
one. What is merged away stays readable in `knowledge/archive/`, and the receipt takes all of it back. It is planned
first and never runs by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from coffer.core.entry import Entry, complete, entries_of, joined, made, without
from coffer.core.organize import Topic, grouped, is_fresh, reads_as_rule, repeated
from coffer.core.organize_ask import LONGEST_INPUT, merge_prompt, parse_merged
from coffer.core.text_hash import text_hash
from coffer.disk.project import digest_file, project_of, user_digest
from coffer.disk.replace import refusals
from coffer.errors import PrunedContentMissing, ReceiptNotFound
from coffer.store import proposals, vault
from coffer.store.db import DONE, UNDONE, Receipt, begun, database, record, undone
from coffer.store.home import Home
from coffer.work.memory.memory_errors import NoteChangedSince
from coffer.work.rules.ask import Asker

KIND = "organize"
ARCHIVE = "archive"
_FEWEST = 3
"""Notes of a topic from which a model is asked: of two nothing is gained."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A file before and after; None for no file."""

    path: Path
    before: str | None
    after: str | None


@dataclass(slots=True)
class Order:
    """What would be done. repeated: id of a note → of the newer one that says the same. merged: topics by a model.

    rules: notes that read as rules, which are proposed and stay where they are.
    """

    folder: Path
    files: list[Rewrite] = field(default_factory=list)
    topics: list[Topic] = field(default_factory=list)
    repeated: dict[str, str] = field(default_factory=dict)
    merged: list[str] = field(default_factory=list)
    rules: list[Entry] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class _Desk:
    """The files of a knowledge lane while they are put in order."""

    def __init__(self, lane: Path) -> None:
        self.lane = lane
        self.before = {path: vault.read(path) for path in vault.files(lane)}
        self.now: dict[Path, str | None] = dict(self.before)
        self.archive = lane / ARCHIVE

    def notes(self, *, fresh: bool) -> list[Entry]:
        """Notes of the day files, or of the others, in the order of the files."""
        return [
            one
            for path, text in self.before.items()
            if text is not None and is_fresh(path.name) == fresh
            for one in entries_of(text, "knowledge", vault.dated(path))
        ]

    def topic_files(self) -> dict[str, list[Entry]]:
        """The topics that exist."""
        return {
            path.stem: entries_of(text, "knowledge", vault.dated(path))
            for path, text in self.before.items()
            if text is not None and not is_fresh(path.name)
        }

    def take(self, one: Entry, *, fresh: bool | None = None) -> None:
        """Take a note out of the file that it stands in; fresh: only out of a file of that kind."""
        for path, text in self.now.items():
            if fresh is not None and is_fresh(path.name) != fresh:
                continue
            if text is not None and (left := without(text, one)) != text:
                self.now[path] = left if left.strip() else None
                return

    def put(self, path: Path, one: Entry) -> None:
        """Add a note to a file, unless a run that was killed has done so."""
        if path not in self.now:
            self.before[path] = self.now[path] = vault.read(path)
        text = self.now[path] or ""
        if all((one.id, one.text) != (other.id, other.text) for other in entries_of(text, "knowledge")):
            self.now[path] = joined(text, complete(one))

    def changes(self) -> list[Rewrite]:
        """What is to be written: what is added before what is taken away, so that a kill loses nothing."""
        found = [
            Rewrite(path, text, self.now[path])
            for path, text in self.before.items()
            if text != self.now[path]
        ]
        return sorted(found, key=lambda one: (len(one.after or "") < len(one.before or ""), str(one.path)))


def plan(folder: Path, now: datetime, asker: Asker | None = None) -> Order:
    """Put a project's notes in order, on paper. folder: its part of the vault. asker: of a configured model."""
    desk, order = _Desk(folder / "knowledge"), Order(folder)
    fresh, rest = desk.notes(fresh=True), desk.notes(fresh=False)
    moved = {(one.id, one.text) for one in rest}
    for one in [one for one in fresh if (one.id, one.text) in moved]:  # left behind by a run that was killed
        desk.take(one, fresh=True)
        fresh.remove(one)
    order.rules = [one for one in fresh if reads_as_rule(one.text)]
    order.repeated = repeated(sorted([*rest, *fresh], key=lambda one: one.time))
    day = now.astimezone(UTC).date().isoformat()
    for one in [*rest, *fresh]:
        if one.id in order.repeated:
            desk.take(one)
            desk.put(desk.archive / f"{day}-repeated.md", one)
    staying = {one.id for one in order.rules} | set(order.repeated)
    topics = {
        name: [one for one in notes if one.id not in order.repeated]
        for name, notes in desk.topic_files().items()
    }
    order.topics = grouped([one for one in fresh if one.id not in staying], topics)
    for topic in order.topics:
        _file(desk, topic, order, asker, day)
    order.files = desk.changes()
    if asker is not None:
        order.problems = asker.problems
    return order


def _file(desk: _Desk, topic: Topic, order: Order, asker: Asker | None, day: str) -> None:
    """Move a topic's fresh notes into its file; with a model, one note takes their place."""
    path = desk.lane / f"{topic.name}.md"
    new = _merged(topic.notes, asker) if asker is not None else None
    for one in topic.fresh if new is None else topic.notes:
        desk.take(one)
        desk.put(path if new is None else desk.archive / f"{day}-{topic.name}.md", one)
    if new is not None:
        desk.put(path, new)
        order.merged.append(topic.name)


def _merged(notes: Sequence[Entry], asker: Asker) -> Entry | None:
    """One note for several, by a model; None where it is not asked, or its answer can't be taken."""
    if len(notes) < _FEWEST or sum(len(one.text) for one in notes) > LONGEST_INPUT:
        return None
    found = asker.put(merge_prompt(notes), partial(parse_merged, notes=notes))
    if found is None:
        return None
    newest = max(notes, key=lambda one: one.time)
    return made(
        "knowledge",
        f"# {found.title}\n\n{found.text}",
        source="distil",
        time=newest.time,
        branch=newest.branch,
        project=newest.project,
        more=(("from", " ".join(one.id for one in notes)),),
    )


def carry_out(order: Order, home: Home, root: Path | None, user: Path, now: datetime) -> Receipt | None:
    """Write what was planned; the receipt, None where nothing changes. root: of the project, where there is one.

    user: the home folder.

    Notes that read as rules are proposed to the project's digest, or the person's own. Raises FileMoved where a file
    was written to since, Busy, WriteFailed, StoreFailed; what was written until then stands in the receipt.
    """
    if order.rules:
        root = (
            project_of(root, user) if root else None
        )  # a worktree that is kept apart has its repository's rules
        path = digest_file(root) if root else user_digest(user)
        with refusals(home.root), database(home) as connection:
            for one in order.rules:
                said = {"text": one.text.strip(), "hard": False, "where": "" if root else "user"}
                said |= {"project": str(root or "")}
                proposals.add(connection, "add", str(path), said, "coffer organize", now)
    if not order.files:
        return None
    receipt = begun(KIND, "", "", order.folder, now)
    home.make(home.backups)
    receipt.data = {"files": [_kept(one, home, receipt.id, at) for at, one in enumerate(order.files)]}
    record(home, receipt)
    for file in order.files:
        vault.rewrite(home, file.path, file.before, file.after)
    receipt.status = DONE
    record(home, receipt)
    return receipt


def _kept(one: Rewrite, home: Home, receipt: str, at: int) -> dict[str, str]:
    """A file put away, before anything is written. at: makes its name its own: “a b” and “a-b” are two files."""
    backup = ""
    if one.before is not None:
        folder = home.make(home.backups / receipt)
        name = f"{at}-" + re.sub(r"[^\w.-]+", "-", str(one.path.relative_to(one.path.parents[1])))
        with refusals(folder):
            (folder / name).write_bytes(one.before.encode("utf-8", "surrogateescape"))
            (folder / name).chmod(0o600)
        backup = str(folder / name)
    return {"path": str(one.path), "backup": backup, "after": _digest(one.after)}


def undo_organize(receipt: Receipt, home: Home, now: datetime | None = None) -> Receipt:
    """Put every file back as it was. Raises NoteChangedSince where one was written to since: then nothing is done.

    A file that is as it was already is left: a killed run is undone as a whole one. Raises ReceiptNotFound,
    PrunedContentMissing, Busy, FileMoved, WriteFailed.
    """
    if receipt.status == UNDONE:
        raise ReceiptNotFound(f"Receipt {receipt.id} is undone: there is nothing to undo.")
    back: list[Rewrite] = []
    for said in receipt.data["files"]:
        path, text = Path(said["path"]), vault.read(Path(said["path"]))
        before = _text_of(said)
        if text == before:
            continue
        if _digest(text) != said["after"]:
            raise NoteChangedSince(receipt.id, str(path))
        back.append(Rewrite(path, text, before))
    for one in back[::-1]:
        vault.rewrite(home, one.path, one.before, one.after)
    return undone(home, receipt, now)


def _text_of(said: Mapping[str, str]) -> str | None:
    if not said["backup"]:
        return None
    try:
        return Path(said["backup"]).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise PrunedContentMissing(f"The file {said['path']}", said["backup"], why) from error


def _digest(text: str | None) -> str:
    return "" if text is None else text_hash(text)
