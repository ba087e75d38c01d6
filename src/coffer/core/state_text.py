"""A session's state in words for the model: facts of what is there, never an order, within the room that is left.

The rules come first; the state gets what they leave. It is cut only at whole items, the open ones before those that
are done, and says how many were left out. It stands behind the block of the rules and is no part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from coffer.core.block import END
from coffer.core.bundle import LIMITS, Limits, units_of
from coffer.core.digest_text import hidden, one_line
from coffer.core.session_book import FINISHED
from coffer.core.session_state import COMPLETED, SessionState

OPENING = (
    "What the client's own records said of this session at {time}, before its conversation was compacted; the user's "
    "tool Coffer noted it, since a summary does not keep it:"
)
TEAM = "The user's team in this session:"
TASKS = "The session's list of tasks:"
JOBS = "Running in the background:"
HEADINGS = (TEAM, TASKS, JOBS)
HANDOFF = "A handoff of this work is there: coffer__resume shows it."
LEFT_OUT = "Left out for lack of room: {} more."
LONGEST = 200
"""Characters of an agent's words that one item quotes."""
MOST_DONE = 10
"""Items that are done, of each list: the newest. Of more only the number is told."""


@dataclass(frozen=True, slots=True)
class Told:
    """text: "" where there is nothing open to tell of, or no room. left_out: how many items it lacks."""

    text: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class _Item:
    heading: str
    line: str


def told(
    state: SessionState, time: float, *, draft: bool = False, beside: str = "", limits: Limits = LIMITS
) -> Told:
    """The state in words. time: Unix seconds. draft: a handoff is there. beside: what stands before it."""
    first, done = list(_open(state)), list(_done(state))
    if not first:
        return Told()
    opening = OPENING.format(time=f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M} UTC")
    every = [*first, *done]
    room = _Room(limits, beside)
    fits = room.take(opening, LEFT_OUT.format(len(every)), *([HANDOFF] if draft else []))
    kept: list[_Item] = []
    for item in every if fits else ():
        new = not any(other.heading == item.heading for other in kept)
        if room.take(item.line, *([item.heading] if new else [])):
            kept.append(item)
    left_out = len(every) - len(kept)
    return Told(_text(opening, kept, left_out, draft=draft) if kept else "", left_out)


def state_in(delivered: str) -> str:
    """The state that stands behind the rules in a text that was delivered; "" for none."""
    behind = delivered.rpartition(END)[2].lstrip("\n")
    return behind if behind.startswith(OPENING.partition("{")[0]) else ""


class _Room:
    """What is left of the limits. A part costs itself and the blank line before it."""

    def __init__(self, limits: Limits, beside: str) -> None:
        self._bytes, self._units = limits.bytes - len(beside.encode()), limits.units - units_of(beside)

    def take(self, *parts: str) -> bool:
        """Take the room for these together; False where it is too small, and then nothing is taken."""
        size = sum(len(part.encode()) + 2 for part in parts)
        units = sum(units_of(part) + 2 for part in parts)
        if size > self._bytes or units > self._units:
            return False
        self._bytes -= size
        self._units -= units
        return True


def _text(opening: str, items: Sequence[_Item], left_out: int, *, draft: bool) -> str:
    parts = [opening]
    for heading in HEADINGS:
        lines = [item.line for item in items if item.heading == heading]
        if lines:
            parts.append("\n".join([heading, *lines]))
    if left_out:
        parts.append(LEFT_OUT.format(left_out))
    if draft:
        parts.append(HANDOFF)
    return "\n\n".join(parts)


def _open(state: SessionState) -> Iterator[_Item]:
    for mate in state.team:
        if mate.status != FINISHED:
            kind = f"{_quoted(mate.type)}, " if mate.type else ""
            wrote = f", last wrote at {clock(mate.wrote)}: “{_quoted(mate.said)}”" if mate.wrote else ""
            yield _Item(TEAM, f"- {_quoted(mate.name)} ({kind}id {_quoted(mate.id)}): {mate.status}{wrote}")
    for task in state.tasks:
        if task.status != COMPLETED:
            owner = f", owner {_quoted(task.owner)}" if task.owner else ""
            status = _quoted(task.status).replace("_", " ")
            yield _Item(TASKS, f"- #{_quoted(task.id)} {status}{owner}: {_quoted(task.subject)}")
    for job in state.jobs:
        since = f", since {clock(job.since)}" if job.since else ""
        yield _Item(JOBS, f"- {job.kind} {_quoted(job.id)}{since}: {_quoted(job.what)}")


def _done(state: SessionState) -> Iterator[_Item]:
    gone = [f"- {_quoted(mate.name)}: finished" for mate in state.team if mate.status == FINISHED]
    done = [
        f"- #{_quoted(task.id)} completed: {_quoted(task.subject)}"
        for task in state.tasks
        if task.status == COMPLETED
    ]
    for heading, lines, what in ((TEAM, gone, "finished"), (TASKS, done, "completed")):
        older = len(lines) - MOST_DONE
        for line in lines[-MOST_DONE:]:
            yield _Item(heading, line)
        if older > 0:
            yield _Item(heading, f"- and {older} more, {what}")


def clock(time: float | None) -> str:
    """A time of the day for people and models; "" for none."""
    return f"{datetime.fromtimestamp(time, UTC):%H:%M} UTC" if time else ""


def _quoted(words: str) -> str:
    """An agent's words on one line, cut; what could break out of its place is not repeated."""
    line = one_line(words)
    line = line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
    return "(words that can't be repeated here)" if hidden(line) else line
