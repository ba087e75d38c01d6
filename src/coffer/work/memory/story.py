"""The story of a transcript, or of what is new in it, in one pass and with bounded memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import msgspec

from coffer.core.forgotten import NOTHING, Forgotten, without
from coffer.core.steps import AGENT, Committed, Happened, Ran, Said, Scribe, Story, Touched
from coffer.core.transcript import About
from coffer.disk.files import open_source, read_lines
from coffer.errors import TranscriptForeign
from coffer.store.home import Home
from coffer.work.project.identity import memory_root
from coffer.work.sessions.read import agent_of


@dataclass(frozen=True, slots=True)
class Told:
    """A whole story. about: what the file's ends say. scribe: who heard it."""

    story: Story
    about: About
    scribe: Scribe


def tell(path: Path, forgotten: Forgotten = NOTHING) -> Told:
    """Read a transcript from its beginning; a torn last line waits for the next time.

    It is read whole also where only its end is new: what a record belongs to, and whether it is on the live branch,
    stands before it. forgotten: what is not to be told again.

    Raises TranscriptMissing, NotAFile, TranscriptEmpty, TranscriptUnreadable, TranscriptForeign.
    """
    with open_source(path) as source:
        agent = agent_of(source)
        if agent is None:
            raise TranscriptForeign(str(path), "no line of it is a record of theirs")
        scribe = agent.scribe()

        def hear(line: bytes, start: int) -> list[None]:
            if line.endswith(b"\n") or _is_whole(line):
                scribe.hear(line, start)
            return []

        for _ in read_lines(source, hear):
            pass
        return Told(without(scribe.story(), forgotten), agent.about(source.head(), source.tail()), scribe)


def _is_whole(line: bytes) -> bool:
    """Whether a last line without its newline is a record all the same, and not one that is being written."""
    try:
        msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


def part(story: Story, since: int, known: frozenset[str] = frozenset()) -> Story:
    """The part of a story from byte `since` on, without what was copied from another session.

    known: ids of prompts that are told elsewhere; a fork begins with copies of its parent's.
    """
    steps = [one for one in story.steps if one.start >= since]
    if since and any(isinstance(one.step, _WORK) for one in steps) and not any(map(_asks, steps)):
        # the agent went on with what it had been asked before
        steps = [*[one for one in story.steps if one.start < since and _asks(one)][-1:], *steps]
    copied = [at for at, one in enumerate(steps) if _turn(one) in known] if known else []
    if copied:
        ahead = range(copied[-1] + 1, len(steps))
        begin = next((at for at in ahead if _asks(steps[at])), len(steps))
        steps = steps[begin:]
    times = [one.time for one in steps if one.time]
    return Story(
        story.agent,
        steps,
        story.session,
        story.folders,
        story.branch,
        story.model,
        min(times) if times and (since or copied) else story.started,
        story.ended,
        story.context,
        story.written,
        story.mark,
        story.subagent,
        story.origin,
        story.branches,
    )


def root_of(home: Home, story: Story, user: Path) -> Path | None:
    """The project with most of a session's records; of two with as many, that of the later one. None without any.

    user: the home folder. A look into another repository at the end moves nothing.
    """
    weights: Counter[Path] = Counter()
    for name, records in reversed(story.folders.items()):
        root = memory_root(home, user, Path(name)) if name.startswith("/") else None
        if root is not None:
            weights[root] += records
    return next((root for root, _ in weights.most_common(1)), None)


def seat_of(home: Home, story: Story, user: Path) -> tuple[str, str]:
    """The folder of that project in which it worked last, and the branch there; without one, the last of all."""
    root = root_of(home, story, user)
    inside = (
        name for name in reversed(story.folders) if root and memory_root(home, user, Path(name)) == root
    )
    folder = next(inside, story.folder)
    return folder, story.branches.get(folder) or story.branch


_WORK = (Said, Touched, Committed, Ran)


def turns(story: Story) -> list[str]:
    """The ids of its prompts."""
    return [name for one in story.steps if (name := _turn(one))]


def _turn(one: Happened) -> str:
    return one.step.name if isinstance(one.step, Said) else ""


def _asks(one: Happened) -> bool:
    return isinstance(one.step, Said) and one.step.by != AGENT
