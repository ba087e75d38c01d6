"""What happened in a session, step by step, as a journal tells it: words, files, commands, plans, choices.

A step is small whatever it came from: outputs are weighed where they are read and not kept, so that the steps of a
200 MB transcript fit into memory. What stands on a dead branch is no step of the session.
"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct, field

from coffer.core.turn import Turn

PERSON, PROGRAM, AGENT = "person", "program", "agent"
"""Who said something. program: the prompt of `claude -p`, of `codex exec`, of an SDK."""
CREATED, EDITED, DELETED = "created", "edited", "deleted"
LONGEST_SAID = 6_000
"""Characters of one text of the agent's, or of a prompt, that are kept: its beginning."""


class Said(Struct, frozen=True, gc=False):
    """Words. turn: of a person's, with what it answers; None for others. id: of another prompt's record.

    title: they only name what is wanted: a slash command, a plan that was handed over.
    """

    by: str
    text: str
    turn: Turn | None = None
    title: bool = False
    id: str = ""

    @property
    def name(self) -> str:
        """The id of a prompt, the same in every copy of it; "" of the agent's words."""
        return self.turn.id if self.turn is not None else self.id


class Touched(Struct, frozen=True, gc=False):
    """A file that was written. what: created, edited, deleted. added, removed: lines, as far as they are known."""

    path: str
    what: str
    added: int = 0
    removed: int = 0


class Ran(Struct, frozen=True, gc=False):
    """A command that ended. command: without what only looks or filters. check: it tests, lints or builds.

    result: what its output counts ("2 failed, 30 passed"). why: the last line of one that failed.
    """

    command: str
    ok: bool
    check: bool = False
    result: str = ""
    why: str = ""


class Committed(Struct, frozen=True, gc=False):
    """A commit, or a pull request (then sha is "" and subject its address)."""

    sha: str
    subject: str


class Planned(Struct, frozen=True, gc=False):
    """The to-do list as it stands from here on. open: what is neither done nor dropped."""

    open: tuple[str, ...]


class Chose(Struct, frozen=True, gc=False):
    """A choice that the person made where the agent asked. asked "": the agent's plan, and answer names it."""

    asked: str
    answer: str


class Stopped(Struct, frozen=True, gc=False):
    """The person interrupted."""


class Failed(Struct, frozen=True, gc=False):
    """The model could not be asked. text: what the client said."""

    text: str


class Recalled(Struct, frozen=True, gc=False):
    """What came out of Coffer's own memory: it is in the vault already."""

    text: str


Step = Said | Touched | Ran | Committed | Planned | Chose | Stopped | Failed | Recalled


class Happened(Struct, frozen=True, gc=False):
    """A step, when (ISO 8601 as written, "" for none), and where its line begins in the file."""

    step: Step
    time: str
    start: int


class Story(Struct):
    """The steps of a session, in order, and what its records say of it. Times as written, "" for none.

    folders: in which it worked, the last one last, each with how many records. branches: of each, the last one that
    was checked out. origin: of the repository there, as its client wrote it, "" for none. context: tokens of the last
    request and its answer. written: tokens that the model wrote. mark: names the last record, so that the place is
    found again in a rewritten file.
    """

    agent: str
    steps: list[Happened] = field(default_factory=list)
    session: str = ""
    folders: dict[str, int] = field(default_factory=dict)
    branch: str = ""
    model: str = ""
    started: str = ""
    ended: str = ""
    context: int = 0
    written: int = 0
    mark: str = ""
    subagent: bool = False
    origin: str = ""
    branches: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Where it worked last."""
        return next(reversed(self.folders), "")


class Scribe(Protocol):
    """Hears the lines of one file, in file order; start: offset in bytes."""

    def hear(self, line: bytes, start: int) -> list[Turn]:
        """Take in a line; the human turns that it completes."""

    def story(self) -> Story:
        """What was heard, without dead branches."""

    def behind(self, mark: str) -> int:
        """Where the first record begins that comes after the one that a story's mark named, else the file's size."""
