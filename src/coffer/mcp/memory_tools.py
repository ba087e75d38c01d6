"""The tools for the vault: remember, recall, list_memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from coffer.core.recalled import Told, by_name, listed, told, whole
from coffer.errors import Busy, FileMoved
from coffer.mcp.caller import Caller, House
from coffer.mcp.tool import Advice, Answer, Tool
from coffer.store.index_search import Filters, Hit
from coffer.store.project_errors import ProjectNotFound
from coffer.work.memory import by_meaning
from coffer.work.memory.handoff import By
from coffer.work.memory.memory_errors import IndexMaking, KeptAlready, NoSuchNote, NoteRefused
from coffer.work.memory.recall import day_of, newest_of, recall, told_of
from coffer.work.memory.remember import LONGEST, LONGEST_TITLE, remember
from coffer.work.project.memory_here import Here, here

_LONGEST_QUERY = 500
_Day = Annotated[str, Meta(max_length=20, description="2026-05-03, 2026-05, or an age: 3w, 10d.")]
_Agent = Annotated[
    Literal["claude", "codex"], Meta(description="Only what came from sessions of this agent.")
]


class Note(Struct):
    """Arguments of remember."""

    text: Annotated[
        str,
        Meta(
            min_length=3,
            max_length=LONGEST,
            description="What holds or was decided, and why; for a reader who knows nothing of this session.",
        ),
    ]
    title: Annotated[
        str,
        Meta(
            max_length=LONGEST_TITLE,
            description="What it is about, in words to search for.",
        ),
    ] = ""
    scope: (
        Annotated[
            Literal["project", "global"],
            Meta(description="project (the default): of this project. global: of the person, everywhere."),
        ]
        | UnsetType
    ) = UNSET


class Question(Struct):
    """Arguments of recall."""

    query: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=_LONGEST_QUERY,
            description="What you want to know, in plain words (“quoted”: to the letter), or the id of an entry.",
        ),
    ]
    scope: (
        Annotated[Literal["project", "global"], Meta(description="Only this project, or only global.")]
        | UnsetType
    ) = UNSET
    since: _Day | UnsetType = UNSET
    until: _Day | UnsetType = UNSET
    agent: _Agent | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=20, description="Entries at most.")] = 5


class Listing(Struct):
    """Arguments of list_memory."""

    scope: (
        Annotated[Literal["project", "global"], Meta(description="Only this project, or only global.")]
        | UnsetType
    ) = UNSET
    lane: (
        Annotated[
            Literal["knowledge", "journal"],
            Meta(description="knowledge: notes. journal: what past sessions did."),
        ]
        | UnsetType
    ) = UNSET
    since: _Day | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=40, description="Entries at most.")] = 12
    offset: Annotated[int, Meta(ge=0, le=100_000, description="Entries to pass over, to list on.")] = 0


def keep(note: Note, caller: Caller, house: House) -> Answer:
    """Keep a note of the caller's."""
    place = _here(caller, house)
    by = By("agent", caller.agent, caller.session)
    environment = {**house.environment, "HOME": str(house.user)}
    scope = note.scope or None
    kept = remember(place, note.text, by, house.now(), environment, scope=scope, title=note.title, lives=True)
    into = f"the memory of project {kept.project}" if kept.project else "the global memory"
    why = " (this folder belongs to no project)" if not place.project and scope is None else ""
    count = sum(kept.secrets.values())
    secrets = f" {count} secret{'s' if count > 1 else ''} in it left out." if count else ""
    return Answer(
        f"Kept as {kept.entry.id} in {into}{why}; every agent of the person's can recall it.{secrets}"
    )


def look_up(asked: Question, caller: Caller, house: House) -> Answer:
    """What the vault says to a question."""
    place, now = _here(caller, house), house.now()
    try:
        since, until = (day_of(day, now) if day else "" for day in (asked.since, asked.until))
    except ValueError as error:
        return Answer(f"Nothing was looked up: {error}.", failed=True)
    filters = Filters(place.folders(asked.scope or ""), agent=asked.agent or "", since=since, until=until)
    embeddings = by_meaning.wanted(house.home)
    found = recall(house.home, asked.query, filters, asked.limit, now, lives=True, embeddings=embeddings)
    entries = _told(found.hits, place)
    if found.one:
        return Answer(whole(entries[0], now))
    if not entries:
        narrowed = (
            " Try without the filters." if asked.scope or asked.since or asked.until or asked.agent else ""
        )
        return Answer(
            "Nothing in the vault answers that. Other words may; `list_memory` shows what there is."
            + narrowed
        )
    return Answer(told(entries, found.terms, now))


def listing(asked: Listing, caller: Caller, house: House) -> Answer:
    """The newest entries."""
    place, now = _here(caller, house), house.now()
    try:
        since = day_of(asked.since, now) if asked.since else ""
    except ValueError as error:
        return Answer(f"Nothing was listed: {error}.", failed=True)
    filters = Filters(place.folders(asked.scope or ""), lane=asked.lane or "", since=since)
    hits, total = newest_of(house.home, filters, asked.limit, asked.offset, lives=True)
    if not hits:
        return Answer("Nothing is kept here yet." if not total else f"There are only {total} entries.")
    end = asked.offset + len(hits)
    more = f" Go on with offset={end}." if end < total else ""
    return Answer(f"{listed(_told(hits, place), now)}\n\n{asked.offset + 1} to {end} of {total}.{more}")


def _here(caller: Caller, house: House) -> Here:
    return here(house.home, house.user, Path(caller.folder or "/"))


def _told(hits: Sequence[Hit], place: Here) -> list[Told]:
    where = by_name({hit.folder for hit in hits}, place.project, {})
    return [told_of(hit, where[hit.folder]) for hit in hits]


_ADVICE: tuple[Advice, ...] = (
    (KeptAlready, "There is nothing more to do: go on with your work."),
    (NoteRefused, "Mend that and call remember again, or go on with your work."),
    (ProjectNotFound, "Call again with scope=global where that is meant."),
    (NoSuchNote, "Call recall with words instead."),
    (IndexMaking, "Go on meanwhile, and call again."),
    (Busy, "Call again in a few seconds."),
    (FileMoved, "Call again."),
)

MEMORY_TOOLS = (
    Tool(
        "remember",
        "Remember something",
        "Keep a fact or a decision for later sessions of every agent. Call it right after a decision, when you found "
        "something out the hard way (a cause, a workaround, how to build or run this), and when the person says "
        "“remember” or “for next time”. Not what the code or git says already, and no rules for your behaviour.",
        Note,
        keep,
        advice=_ADVICE,
    ),
    Tool(
        "recall",
        "Recall earlier work",
        "Search what was decided, found out and done in earlier sessions of every agent. Call it before you decide or "
        "debug what may have come up before, before you ask the person what they may have said before, and when they "
        "speak of earlier work (“as we did”, “why did we …”). The answer is a record: check it against the code.",
        Question,
        look_up,
        reads=True,
        advice=_ADVICE,
    ),
    Tool(
        "list_memory",
        "List what is kept",
        "List the newest notes and journal entries by title. Call it when the person asks what you remember or what "
        "happened lately, or when recall finds nothing.",
        Listing,
        listing,
        reads=True,
        advice=_ADVICE,
    ),
)
