"""Learning: from what a person said in their sessions to rules with evidence, each turn once.

A turn that corrects, orders, approves or withdraws becomes an event on the rules of one digest file. One that may be
worth a rule and can't be decided waits in the inbox; so does one whose file can't be written. With `dry_run` all of
it happens and nothing is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from coffer.core.events import Change, DayPassed, Settings
from coffer.core.forgotten import turn_without
from coffer.core.turn import Turn
from coffer.disk.anchor import anchor
from coffer.disk.places import Places
from coffer.disk.replace import refusals
from coffer.disk.sessions import ARCHIVED, MAIN, Found, find_sessions
from coffer.errors import CofferError, FileMoved
from coffer.store.db import Receipt, database
from coffer.store.evidence import HeardTurn, heard_up_to, keep_offset, keep_turns, known
from coffer.store.forgotten import forgotten_of
from coffer.store.home import Home
from coffer.work.rules.ask import Asker
from coffer.work.rules.draft import counting
from coffer.work.rules.lesson import Lesson
from coffer.work.rules.shelf import Shelf
from coffer.work.rules.trust import take
from coffer.work.rules.turns import hear
from coffer.work.sessions.find import thread_paths

_TRIES = 3
"""How often learning begins anew where a person saves the digest meanwhile."""

Tell = Callable[[], None]


@dataclass(slots=True)
class Learned:
    """What a run of learning came to.

    sessions: transcripts with something new in them. turns: new ones, with what became of each. changes: by
    digest file. receipts: of what was written. problems: sentences about what could not be read or asked.
    """

    sessions: int = 0
    turns: list[HeardTurn] = field(default_factory=list)
    changes: dict[str, list[Change]] = field(default_factory=dict)
    receipts: list[Receipt] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def labels(self) -> Counter[str]:
        """How many turns of each class."""
        return Counter(turn.label for turn in self.turns)

    def states(self) -> Counter[str]:
        """How many turns were counted, noticed, or nothing."""
        return Counter(turn.state for turn in self.turns)


@dataclass(frozen=True, slots=True)
class _Mark:
    """How far a transcript is read once all of its turns are kept."""

    path: str
    inode: int
    offset: int
    anchor: str


@dataclass(slots=True)
class Learning:
    """One run: where it looks, what it asks, when it is."""

    home: Home
    places: Places
    environment: Mapping[str, str]
    settings: Settings
    asker: Asker
    now: datetime
    dry_run: bool = False

    def run(self, sessions: Sequence[Found], tell: Tell = lambda: None) -> Learned:
        """Learn from what is new in these sessions. Raises Busy, DigestBroken, WriteFailed, StoreFailed."""
        learned = Learned()
        with nullcontext() if self.dry_run else counting(self.home):
            if not self.dry_run:
                take(self.home, self.environment, self.now)
            heard, marks = self._hear(sessions, learned, tell)
            self._decide(heard, learned)
            if not self.dry_run:
                self._close(learned, marks)
        learned.problems += self.asker.problems
        return learned

    def _hear(
        self, sessions: Sequence[Found], learned: Learned, tell: Tell
    ) -> tuple[list[Turn], list[_Mark]]:
        turns: dict[str, Turn] = {}
        marks = []
        parents = self._parents(sessions)
        for found in sessions:
            tell()
            if found.kind not in (MAIN, ARCHIVED):
                continue
            try:
                new, mark = self._heard(found, parents)
            except CofferError as error:
                learned.problems.append(str(error))
                continue
            except OSError as error:
                learned.problems.append(f"{found.path} can't be read: {error.strerror}.")
                continue
            except UnicodeEncodeError:
                learned.problems.append(f"{found.path} is not read: its path is not UTF-8.")
                continue
            if mark is not None:
                marks.append(mark)
                learned.sessions += bool(new)
            for turn in new:
                turns.setdefault(turn.id, turn)
        for name in self._known(list(turns.values())):
            del turns[name]
        return sorted(turns.values(), key=lambda turn: (turn.time, turn.id)), marks

    def _parents(self, sessions: Sequence[Found]) -> dict[str, Path]:
        """Codex threads by id, also those that are not learned from: a fork looks back into its parent's file."""
        if not any(found.agent == "codex" for found in sessions):
            return {}
        return thread_paths([*find_sessions(self.places), *sessions])

    def _heard(self, found: Found, parents: Mapping[str, Path]) -> tuple[list[Turn], _Mark | None]:
        """The turns behind what was read before, and how far it is read now; None: nothing new."""
        path = str(found.path)
        status = found.path.stat()
        since = self._since(found.path, status.st_ino)
        if since == status.st_size:
            return [], None
        packed = (
            found.path.suffix == ".zst"
        )  # its offsets are not the file's: it is heard whole, or not again
        heard = hear(found.path, 0 if packed else since, parents)
        offset = status.st_size if packed else heard.offset
        return self._told(heard.turns), _Mark(path, status.st_ino, offset, anchor(found.path, offset))

    def _told(self, turns: Sequence[Turn]) -> list[Turn]:
        """Those in which nothing stands that was forgotten: it would come back in a rule and its evidence."""
        forgotten = forgotten_of(self.home)
        left = [(turn, turn_without(turn, forgotten)) for turn in turns]
        return [after for turn, after in left if after.text == turn.text]

    def _since(self, path: Path, inode: int) -> int:
        if not self.home.database.exists():
            return 0
        with database(self.home, write=False) as connection:
            before, offset, known = heard_up_to(connection, str(path))
        return offset if offset and before == inode and anchor(path, offset) == known else 0

    def _decide(self, heard: list[Turn], learned: Learned) -> None:
        for left in reversed(range(_TRIES)):
            shelf = Shelf(
                self.home, Path(self.environment.get("HOME") or Path.home()), self.settings, self.now
            )
            lesson = Lesson(shelf, self.asker)
            turns = [lesson.take(turn) for turn in heard]
            for draft in shelf.drafts():
                draft.step(DayPassed())
            try:
                for receipt in () if self.dry_run else shelf.commit("learn"):
                    learned.receipts.append(receipt)
            except FileMoved:
                if not left:
                    raise
                kept = self._known(heard)  # some files may have been written before the one that moved
                learned.turns += [turn for turn in turns if turn.id in kept]
                heard = [turn for turn in heard if turn.id not in kept]
                continue
            lost = {turn.id for draft in shelf.unwritten for turn in draft.turns}
            learned.turns += [replace(turn, state="noticed") if turn.id in lost else turn for turn in turns]
            learned.problems += shelf.problems
            for draft in shelf.drafts():
                if not any(draft is one for one in shelf.unwritten):
                    learned.changes.setdefault(str(draft.path), []).extend(draft.changes)
            return

    def _known(self, heard: list[Turn]) -> set[str]:
        if not self.home.database.exists():
            return set()
        with database(self.home, write=False) as connection:
            return known(connection, (turn.id for turn in heard))

    def _close(self, learned: Learned, marks: Sequence[_Mark]) -> None:
        """Keep what belongs to no digest, and how far each transcript was read."""
        if not marks and not learned.turns:
            return
        with refusals(self.home.root), database(self.home) as connection:
            keep_turns(connection, learned.turns)
            for mark in marks:
                keep_offset(connection, mark.path, mark.inode, mark.offset, mark.anchor)
