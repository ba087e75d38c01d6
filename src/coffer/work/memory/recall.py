"""Find in the vault what was decided and done: notes and journal, never rules, never a handoff."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial

from coffer.core.meaning import Sign, merged
from coffer.core.recalled import Told
from coffer.core.regex import regex
from coffer.core.search import Term, covered, same, terms_of
from coffer.store.home import Home
from coffer.store.index import Progress
from coffer.store.index_search import Filters, Hit, counted, named, newest, search
from coffer.work.memory import by_meaning
from coffer.work.memory.index_use import ask
from coffer.work.memory.memory_errors import NoSuchNote

MOST = 50
"""Entries of an answer."""
_ID = regex(r"\[?([0-9a-f]{8})\]?")
_FRESH_DAYS = 60.0
_FRESHNESS = 0.1
"""How much more an entry of today counts than an old one that matches as well."""
_DATE = regex(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[t ]\d\d:\d\d(?::\d\d)?z?)?)?)?")
_AGE = regex(r"(\d{1,3})\s*(d|w|m|y)(?:ays?|eeks?|onths?|ears?)?")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was found, the best first. one: the question was the id of this entry. terms: to show where it matches."""

    hits: tuple[Hit, ...]
    terms: tuple[Term, ...] = ()
    one: bool = False


def recall(  # noqa: PLR0913  (what, of what, how much, when, and three about how)
    home: Home,
    question: str,
    filters: Filters,
    limit: int,
    now: datetime,
    *,
    lives: bool = False,
    embeddings: bool = False,
    progress: Progress | None = None,
) -> Recalled:
    """Entries that answer a question in plain words, or the entry of an id.

    lives: as in `index_use.ask`. embeddings: find them by their meaning as well, where that can be
    done. Makes nothing but the index. Raises NoSuchNote for an id, IndexMaking.
    """
    name = _ID.fullmatch(question.strip())
    if name is not None:
        found = ask(home, partial(named, name=name[1], filters=filters), lives=lives, progress=progress)
        if found:
            return Recalled(tuple(found[:1]), one=True)
        if not name[1].isalpha() or question.strip().startswith("["):
            raise NoSuchNote(name[1])
    terms = terms_of(question)
    meant = embeddings and not any(term.required for term in terms)

    def found_in(connection: sqlite3.Connection) -> tuple[Hit, ...]:
        words = _ranked(search(connection, terms, filters), now)
        numbers = [hit.number for hit in words.values()]
        near = by_meaning.near(home, connection, question, filters, numbers, lives=lives) if meant else None
        return tuple(words.values()) if near is None else _together(words, near, terms)

    return Recalled(ask(home, found_in, lives=lives, progress=progress)[:limit], terms)


def newest_of(  # noqa: PLR0913  (as recall)
    home: Home,
    filters: Filters,
    limit: int,
    skip: int = 0,
    *,
    lives: bool = False,
    progress: Progress | None = None,
) -> tuple[list[Hit], int]:
    """The newest entries, and how many there are in all."""

    def both(connection: sqlite3.Connection) -> tuple[list[Hit], int]:
        return newest(connection, filters, limit, skip), counted(connection, filters)

    return ask(home, both, lives=lives, progress=progress)


def told_of(hit: Hit, where: str) -> Told:
    """An entry as it is told. where: as in Told."""
    said = (hit.id, hit.lane, hit.source, hit.agent, hit.session, hit.time, hit.branch, hit.title, hit.text)
    return Told(*said, where)


def day_of(said: str, now: datetime) -> str:
    """A time that a person names, as the beginning of an ISO time: a date, a month, or an age like 3w.

    Raises ValueError.
    """
    word = said.strip().lower()
    if date_said := _DATE.fullmatch(word):
        year, month, day = (int(part or 1) for part in date_said.groups()[:3])
        date(year, month, day)
        return word.upper().replace(" ", "T").removesuffix("Z")
    if word in ("today", "yesterday"):
        return f"{now.astimezone(UTC) - timedelta(days=word == 'yesterday'):%Y-%m-%d}"
    age = _AGE.fullmatch(word)
    if age is None:
        raise ValueError(f"“{said}” is no date (2026-05-03), month (2026-05) or age (3w, 10d, 2m)")
    return f"{now.astimezone(UTC) - timedelta(days=int(age[1]) * _DAYS[age[2]]):%Y-%m-%d}"


def _ranked(hits: Sequence[Hit], now: datetime) -> dict[str, Hit]:
    """By words, and by age where that makes no difference; by what is the same for texts that say the same."""
    ordered = sorted(
        hits, key=lambda hit: hit.score * (1 + _FRESHNESS * _freshness(hit.time, now)), reverse=True
    )
    best: dict[str, Hit] = {}
    for hit in ordered:  # at the place of the best of those that say the same
        best.setdefault(same(hit.text), hit)
    return best


def _together(words: Mapping[str, Hit], near: by_meaning.Near, terms: Sequence[Term]) -> tuple[Hit, ...]:
    """Those found by words and those found by meaning in one order, a text that stands twice once."""
    numbers = {hit.number for hit in words.values()}
    new = {same(hit.text): hit for hit in near.hits if hit.number not in numbers}
    others = [hit for text, hit in new.items() if text not in words]
    signs = [
        *(
            Sign(place, covered(hit.text, terms), near.likeness.get(hit.number, 0.0))
            for place, hit in enumerate(words.values())
        ),
        *(Sign(None, 0.0, near.likeness[hit.number]) for hit in others),
    ]
    both = [*words.values(), *others]
    return tuple(both[at] for at in merged(signs))


def _freshness(time: str, now: datetime) -> float:
    """1 of the present, less the older: half after some weeks."""
    try:
        then = datetime.fromisoformat(time)
    except ValueError:
        return 0.0
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return math.exp(-max(0.0, (now - then).total_seconds()) / 86_400 / _FRESH_DAYS)
