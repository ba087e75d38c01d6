"""Entries of the vault's lanes: a front matter of flat `key: value` lines, and a text of Markdown.

A file holds one or more, one after the other. What begins an entry is a front matter with an `id` of eight hex
digits, whatever stands around it: a text may have rules (`---`), documents with a front matter of their own, and
code fences that never close. At the beginning of a file any front matter is one, since a person may write it
without an id. A new text that holds the beginning of an entry gets a backslash before it, else who words a text
could speak as somebody else.

Rendering what was parsed gives the same text again, whoever wrote it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace
from typing import Literal

from coffer.core.regex import regex

Lane = Literal["rules", "knowledge", "journal", "handoff"]
Source = Literal["person", "agent", "distil"]
LANES: tuple[Lane, ...] = ("rules", "knowledge", "journal", "handoff")
SOURCES: tuple[Source, ...] = ("person", "agent", "distil")
LONGEST_TITLE = 120
"""Characters."""
_KNOWN = ("id", "source", "agent", "session", "time", "branch", "project")
_LINE = r"[A-Za-z][\w-]{0,39}:[^\n]*\n"
_HEAD = regex(rf"---[ \t]*\r?\n((?:{_LINE}){{1,60}})---[ \t]*(?:\r?\n|\Z)")
_ID = regex(r"^id:[ \t]*[0-9a-f]{8}[ \t]*\r?$", re.MULTILINE)
_BEGUN = regex(
    rf"^---(?=[ \t]*\r?\n(?:{_LINE}){{0,59}}?id:[ \t]*[0-9a-f]{{8}}[ \t]*\r?(?:\n|\Z))", re.MULTILINE
)
_START = regex(r"\ufeff?(?:[ \t]*\r?\n)*")
_BEFORE_TEXT = regex(r"(?:[ \t]*\r?\n)*")


@dataclass(frozen=True, slots=True)
class _Read:
    """How an entry's front matter stood in its file, and what it said."""

    head: str
    said: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in a lane.

    id: eight hex digits; of an entry that has none in its file, made of its text. time: UTC, ISO 8601 with Z, or a
    date where only that is known. more: keys that Coffer does not know, in their order. Empty is unknown.
    """

    lane: Lane
    text: str
    id: str = ""
    source: Source = "person"
    agent: str = ""
    session: str = ""
    time: str = ""
    branch: str = ""
    project: str = ""
    more: tuple[tuple[str, str], ...] = ()
    after: str = field(default="\n", compare=False, repr=False)
    read: _Read | None = field(default=None, compare=False, repr=False)

    @property
    def said(self) -> tuple[object, ...]:
        """What its front matter says."""
        return (
            self.id,
            self.source,
            self.agent,
            self.session,
            self.time,
            self.branch,
            self.project,
            self.more,
        )


def made(  # noqa: PLR0913  (the fields of a front matter)
    lane: Lane,
    text: str,
    *,
    source: Source,
    time: str,
    agent: str = "",
    session: str = "",
    branch: str = "",
    project: str = "",
    more: tuple[tuple[str, str], ...] = (),
) -> Entry:
    """A new entry, with an id of its own and a text that can't be taken for more than one entry."""
    said = harmless(text)
    entry = Entry(lane, said, "", source, agent, session, time, branch, project, more)
    return replace(entry, id=_hash(lane, said, time, session, source))


def harmless(text: str) -> str:
    """A text as it may stand in an entry: line feeds only, no blank lines around it, no other entry's beginning."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    return _BEGUN.sub(r"\---", plain.lstrip("\n").rstrip())


def entries_of(text: str, lane: Lane, dated: str = "") -> list[Entry]:
    """The entries of a file, in its order. dated: the time of those that say none.

    Text before the first front matter is the person's. An empty file, or one of white space, has no entry.
    """
    heads = list(_heads(text))
    if not text.strip("\ufeff \t\r\n"):
        return []
    if not heads or text[: heads[0][0]].strip("\ufeff \t\r\n"):
        heads.insert(0, (0, 0))
    ends = [start for start, _ in heads[1:]] + [len(text)]
    starts = [0, *(start for start, _ in heads[1:])]
    return [
        _entry(text[start : head[1]], text[head[1] : end], lane, dated)
        for start, head, end in zip(starts, heads, ends, strict=True)
    ]


def count_of(text: str) -> int:
    """How many entries a file has: as many as `entries_of` gives, without making them."""
    if not text.strip("\ufeff \t\r\n"):
        return 0
    heads = list(_heads(text))
    return len(heads) + int(not heads or bool(text[: heads[0][0]].strip("\ufeff \t\r\n")))


def rendered(entry: Entry) -> str:
    """An entry as it stands in a file: to the letter as it was read, as far as it was not changed."""
    if entry.read is not None and entry.read.said == entry.said:
        return entry.read.head + entry.text + entry.after
    values = zip(_KNOWN, entry.said, strict=False)
    pairs = [(key, str(value)) for key, value in values if value] + list(entry.more)
    lines = "".join(f"{key}: {' '.join(value.split())}\n" for key, value in pairs)
    return f"---\n{lines}---\n{entry.text}{entry.after}"


def joined(text: str, entry: Entry) -> str:
    """A file's text with one more entry at its end, a blank line before it."""
    if text in ("", "\ufeff"):
        return text + rendered(entry)
    entry = complete(entry)  # a note without a front matter would become part of the entry before it
    if text.endswith(("\n\n", "\n\r\n")):
        return text + rendered(entry)
    between = "\n" if text.endswith("\n") else "\n\n"
    return text + between + rendered(entry)


def complete(entry: Entry) -> Entry:
    """The same, saying for itself what its place in its file or the file's name said, so that it can be moved."""
    if entry.read is None:
        return entry
    told = _BEGUN.match(entry.read.head) and (
        not entry.time or re.search(r"^time:", entry.read.head, re.MULTILINE)
    )
    return entry if told else replace(entry, read=None)


def without(text: str, entry: Entry) -> str:
    """A file's text without an entry of this id and text; as it is where that is not there."""
    kept = entries_of(text, entry.lane)
    for at, one in enumerate(kept):
        if (one.id, one.text) == (entry.id, entry.text):
            left = "".join(rendered(other) for other in kept[:at] + kept[at + 1 :])
            return left[:-1] if at and at == len(kept) - 1 and left.endswith("\n\n") else left
    return text


def title(entry: Entry) -> str:
    """Its first heading or line, without Markdown's signs; "" of an empty text."""
    for line in entry.text.splitlines():
        said = re.sub(r"^\s*(?:#{1,6}\s+|[-*+>]\s+|`{3,}.*|-{3,}$)", "", line).strip(" #*_\t")
        if said:
            return said if len(said) <= LONGEST_TITLE else said[: LONGEST_TITLE - 1].rstrip() + "…"
    return ""


def _heads(text: str) -> list[tuple[int, int]]:
    """Where each front matter begins and ends."""
    found: list[tuple[int, int]] = []
    start = _START.match(text)
    assert start is not None
    place = start.end()
    first = _HEAD.match(text, place)
    if first is not None:
        found.append(first.span())
        place = first.end()
    # a plain search for the line's beginning, since a pattern looks at every line of the vault
    while (line := text.find("\n---", max(0, place - 1))) >= 0:
        head = _HEAD.match(text, line + 1)
        if head is not None and _ID.search(head[1]) is not None:
            found.append(head.span())
            place = head.end()
        else:
            place = line + len("\n---")
    return found


def _entry(head: str, body: str, lane: Lane, dated: str) -> Entry:
    before = _BEFORE_TEXT.match(body)
    assert before is not None
    text = body[before.end() :].rstrip()
    after = body[before.end() + len(text) :]
    told: dict[str, str] = {}
    more: list[tuple[str, str]] = []
    for line in head.strip("\ufeff \t\r\n").split("\n")[1:-1]:
        key, _, value = line.partition(":")
        if key in _KNOWN and key not in told:
            told[key] = value.strip()
        else:
            more.append((key, value.strip()))
    source = told.get("source") or "person"
    entry = Entry(
        lane,
        text,
        told.get("id") or _hash(lane, text),
        _SOURCES.get(source, "agent"),  # whoever wrote that: what the person says needs no word for it
        told.get("agent", ""),
        told.get("session", ""),
        told.get("time") or dated,
        told.get("branch", ""),
        told.get("project", ""),
        tuple(more),
        after,
    )
    return replace(entry, read=_Read(head + before[0], entry.said))


_SOURCES: dict[str, Source] = {source: source for source in SOURCES}


def _hash(*said: str) -> str:
    text = "\0".join(said).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:8]
