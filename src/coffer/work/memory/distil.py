"""A closed session becomes one entry of its project's journal, once, whatever kills whom.

One entry a session and day: a session that goes on is told anew from where that entry begins, in its place; on
another day, or where a person edited or removed the entry, only what is new gets one of its own. The day is that on
which the session ended, as the person's clock has it.

Order of a write, so that a process killed anywhere neither loses a session nor tells it twice: the row says what it
will be; the entry is written; the row is it. Who takes over looks for the entry.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from coffer.core.entry import Entry, made, rendered, title
from coffer.core.forgotten import unforgotten
from coffer.core.journal import Journal, journal_of
from coffer.core.journal_text import text_of
from coffer.core.redact import redact
from coffer.core.settings import Settings
from coffer.core.steps import Story
from coffer.disk.anchor import anchor
from coffer.disk.sessions import ARCHIVED, MAIN, Found
from coffer.errors import CofferError
from coffer.store import distilled, projects, vault
from coffer.store.db import DONE, PREPARED, Receipt, begun, database, save
from coffer.store.db import FAILED as FAILED_RECEIPT
from coffer.store.db import receipt as receipt_of
from coffer.store.distilled import FAILING, SKIPPED, TOLD, Row
from coffer.store.forgotten import forgotten_of
from coffer.store.held import held
from coffer.store.home import Home
from coffer.work.memory.distil_due import unchanged
from coffer.work.memory.distil_model import Narrator, Step
from coffer.work.memory.distil_result import (
    ALREADY,
    DISTILLED,
    FAILED,
    LATER,
    NO_MODEL,
    NOTHING,
    Result,
)
from coffer.work.memory.journal_entry import LANE, entry_in, hash_of, write
from coffer.work.memory.journal_place import Place, place_of_story, told_before
from coffer.work.memory.story import Told, part, seat_of, tell, turns
from coffer.work.project.identity import register
from coffer.work.rules.ask import NotYet
from coffer.work.rules.effective import user_home

KIND = "journal"
_LOCK_SECONDS = 60.0

Tell = Callable[[Found], None]


class Distiller:
    """One run. demanded: with a model, or not at all. dry_run: nothing is written, and no model asked.

    step: where a model is asked, one question at most; `later` then says what became of it where that was not enough.
    """

    def __init__(  # noqa: PLR0913  (the last four have a default)
        self,
        home: Home,
        environment: Mapping[str, str],
        settings: Settings,
        clock: Callable[[], float] = time.time,
        *,
        demanded: bool = False,
        dry_run: bool = False,
        step: Step | None = None,
    ) -> None:
        self._home, self._environment, self._clock = home, environment, clock
        self._demanded, self._dry = demanded, dry_run
        wanted = demanded or settings.journal.model
        self._narrator = Narrator(settings, home, environment, step) if wanted and not dry_run else None
        self.later: NotYet | None = None
        self._no_model = demanded and settings.model.provider == "none"

    def run(self, sessions: Iterable[Found], told: Tell = lambda _: None) -> list[Result]:
        """Tell these sessions, the oldest first: what a fork copied belongs to the session that it was copied from.

        Whatever is wrong with one keeps no other back. Raises StoreFailed, Busy where nothing can be noted at all.
        """
        return list(self.each(sessions, told))

    def each(self, sessions: Iterable[Found], told: Tell = lambda _: None) -> Iterator[Result]:
        """The same, one after the other."""
        for found in sorted(sessions, key=lambda one: (one.modified, str(one.path))):
            told(found)
            yield self.one(found)

    def one(self, found: Found) -> Result:
        """Tell one session."""
        if found.kind not in (MAIN, ARCHIVED):
            return self._result(
                found, NOTHING, "it is a subagent's: what it did stands in its session's entry"
            )
        if self._no_model:
            return self._result(found, NO_MODEL, "`model.provider` is not set, so no model can be asked")
        now = self._clock()
        before = self._row(found)
        if before.held(now):
            return self._result(found, NOTHING, "another process is at it")
        if not self._demanded and before.state in (TOLD, SKIPPED) and unchanged(before, found):
            outcome = ALREADY if before.state == TOLD else NOTHING
            return self._result(found, outcome, before.why if before.state == SKIPPED else "", before)
        if self._dry:
            return self._tried(found, before)
        with database(self._home) as connection:
            before = distilled.row(connection, found.agent, found.id)
            if before.held(now):
                return self._result(found, NOTHING, "another process is at it")
            mine = distilled.claimed(connection, before, str(found.path), os.getpid(), now)
        try:
            mine = self._finished(mine)
            if mine.state == TOLD and not self._demanded and unchanged(mine, found):
                return self._result(found, DISTILLED, "", mine)
            return self._told(found, mine)
        except NotYet as later:
            return self._later(found, mine, before, later)
        except (CofferError, OSError) as error:
            return self._failed(found, mine, _why(error))
        except _ODD as error:  # a transcript of a shape that nobody thought of: it waits, the others do not
            return self._failed(found, mine, f"{type(error).__name__} while it was read")

    # --- reading

    def _row(self, found: Found) -> Row:
        if not self._home.database.exists():
            return Row(found.agent, found.id)
        with database(self._home, write=not self._dry) as connection:
            return distilled.row(connection, found.agent, found.id)

    def _tried(self, found: Found, before: Row) -> Result:
        """What would be written."""
        try:
            read = tell(found.path, forgotten_of(self._home))
        except (CofferError, OSError) as error:
            return self._result(found, FAILED, _why(error))
        why, story = self._story(read, before, before.mark)
        journal = journal_of(story)
        if why or journal.empty:
            return self._result(found, NOTHING, why or _EMPTY)
        text = redact(text_of(journal, datetime.astimezone)).text
        place = self._place(story, found)
        return replace(
            self._result(found, DISTILLED), text=text, file=str(place.folder / place.name), title=journal.goal
        )

    def _story(self, read: Told, before: Row, mark: str) -> tuple[str, Story]:
        """The part behind a mark; and why it is not to be told, "" where it is."""
        story = unforgotten(read.story, forgotten_of(self._home), LANE, before.session)
        if read.about.subagent or story.subagent:
            return "it is a subagent's: what it did stands in its session's entry", story
        if story.folders and all(Path(name).is_relative_to(self._home.root) for name in story.folders):
            return "it is a session of Coffer's own", story
        since = read.scribe.behind(mark) if mark else 0
        known: frozenset[str] = frozenset()
        if self._home.database.exists():
            with database(self._home, write=False) as connection:
                known = distilled.told_elsewhere(connection, turns(story), before.session)
        found = part(story, since, known)
        found.branch = seat_of(self._home, story, user_home(self._environment))[1]
        return (_COPIED if known and not found.steps and not before.entry else ""), found

    # --- telling

    def _told(self, found: Found, mine: Row) -> Result:
        status = found.path.stat()  # before it is read: what comes meanwhile is looked for again
        there = replace(
            mine, inode=status.st_ino, offset=status.st_size, anchor=anchor(found.path, status.st_size)
        )
        read = tell(found.path, forgotten_of(self._home))
        place = self._place(read.story, found)
        if not mine.entry and not mine.mark:
            mine = self._known_before(mine, read, place)
            there = replace(there, entry=mine.entry, file=mine.file, mark=mine.mark)
        old = self._own_entry(mine)
        begin = mine.mark
        why, story = self._story(read, mine, begin)
        journal = journal_of(story)
        fresh = not why and not journal.empty
        if old is not None and (fresh or self._demanded) and self._goes_on(mine, place):
            begin = mine.begun  # the same day: the entry is made anew, from where it begins
            why, story = self._story(read, mine, begin)
            journal = journal_of(story)
        else:
            old = None
        if why or journal.empty or not (fresh or old):
            return self._skipped(found, there, why)
        text, note = self._text(journal, story)
        if place.root is not None:
            register(self._home, place.root)
        entry = self._entry(story, text, place, old, found)
        will = replace(
            there,
            state=TOLD,
            mark=read.story.mark,
            tries=0,
            next_try=0.0,
            outcome=DISTILLED,
            why=note,
            entry=entry.id,
            file=mine.file if old is not None else str(place.folder / place.name),
            begun=begin,
            hash=hash_of(entry.text),
            pending="",
            time=distilled.stamp(self._clock()),
        )
        return replace(self._write(found, there, will, entry, old, turns(story)), story=read.story)

    def _goes_on(self, mine: Row, place: Place) -> bool:
        """Whether what is new belongs into the last entry: it is of the same day, and nothing was set apart since."""
        file = Path(mine.file)
        same_folder = place.folder == file.parent
        return place.name == file.name and (same_folder or not projects.is_apart(self._home, place.project))

    def _own_entry(self, mine: Row) -> Entry | None:
        """The session's last entry, where it stands as it was written."""
        if not mine.entry:
            return None
        there = entry_in(Path(mine.file), mine.entry)
        return there if there is not None and hash_of(there.text) == mine.hash else None

    def _text(self, journal: Journal, story: Story) -> tuple[str, str]:
        """The entry's text and, where a model should have written it and could not, why."""
        plain = text_of(journal, datetime.astimezone)
        if self._narrator is None:
            return plain, ""
        told = self._narrator.told(journal, story, plain, datetime.astimezone)
        return told.text or text_of(journal, datetime.astimezone, told.note), told.why

    def _place(self, story: Story, found: Found) -> Place:
        user = user_home(self._environment)
        return place_of_story(self._home, user, story, found.modified, self._clock())

    def _known_before(self, mine: Row, read: Told, place: Place) -> Row:
        """The row of a session that the vault tells of and the ledger does not: only what came since is new."""
        known = told_before(self._home, mine.agent, mine.session, read.story.started, place.ended)
        if known is None:
            return mine
        path, entry = known
        with database(self._home) as connection:
            distilled.tell_turns(connection, turns(read.story), mine.session)
        return replace(mine, entry=entry.id, file=str(path), mark=entry.time)

    def _entry(self, story: Story, text: str, place: Place, old: Entry | None, found: Found) -> Entry:
        new = vault.tellable(
            self._home,
            made(
                LANE,
                text,
                source="distil",
                time=place.ended.isoformat(timespec="seconds").replace("+00:00", "Z"),
                agent=story.agent,
                session=found.id,
                branch=story.branch,
                project=place.project,
            ),
        )
        return new if old is None else replace(new, id=old.id, project=old.project, more=old.more)

    # --- writing

    def _write(  # noqa: PLR0913  (what a write is made of)
        self, found: Found, there: Row, will: Row, entry: Entry, old: Entry | None, told: list[str]
    ) -> Result:
        path = Path(will.file)
        receipt = begun(KIND, found.agent, found.id, path)
        receipt.data = {
            "verb": "distil",
            "entry": entry.id,
            "hash": will.hash,
            "before": rendered(old) if old is not None else "",
        }
        with held(self._home, self._home.root / LANE, _LOCK_SECONDS):
            with database(self._home) as connection:
                if not distilled.mine(connection, there):
                    return self._result(found, NOTHING, "another process has taken it over")
                distilled.put(
                    connection,
                    replace(there, pending=distilled.as_pending(will, told, receipt.id)),
                )
                save(connection, receipt)
            write(self._home, path, entry, old)
            self._done(will, told, receipt)
        return replace(
            self._result(found, DISTILLED, "", will),
            receipt=receipt.id,
            title=title(entry),
            replaced=old is not None,
            note=will.why,
        )

    def _done(self, will: Row, told: list[str], receipt: Receipt | None) -> None:
        with database(self._home) as connection:
            distilled.put(connection, will)
            distilled.tell_turns(connection, told, will.session)
            if receipt is not None:
                receipt.status = DONE
                save(connection, receipt)

    def _finished(self, mine: Row) -> Row:
        """What a process that was ended had begun to write, finished where the entry is there."""
        if not mine.pending:
            return mine
        will, told, name = distilled.pending_of(mine)
        with held(self._home, self._home.root / LANE, _LOCK_SECONDS):
            there = entry_in(Path(will.file), will.entry)
            with database(self._home, write=False) as connection:
                left = receipt_of(connection, name)
            if there is None or hash_of(there.text) != will.hash:
                self._never(left)
                return replace(mine, pending="")
            self._done(will, told, left)
        return will

    def _never(self, left: Receipt | None) -> None:
        """What a receipt announces was not written."""
        if left is not None and left.status == PREPARED:
            left.status = FAILED_RECEIPT
            with database(self._home) as connection:
                save(connection, left)

    def _skipped(self, found: Found, there: Row, why: str) -> Result:
        known = there.entry or there.outcome == DISTILLED
        row = replace(
            there,
            state=TOLD if there.entry else SKIPPED,
            tries=0,
            next_try=0.0,
            outcome=ALREADY if known else NOTHING,
            why=why or ("" if known else _EMPTY),
            pending="",
            time=distilled.stamp(self._clock()),
        )
        with database(self._home) as connection:
            if distilled.mine(connection, there):
                distilled.put(connection, row)
        return self._result(found, row.outcome, row.why, row)

    def _later(self, found: Found, mine: Row, before: Row, later: NotYet) -> Result:
        """Let go of the claim: what was answered is kept, and the next run goes on behind it."""
        self.later = later
        with database(self._home) as connection:
            if distilled.mine(connection, mine):
                free = replace(
                    mine, tries=before.tries, lease=0.0, next_try=0.0, why="a model is asked, in steps"
                )
                distilled.put(connection, free)
        return self._result(found, LATER)

    def _failed(self, found: Found, mine: Row, why: str) -> Result:
        said = redact(why).text
        with database(self._home) as connection:
            if distilled.mine(connection, mine):
                kept = distilled.row(connection, mine.agent, mine.session)
                row = replace(kept, state=FAILING, outcome=FAILED, why=said, lease=0.0)
                distilled.put(connection, row)
        return self._result(found, FAILED, said)

    def _result(self, found: Found, outcome: str, why: str = "", row: Row | None = None) -> Result:
        entry, file = (row.entry, row.file) if row is not None else ("", "")
        return Result(found.agent, found.id, str(found.path), outcome, why, file, entry)


_ODD = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
_COPIED = "what was said in it is told in the entry of the session that it was copied from, or into"
_EMPTY = "nothing was asked in it"


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"it can't be read: {error.strerror or error}"
    return str(error)
