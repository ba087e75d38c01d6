"""Whether what was sent arrived: seen in the transcript, which holds what the model was given.

A client writes a context with the turn that it belongs to. So once the model has answered, a text that was taken
stands before the answer; one that doesn't was dropped: because the context had the same text already (held), or for
a reason that somebody should look at (missing). A text that turns up late is confirmed after all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from coffer.agents.delivered import DELIVERED, NEEDLE
from coffer.agents.table import AGENTS
from coffer.core.chain import seconds
from coffer.core.record import Record
from coffer.disk.admitted import opened_unlinked
from coffer.disk.places import Places
from coffer.disk.tail_lines import TailLines
from coffer.store.db import database
from coffer.store.deliveries import Delivery, State, in_states, of_transcript, save
from coffer.store.home import Home
from coffer.work.delivery.held import IN_FLIGHT, Holdings, child_file

EARLY = 2.0
"""Seconds that a record may be dated before we noted the answer that it holds."""
_SENT: tuple[State, ...] = ("sent",)
_OPEN: tuple[State, ...] = ("sent", "missing")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a file was looked through; of another file in its place nothing was."""

    file: tuple[int, int] = (0, 0)
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Seen:
    """A delivered text in a transcript. time: of its record, seconds since the epoch."""

    text: str
    time: float
    stamp: str


def confirm(  # noqa: PLR0913  (the last three have a default)
    home: Home,
    holdings: Holdings,
    agent: str,
    transcript: Path,
    child: str = "",
    progress: Progress | None = None,
    *,
    settled: bool = False,
    ended: bool = False,
) -> tuple[Progress, list[Delivery]]:
    """Look through what is new in a context's transcript for our deliveries; those whose state changed are saved.

    settled: the turn is over (Stop), so an answer that is written says all. ended: the session is over, so nothing
    more will be written. Without a database, or with nothing open, nothing is read.
    """
    all_ones = _sent_into(home, str(transcript), child)
    open_ones = [one for one in all_ones if one.state in _OPEN]
    if not open_ones:
        return progress or Progress(), []
    path = child_file(agent, transcript, child)
    seen, now_at, exists = _seen(agent, path, progress or Progress())
    changed = [one for one in _judged(open_ones, _unclaimed(seen, all_ones)) if one.state == "confirmed"]
    left = [one for one in open_ones if one.id not in {other.id for other in changed}]
    if left and not exists:
        changed += [replace(one, state="unverifiable") for one in left if ended and one.state == "sent"]
    elif left:
        holding = holdings.look(agent, path)
        answered, texts = (holding.answered, holding.held.texts) if holding else (0.0, ())
        wait = 0.0 if settled or ended else IN_FLIGHT
        for one in left:
            if one.state == "sent" and answered > one.moment + wait:
                changed.append(replace(one, state="held" if one.text in texts else "missing"))
            elif (
                one.state == "sent" and ended
            ):  # nothing was asked of the model since; a fork has what stands here
                changed.append(replace(one, state="held" if one.text in texts else "unverifiable"))
    if changed:
        with database(home) as connection:
            for one in changed:
                save(connection, one)
    return now_at, changed


def confirm_all(home: Home, places: Places, since: datetime | None = None) -> list[Delivery]:
    """Judge all deliveries that are open, of the last day unless said otherwise; those whose state changed."""
    if not home.database.exists():
        return []
    with database(home, write=False) as connection:
        found = in_states(connection, _SENT, since or datetime.now(UTC) - timedelta(days=1))
    holdings = Holdings(places)
    contexts = dict.fromkeys((one.agent, one.transcript, one.child) for one in found if one.transcript)
    changed: list[Delivery] = []
    for agent, transcript, child in contexts:
        changed += confirm(home, holdings, agent, Path(transcript), child)[1]
    return changed


def _sent_into(home: Home, transcript: str, child: str) -> list[Delivery]:
    if not home.database.exists():
        return []
    with database(home, write=False) as connection:
        return [one for one in of_transcript(connection, transcript, child) if one.text]


def _seen(agent: str, path: Path, progress: Progress) -> tuple[list[Seen], Progress, bool]:
    """The delivered texts in a file's new lines, how far it was read, and whether it is there."""
    with opened_unlinked(path) as descriptor:
        if descriptor is None:
            return [], progress, False
        found = os.fstat(descriptor)
        file = (found.st_dev, found.st_ino)
        start = progress.offset if progress.file == file and progress.offset <= found.st_size else 0
        lines = TailLines(descriptor, start, found.st_size, NEEDLE)
        seen = [
            Seen(text, seconds(record.time) or 0.0, record.time)
            for offset, line in lines
            for record in AGENTS[agent].translate(line, offset)
            if isinstance(record, Record)
            for text in DELIVERED[agent](record, line)
        ]
        return seen, Progress(file, lines.end), True


def _unclaimed(seen: Iterable[Seen], deliveries: Iterable[Delivery]) -> list[Seen]:
    """Without what confirmed another delivery before: a daemon that has just started reads from the beginning."""
    left = list(seen)
    for one in deliveries:
        if one.state == "confirmed":
            own = next((at for at in left if at.stamp == one.seen and one.text in at.text), None)
            if own is not None:
                left.remove(own)
    return left


def _judged(deliveries: Iterable[Delivery], seen: Iterable[Seen]) -> list[Delivery]:
    """The deliveries, those of them confirmed that have a text in the transcript which is no other one's.

    Of several with the same text it is the last one's before it: where all are judged late, one that the client
    dropped, since the context had the same, would else take the text that a compaction brought back.
    """
    judged = {one.id: one for one in deliveries}
    left = list(judged.values())
    for at in seen:
        able = [one for one in left if one.text in at.text and at.time >= one.moment - EARLY]
        before = [one for one in able if one.moment <= at.time]
        for mine in before[-1:] or able[:1]:
            left.remove(mine)
            judged[mine.id] = replace(mine, state="confirmed", seen=at.stamp)
    return list(judged.values())
