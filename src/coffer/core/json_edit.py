"""Edits of a JSON file that somebody else keeps: only the spans that change are replaced.

A settings file is written by hand and by other programs. Reading it into values and writing those back would lose
its indentation, its order, its escapes and what it repeats; so the text is read into spans, and every edit is a
piece of the original text that gives way to another. What stands elsewhere is carried byte for byte.

Strict on purpose: a text that is not sound JSON (comments, a key twice) is refused, since nobody knows what its
owner's program makes of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from coffer.core.regex import regex

DEEPEST = 200
"""Levels. The reader calls itself; a file that nests deeper is no settings file."""
BOM = "\ufeff"

_BLANK = regex(r"[ \t\n\r]*")
_STRING = regex(
    r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"',
)
_NUMBER = regex(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LITERAL = regex(r"true|false|null")
_LITERALS = {"true": True, "false": False, "null": None}


class JsonRefused(Exception):
    """A text that is not sound JSON. line: from 1. reason: a clause."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(slots=True)
class Node:
    """A value and where it stands. value: of a string, a literal; a number's own text."""

    kind: str
    start: int
    end: int
    value: Any = None
    members: list[Member] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)

    def get(self, key: str) -> Node | None:
        """The value of a member of this object."""
        return next((member.value for member in self.members if member.key == key), None)

    @property
    def parts(self) -> list[tuple[int, int]]:
        """Where the members or items stand, each with its key."""
        return [(member.start, member.value.end) for member in self.members] or [
            (item.start, item.end) for item in self.items
        ]


@dataclass(slots=True)
class Member:
    """A key of an object, and its value. start: of the key."""

    key: str
    start: int
    key_end: int
    value: Node


def parse(text: str) -> Node:
    """The value of a text, with spans. Raises JsonRefused. A byte order mark in front is passed over."""
    reader = _Reader(text)
    at = reader.blank(len(BOM) if text.startswith(BOM) else 0)
    node = reader.value(at, 0)
    if (end := reader.blank(node.end)) != len(text):
        reader.refuse(end, "there is more after the end of the JSON")
    return node


def plain(node: Node) -> Any:
    """The value itself."""
    if node.kind == "object":
        return {member.key: plain(member.value) for member in node.members}
    if node.kind == "array":
        return [plain(item) for item in node.items]
    if node.kind == "number":
        return _number(node.value)
    return node.value


def _number(text: str) -> Any:
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text  # more digits than Python reads: equal to nothing of ours


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def refuse(self, at: int, reason: str) -> None:
        line = self.text.count("\n", 0, at) + 1
        if self.text.startswith(("//", "/*"), at):
            reason = "there is a comment, which JSON does not have"
        elif at >= len(self.text):
            reason = "it ends too early"
        raise JsonRefused(line, reason)

    def blank(self, at: int) -> int:
        found = _BLANK.match(self.text, at)
        return found.end() if found else at

    def value(self, at: int, depth: int) -> Node:
        if depth > DEEPEST:
            self.refuse(at, f"it is nested deeper than {DEEPEST} levels")
        sign = self.text[at : at + 1]
        if sign == "{":
            return self._object(at, depth)
        if sign == "[":
            return self._array(at, depth)
        if sign == '"':
            end = self._string(at)
            return Node("string", at, end, json.loads(self.text[at:end]))
        if found := _LITERAL.match(self.text, at):
            return Node("literal", at, found.end(), _LITERALS[found[0]])
        if found := _NUMBER.match(self.text, at):
            return Node("number", at, found.end(), found[0])
        self.refuse(at, "this is no JSON")
        raise AssertionError

    def _string(self, at: int) -> int:
        found = _STRING.match(self.text, at)
        if not found:
            self.refuse(at, "a text in quotes does not end, or holds what JSON does not allow")
            raise AssertionError
        return found.end()

    def _object(self, at: int, depth: int) -> Node:
        node = Node("object", at, at)
        known: set[str] = set()
        here = self.blank(at + 1)
        more = self.text[here : here + 1] != "}"
        while more:
            if self.text[here : here + 1] != '"':
                self.refuse(here, "a key in quotes should stand here")
            key_end = self._string(here)
            key = json.loads(self.text[here:key_end])
            if key in known:
                self.refuse(here, f"the key {json.dumps(key)} stands twice in one object")
            known.add(key)
            colon = self.blank(key_end)
            if self.text[colon : colon + 1] != ":":
                self.refuse(colon, "a colon should stand here")
            value = self.value(self.blank(colon + 1), depth + 1)
            node.members.append(Member(key, here, key_end, value))
            here, more = self._next(value.end, "}")
        node.end = here + 1
        return node

    def _array(self, at: int, depth: int) -> Node:
        node = Node("array", at, at)
        here = self.blank(at + 1)
        more = self.text[here : here + 1] != "]"
        while more:
            item = self.value(here, depth + 1)
            node.items.append(item)
            here, more = self._next(item.end, "]")
        node.end = here + 1
        return node

    def _next(self, at: int, bracket: str) -> tuple[int, bool]:
        """Where the next part stands, behind a part that ended at `at`; or the bracket, and False."""
        here = self.blank(at)
        sign = self.text[here : here + 1]
        if sign == bracket:
            return here, False
        if sign != ",":
            self.refuse(here, f"a comma or {bracket} should stand here")
        here = self.blank(here + 1)
        if self.text[here : here + 1] == bracket:
            self.refuse(here, f"there is a comma before {bracket}")
        return here, True


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of the text that gives way to another."""

    start: int
    end: int
    new: str


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with its edits made. They must not overlap."""
    pieces, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        assert edit.start >= at
        pieces += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join([*pieces, text[at:]])


@dataclass(frozen=True, slots=True)
class Layout:
    """How a text is written, so that what is added looks like the rest of it."""

    text: str
    newline: str
    unit: str
    colon: str
    comma: str

    @classmethod
    def of(cls, text: str, root: Node) -> Layout:
        """From the root's first members; two blanks and one member a line where there is nothing to go by."""
        newline = "\r\n" if "\n" in text and text[: text.index("\n") + 1].endswith("\r\n") else "\n"
        unit, colon = "  ", ": "
        if root.members:
            first = root.members[0]
            indent = cls(text, newline, unit, colon, ", ").indent(root)
            unit = indent or unit
            between = text[first.key_end : first.value.start]
            colon = ": " if "\n" in between or "\r" in between else between
        return cls(text, newline, unit, colon, ", " if colon.endswith((" ", "\t")) else ",")

    def indent(self, node: Node) -> str | None:
        """What stands before each part of an object or array on its own line; None where it has no own line."""
        for start, _ in node.parts[:1]:
            before = self.text[node.start + 1 : start]
            return re.split(r"[\r\n]", before)[-1] if "\n" in before or "\r" in before else None
        return None

    def write(self, value: Any, indent: str | None) -> str:
        """A value as it would stand there. indent: of its line; None: all on one line."""
        if indent is None:
            return json.dumps(value, ensure_ascii=False, separators=(self.comma, self.colon))
        text = json.dumps(value, ensure_ascii=False, indent=self.unit, separators=(",", self.colon))
        return text.replace("\n", self.newline + indent)

    def key(self, key: str) -> str:
        """A key with its colon."""
        return json.dumps(key, ensure_ascii=False) + self.colon


def inner(text: str, node: Node) -> str:
    """What stands between the brackets of an empty object or array."""
    return text[node.start + 1 : node.end - 1]


def append(layout: Layout, node: Node, values: Sequence[tuple[str | None, Any]], base: str | None) -> Edit:
    """Put parts behind the last one of an object (key, value) or an array (None, value).

    base: the indent of the line on which the object or array begins, None where it is part of a line; it counts
    where that is empty. Taking the parts out again with `without` gives the same text back, but for what stood
    between the brackets of an empty one.
    """
    parts = node.parts
    indent = layout.indent(node) if parts else None if base is None else base + layout.unit
    written = [
        (layout.key(key) if key is not None else "") + layout.write(value, indent) for key, value in values
    ]
    if not parts:
        line = layout.newline
        body = (
            layout.comma.join(written)
            if indent is None
            else "".join([line, indent, ("," + line + indent).join(written), line, base or ""])
        )
        return Edit(node.start + 1, node.end - 1, body)
    comma = layout.comma if indent is None else "," + layout.newline + indent
    end = parts[-1][1]
    return Edit(end, end, "".join(comma + one for one in written))


def without(node: Node, gone: set[int], blank: str = "") -> list[Edit]:
    """Take the parts at these places out, each with one comma. blank: what is left between the brackets of none."""
    parts = node.parts
    if not gone:
        return []
    if len(gone) == len(parts):
        return [Edit(node.start + 1, node.end - 1, blank)]
    edits, last = [], len(parts) - 1
    at = 0
    while at <= last:
        if at not in gone:
            at += 1
            continue
        end = at
        while end + 1 in gone:
            end += 1
        if end == last:
            edits.append(Edit(parts[at - 1][1], parts[end][1], ""))
        else:
            edits.append(Edit(parts[at][0], parts[end + 1][0], ""))
        at = end + 1
    return edits


def base_of(layout: Layout, parent: Node | None, node: Node) -> str | None:
    """The indent of the line on which an object or array begins; None where all is on one line.

    parent: what it is part of, None for the root.
    """
    if parent is None or node.parts or "\n" in inner(layout.text, node):
        begin = max(layout.text.rfind("\n", 0, node.start), layout.text.rfind("\r", 0, node.start)) + 1
        found = re.compile(r"[ \t]*").match(layout.text, begin)
        return found[0] if found else ""
    return layout.indent(parent)
