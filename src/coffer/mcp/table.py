"""The tools that agents may call: name, what it takes, what does the work. A tool is a row of TABLE.

No row has its session or project from its arguments: they come from the caller. What is said to an agent when
something fails tells it what to do next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from coffer.errors import (
    Busy,
    CofferError,
    FileMoved,
    PrunedContentMissing,
    RestoreAmbiguous,
    RestoreNotFound,
)
from coffer.mcp.caller import Caller, House
from coffer.work.own_content import page_of, restore_own
from coffer.work.propose import LONGEST, Said, propose
from coffer.work.rule_errors import NothingToChange, RuleRefused, TicketInvalid
from coffer.work.settings import load
from coffer.work.shelf import Shelf

INSTRUCTIONS = (
    "Coffer keeps the person's standing rules, and what was taken out of long sessions. "
    "A line `[coffer: …; coffer restore ID]` stands where content was: call `restore` with that ID when you need it. "
    "Call `propose_rule` only when a message hands you a ticket for it."
)
LARGEST_IMAGES = 1_000_000
"""Bytes of images in one answer; larger ones are only named."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says. failed: it did not do what it was asked for, and the text says what to do."""

    text: str
    images: tuple[bytes, ...] = ()
    failed: bool = False


class Proposed(Struct):
    """Arguments of propose_rule."""

    ticket: Annotated[
        str, Meta(max_length=64, description="The one-time ticket that you were handed, as it is.")
    ]
    prohibition: Annotated[
        str,
        Meta(
            min_length=3,
            max_length=LONGEST,
            description="The rule in one sentence, in the language of the person: what not to do, and what to do "
            "instead. Keep its direction: “always use uv” stays “always use uv”.",
        ),
    ]
    before: Annotated[str, Meta(max_length=LONGEST, description="What you did, in a few words.")] = ""
    after: Annotated[str, Meta(max_length=LONGEST, description="What the person wants instead.")] = ""
    scope: Annotated[
        str, Meta(max_length=40, description="What it is about: git operations, testing, file operations, …")
    ] = ""
    persistence: Annotated[
        Literal["session", "persistent"],
        Meta(description="session: holds in this project. persistent: holds everywhere."),
    ] = "session"


class Wanted(Struct):
    """Arguments of restore."""

    id: Annotated[
        str, Meta(min_length=4, max_length=64, description="The ID in the line that stands in its place.")
    ]
    offset: Annotated[int, Meta(ge=0, description="Character to begin at, to read on in a long text.")] = 0


@dataclass(frozen=True, slots=True)
class Tool:
    """A row. takes: a struct whose fields are the arguments; reads: it changes nothing."""

    name: str
    title: str
    description: str
    takes: type[Struct]
    work: Callable[[Any, Caller, House], Answer]
    reads: bool = False

    def schema(self) -> dict[str, Any]:
        """What it takes, as JSON Schema."""
        _, parts = msgspec.json.schema_components([self.takes])
        found = dict(parts[self.takes.__name__])
        return {key: value for key, value in found.items() if key not in ("title", "description")}


def propose_rule(said: Proposed, _: Caller, house: House) -> Answer:
    """Word the rule of one human turn, which its ticket names; it waits for the person."""
    shelf = _shelf(house)
    words = Said(said.prohibition, said.before, said.after, said.scope, said.persistence)
    rule = propose(said.ticket, words, shelf).rule
    if rule.text != said.prohibition and not rule.proposed:
        return Answer(f"Rule {rule.id} says so already: “{rule.text}” This turn was counted for it.")
    if rule.state == "active":
        return Answer(f"Rule {rule.id} is active already: “{rule.text}” This turn was counted for it.")
    return Answer(
        f"Proposed as {rule.id}: “{rule.text}” It holds once the person has accepted it "
        "(`coffer digest inbox`). Go on with your work; there is nothing more to do."
    )


def restore(wanted: Wanted, caller: Caller, house: House) -> Answer:
    """Bring back content that was pruned from a session of the caller's project."""
    found = restore_own(house.home, wanted.id.strip().lower(), caller.folder, _shelf(house).project)
    text = found.text.encode("utf-8", "replace").decode("utf-8")
    page = page_of(text, wanted.offset)
    said = [page.text]
    if page.more or page.start:
        on = f" Read on with offset={page.end}." if page.more else ""
        said.append(f"[characters {page.start} to {page.end} of {page.total}.{on}]")
    images = found.images if not page.start else []
    fitting = tuple(images) if sum(map(len, images)) <= LARGEST_IMAGES else ()
    if len(fitting) < len(images):
        said.append(
            f"[{len(images)} images are too large for an answer; the person gets the first with "
            f"`coffer restore {wanted.id} --out FILE`.]"
        )
    return Answer("\n".join(part for part in said if part) or "[it was empty]", fitting)


TABLE = (
    Tool(
        "propose_rule",
        "Propose a rule",
        "Word the standing rule behind a correction of the person's. Only with a ticket, which a message hands you "
        "right after the correction; each is good once. The rule waits until the person accepts it.",
        Proposed,
        propose_rule,
    ),
    Tool(
        "restore",
        "Bring back removed content",
        "Return content that Coffer took out of a session of this project, by the ID in the line that stands in its "
        "place: `[coffer: …; coffer restore ID]`. Long texts come in pages.",
        Wanted,
        restore,
        reads=True,
    ),
)

ADVICE: tuple[tuple[type[CofferError], str], ...] = (
    (TicketInvalid, "Do not make one up and do not try again: go on with your work."),
    (NothingToChange, "There is nothing more to do: go on with your work."),
    (RuleRefused, "The ticket is still good: call propose_rule again with one plain sentence."),
    (Busy, "The ticket is still good: call again in a few seconds."),
    (FileMoved, "The ticket is still good: call again."),
    (RestoreAmbiguous, "Call restore with the whole ID."),
    (
        RestoreNotFound,
        "Only content of this project is given out. Look at the line again, or read the file anew.",
    ),
    (PrunedContentMissing, "Get it another way: read the file or run the command again."),
)
"""What an agent does about an error; the first that fits. Any other is the person's."""
_FOR_THE_PERSON = "This is nothing that you can mend: tell the person, and go on with your work."


def call(name: str, arguments: Mapping[str, Any] | None, caller: Caller, house: House) -> tuple[Answer, str]:
    """Do what a tool is for; its answer, and one word for the log that holds nothing of what was said."""
    tool = next((row for row in TABLE if row.name == name), None)
    if tool is None:
        known = ", ".join(row.name for row in TABLE)
        return Answer(f"There is no tool of that name; there are {known}.", failed=True), "unknown"
    try:
        taken = msgspec.convert(dict(arguments or {}), tool.takes)
    except msgspec.ValidationError as error:
        return Answer(
            f"Nothing was done: {error}. Mend that and call {name} again.", failed=True
        ), "arguments"
    try:
        return tool.work(taken, caller, house), "done"
    except CofferError as error:
        advice = next((say for kind, say in ADVICE if isinstance(error, kind)), _FOR_THE_PERSON)
        return Answer(f"{error} {advice}", failed=True), type(error).__name__


def _shelf(house: House) -> Shelf:
    return Shelf(house.home, house.user, load(house.home).digest, house.now())
