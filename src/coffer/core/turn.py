"""Human turns: what a person said to an agent, and what the agent had said and done just before.

A turn is what a person typed; texts of clients, hooks, harnesses and programs never are (facts/claude-code §3,
§11; facts/codex §3; cases 124, 125, 136, 176). Each agent's module knows its own records; what both share
stands here. Pasted matter inside a turn is left to `core.classify.spoken`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Protocol

from coffer.core.classify import spoken
from coffer.core.dialect import CONTINUE, INTERRUPTIONS, MARKER
from coffer.core.regex import regex

TYPED, REJECTED, INTERRUPTED = "typed", "rejected", "interrupted"
LONGEST_BEFORE = 1_500
"""Characters of the agent's last text that a turn keeps: its end, where questions and offers stand."""
MOST_ACTIONS = 8
LONGEST_TARGET = 200


@dataclass(frozen=True, slots=True)
class Action:
    """One call of a tool. target: the path or the command that it named, one line, cut; "" for none."""

    tool: str
    target: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person said once.

    id: the same in resumed, forked and copied files and in every re-run. time: ISO 8601 as written, "" for
    none. text: the person's words. before: the end of the agent's last text. actions: the last tools since
    the human turn before, oldest first. reliability: typed; rejected (said with a refused call, which then is
    the last action); interrupted (the first words after an interruption). delivered: rule texts of Coffer's
    bundles that the context held. start, end: the bytes of the line in its file, without the newline.
    echo: equal for the same words said again at the same place of one conversation: after a rewind, or after
    an interruption (case 46). Of two sessions it says nothing: their first words may well be the same.
    """

    id: str
    agent: str
    session: str
    folder: str
    time: str
    text: str
    before: str
    actions: tuple[Action, ...]
    reliability: str
    delivered: tuple[str, ...]
    start: int
    end: int
    echo: str = ""


class Listener(Protocol):
    """Hears the lines of one file, in file order, with or without their newline; start: offset in bytes."""

    @property
    def place(self) -> Place:
        """Behind all that was heard: what the words that come next look back on."""

    @property
    def persons(self) -> bool:
        """Whether the words that come next would be a person's, as far as the file says."""

    def hear(self, line: bytes, start: int) -> list[Turn]:
        """The human turns that this line completes: none nearly always, more than one for glued records."""


def action(tool: str, target: str) -> Action:
    """A call with its target cut to one short line."""
    return Action(tool, " ".join(target[: 2 * LONGEST_TARGET].split())[:LONGEST_TARGET])


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the conversation a record stands: what a turn that follows it looks back on.

    said, echo: the words of the last human turn, normalised, and its echo. fresh: nothing of the agent has
    come since.
    """

    before: str = ""
    actions: tuple[Action, ...] = ()
    interrupted: bool = False
    said: str = ""
    echo: str = ""
    fresh: bool = False

    def heard(self, text: str) -> Place:
        """After a text of the agent."""
        return replace(self, before=text[-LONGEST_BEFORE:], fresh=False)

    def acted(self, done: Action) -> Place:
        """After a call."""
        return replace(self, actions=(*self.actions[1 - MOST_ACTIONS :], done), fresh=False)

    def refused(self, call: Action) -> Place:
        """After a call that the person refused: it is the last action, whichever call came after it."""
        others = tuple(each for each in self.actions if each != call)
        return replace(self, actions=(*others[1 - MOST_ACTIONS :], call))

    def stopped(self) -> Place:
        """After an interruption."""
        return replace(self, interrupted=True)

    def spoke(self, text: str) -> Place:
        """After a human turn with these words."""
        return Place(self.before, said=normal(text), echo=self.echo_of(text), fresh=True)

    def echo_of(self, text: str) -> str:
        """The echo of these words said here."""
        words = normal(text)
        if words == self.said and (self.interrupted or self.fresh):
            return self.echo
        done = "\n".join(f"{each.tool} {each.target}" for each in self.actions)
        return digest(self.before, done, words)


def normal(text: str) -> str:
    """The words without case and spacing, to compare turns by."""
    return " ".join(text.casefold().split())


def digest(*parts: str) -> str:
    """Sixteen hexadecimal digits that stand for these texts, the same on every machine."""
    joined = "\0".join(parts).encode("utf-8", "replace")
    return sha256(joined).hexdigest()[:16]


_REMINDER = regex(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)
_ENVELOPE = regex(r"\s*<([a-z]\w*(?:[-_]\w+)+)(?:\s[^<>]*)?>.*?</\1>", re.DOTALL)
"""An element that only programs write stands at the front: `<ide_opened_file>`, `<ci-monitor-event>`, …"""
_MADE = (
    CONTINUE,
    "The user sent a new message while you were working:",
    "Your task is to create a detailed summary",
    "Implement the following plan:",
    "Another Claude session sent a message:",
)
"""How texts begin that the clients compose (2.1.12 to 2.1.229)."""
_PLACEHOLDERS = regex(
    r"\[Image(?: #\d+|: [^\]\n]*)\]|\[Request interrupted by user[^\]\n]*\]|"
    r"\[coffer: [^\n]*, removed; coffer restore \w+\]"
)
"""What stands for an image, an interruption, and what a prune took out (`core.stub`)."""
_IDE_CONTEXT, _IDE_REQUEST = "# Context from my IDE setup:", "## My request for Codex:"


def own_words(text: str) -> str:
    """What of a record's text the person wrote; "" where none of it is.

    Cut: reminders, elements of programs at the front, what an IDE puts before the request. A text of a
    harness, a slash command with its arguments, an interruption or image mark alone are nobody's words.
    """
    if MARKER in text:
        return ""
    if "<system-reminder>" in text:
        text = _REMINDER.sub("", text)
    if spoken.HARNESS.match(text) or spoken.COMMAND.match(text):
        return ""
    while (envelope := _ENVELOPE.match(text)) is not None:
        text = text[envelope.end() :]
    if text.startswith(_IDE_CONTEXT) and _IDE_REQUEST in text:
        text = text.split(_IDE_REQUEST, 1)[1]
    text = text.strip()
    if text in INTERRUPTIONS or text.startswith(_MADE) or not _PLACEHOLDERS.sub("", text).strip():
        return ""
    return "" if spoken.HARNESS.match(text) else text


_FIRST, _LAST = "[BEHAVIORAL CONTRACT]", "[End of behavioral contract"


def bundle_rules(text: str) -> list[str]:
    """The rule texts of a bundle of Coffer's in this text, without headings and bullets; none without marker."""
    rules: list[str] = []
    for part in text.split(MARKER)[1:]:
        inside = part.partition(_FIRST)[2].partition(_LAST)[0]
        for line in inside.splitlines():
            rule = line.strip()
            if rule and not rule.startswith(("#", "<!--", "**")):
                rules.append(rule.removeprefix("- ").strip())
    return rules
