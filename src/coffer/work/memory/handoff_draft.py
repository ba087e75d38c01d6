"""Draft a handoff from a transcript: at a compaction, at a session's end, and by the sweep for those that told nothing.

It never takes the place of what an agent or a person wrote after the session had begun, nor of a later draft; and a
session in which nothing was made or planned replaces no handoff but a draft.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from coffer.core.chain import seconds
from coffer.core.entry import Entry
from coffer.core.forgotten import unforgotten
from coffer.core.handoff import DETACHED, written
from coffer.core.handoff_draft import draft_of, is_work
from coffer.core.steps import PERSON, Said, Story
from coffer.disk.checkout import commit_at
from coffer.store.db import Receipt
from coffer.store.forgotten import forgotten_of
from coffer.store.home import Home
from coffer.store.project_errors import ProjectNotFound
from coffer.work.memory.handoff import By, Then, current, put_text
from coffer.work.memory.handoff_place import Place, place_of
from coffer.work.memory.story import seat_of, tell

Outcome = Literal["written", "nothing", "kept", "same", "past", "no_project"]
LANE = "handoff"
OLDEST = 14 * 86_400.0
"""Seconds after which nobody goes on with a session: its journal tells of it."""
_LATE = 600.0
"""Seconds after a session's end from which the files on disk no longer say what it left."""


@dataclass(frozen=True, slots=True)
class Drafted:
    """What came of it.

    kept: there is a later handoff, or one that this session may not replace. nothing: nobody asked for anything.
    past: it is long over, or its branch is gone. branch, path: of the handoff, "" and None without a project.
    """

    outcome: Outcome
    branch: str = ""
    path: Path | None = None
    receipt: Receipt | None = None


def draft(
    home: Home, user: Path, transcript: Path, environment: Mapping[str, str], now: datetime | None = None
) -> Drafted:
    """Draft the handoff of a session's branch from its transcript. user: the home folder.

    Raises what reading a transcript raises, Busy, FileMoved, WriteFailed, StoreFailed.
    """
    return draft_story(home, user, tell(transcript, forgotten_of(home)).story, environment, now)


def draft_story(
    home: Home, user: Path, story: Story, environment: Mapping[str, str], now: datetime | None = None
) -> Drafted:
    """The same of a story that was read already."""
    moment = now or datetime.now(UTC)
    story = unforgotten(story, forgotten_of(home), LANE, story.session)
    made = draft_of(story)
    folder, spoken = seat_of(home, story, user)
    if made is None or made.empty or not folder or not (_is_persons(story) or is_work(story)):
        return Drafted("nothing")
    try:
        place = place_of(home, user, Path(folder), environment)
    except ProjectNotFound:
        return Drafted("no_project")
    branch = _branch(place, spoken)
    path = place.file(branch)
    ended = seconds(story.ended) if story.ended else None
    then = min(datetime.fromtimestamp(ended, UTC), moment) if ended is not None else moment
    if moment.timestamp() - then.timestamp() > OLDEST or _is_gone(place, branch):
        return Drafted("past", branch, path)
    there = current(place, branch)
    if there is not None and not _may_replace(there, story, then):
        return Drafted("kept", branch, path)
    text = written(made)
    if there is not None and there.source == "distil" and there.text == text and _is_own(there, story):
        return Drafted("same", branch, path)
    by = By("distil", story.agent, story.session)
    commit = commit_at(place.checkout, branch, then.timestamp()) if place.checkout is not None else ""
    late = moment.timestamp() - then.timestamp() > _LATE
    replaced = put_text(
        place, text, by, moment, branch, Then(then, commit, late, again=_is_own(there, story))
    )
    return Drafted("written", branch, path, replaced.receipt)


def _branch(place: Place, spoken: str) -> str:
    """The branch that the session was on; the one that is checked out where its records do not say."""
    if place.checkout is None:
        return ""
    return spoken or place.branch


def _is_gone(place: Place, branch: str) -> bool:
    """Whether a branch was deleted since; False where git does not say."""
    if place.checkout is None or branch in (place.branch, DETACHED):
        return False
    return (
        not place.git.holds("show-ref", "--verify", "--quiet", f"refs/heads/{branch}")
        and not place.git.failed
    )


def _is_own(there: Entry | None, story: Story) -> bool:
    return (
        there is not None
        and there.source == "distil"
        and bool(story.session)
        and there.session == story.session
    )


def _is_persons(story: Story) -> bool:
    """Whether a person spoke in it: scripts that ask an agent something come and go, and nobody goes on with them."""
    return any(isinstance(one.step, Said) and one.step.by == PERSON for one in story.steps)


def _may_replace(there: Entry, story: Story, ended: datetime) -> bool:
    """Whether a draft of this session may take the place of a handoff."""
    if _is_own(there, story):
        return True
    written_at = seconds(there.time) if there.time else None
    began = seconds(story.started) if story.started else None
    if there.source == "distil":
        return written_at is None or written_at < ended.timestamp()
    if written_at is None or began is None or written_at >= began:
        return False
    return is_work(story) and _is_persons(story)
