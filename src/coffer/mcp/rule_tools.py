"""The tools for rules and for pruned content: propose_rule, restore."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from coffer.errors import Busy, FileMoved, PrunedContentMissing, RestoreAmbiguous, RestoreNotFound
from coffer.mcp.caller import Caller, House
from coffer.mcp.tool import Advice, Answer, Tool
from coffer.work.pruning.own_content import page_of, restore_own
from coffer.work.rules.propose import LONGEST, Said, propose
from coffer.work.rules.rule_errors import NothingToChange, RuleRefused, TicketInvalid
from coffer.work.rules.shelf import Shelf
from coffer.work.settings import load

LARGEST_IMAGES = 1_000_000
"""Bytes of images in one answer; larger ones are only named."""


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


def _shelf(house: House) -> Shelf:
    return Shelf(house.home, house.user, load(house.home).digest, house.now())


_OF_PROPOSING: tuple[Advice, ...] = (
    (TicketInvalid, "Do not make one up and do not try again: go on with your work."),
    (NothingToChange, "There is nothing more to do: go on with your work."),
    (RuleRefused, "The ticket is still good: call propose_rule again with one plain sentence."),
    (Busy, "The ticket is still good: call again in a few seconds."),
    (FileMoved, "The ticket is still good: call again."),
)
_OF_RESTORING: tuple[Advice, ...] = (
    (RestoreAmbiguous, "Call restore with the whole ID."),
    (
        RestoreNotFound,
        "Only content of this project is given out. Look at the line again, or read the file anew.",
    ),
    (PrunedContentMissing, "Get it another way: read the file or run the command again."),
)

RULE_TOOLS = (
    Tool(
        "propose_rule",
        "Propose a rule",
        "Word the standing rule behind a correction of the person's. Only with a ticket, which a message hands you "
        "right after the correction; each is good once. The rule waits until the person accepts it.",
        Proposed,
        propose_rule,
        advice=_OF_PROPOSING,
    ),
    Tool(
        "restore",
        "Bring back removed content",
        "Return content that Coffer took out of a session of this project, by the ID in the line that stands in its "
        "place: `[coffer: …; coffer restore ID]`. Long texts come in pages.",
        Wanted,
        restore,
        reads=True,
        advice=_OF_RESTORING,
    ),
)
