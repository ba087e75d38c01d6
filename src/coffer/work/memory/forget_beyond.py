"""What Coffer can't take back, named; and what it does so that it does not come back by itself.

The agents' transcripts are theirs: a session that goes on, or is told only later, still holds what was forgotten. So
its words are known again by their hash (core/forgotten), and left out of whatever a program says from now on.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from coffer.core.entry import Entry
from coffer.disk.places import Places
from coffer.disk.sessions import find_sessions
from coffer.store.forgotten import keep_forgotten
from coffer.store.home import Home

LONGEST = 4_000
"""Characters of a note's text that is known again; nobody says a longer one twice to the letter."""


def transcripts_with(environment: Mapping[str, str], words: Sequence[str]) -> Iterator[tuple[Path, int]]:
    """The agents' transcripts that hold one of these words, the newest first, and how often."""
    wanted = [word.encode("utf-8", "surrogatepass") for word in words]
    for found in find_sessions(Places.of(environment)) if wanted else ():
        try:
            with found.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                count = sum(_count(data, word) for word in wanted)
        except (OSError, ValueError):  # it went meanwhile, or is empty, which can't be mapped
            continue
        if count:
            yield found.path, count


def _count(data: mmap.mmap, word: bytes) -> int:
    count, at = 0, data.find(word)
    while at >= 0:
        count += 1
        at = data.find(word, at + len(word))
    return count


def leave_out(home: Home, phrase: str, entries: Sequence[Entry], least: int, now: datetime) -> None:
    """Note what is not to be told again: a phrase, or entries that were forgotten by their id.

    Of a note its text; of what was told of a session, all that was said in it until now, in that lane. least:
    characters of a text from which it is more than a word. Raises ForgottenBroken, WriteFailed, Busy.
    """
    notes = [one.text for one in entries if one.lane == "knowledge" and least <= len(one.text) <= LONGEST]
    until = now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    sessions = {
        f"{one.lane} {one.session}": until
        for one in entries
        if one.session and (one.lane == "handoff" or (one.lane == "journal" and one.source == "distil"))
    }
    phrases = [phrase] if phrase else notes
    if phrases or sessions:
        keep_forgotten(home, phrases, sessions)
