"""From bytes to JSON objects with their place, whatever state the bytes are in.

A writer that was killed leaves torn lines, two objects glued into one, runs of NUL, half an emoji. The client
skips what it cannot parse and goes on, so a reader that stops or drops more than the client would lie about
the session (cases 24-26, 29, 30, 36, 52). Nothing here changes a byte: everything is a span.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from coffer.core.loads import DECODER, loads
from coffer.core.record import ALWAYS, LARGE_FILES, SMALL_FILES
from coffer.core.regex import regex

_Line = TypeVar("_Line")
_TOKENS = regex(rb'"(?:[^"\\]|\\.)*"|[{}\[\],]', re.DOTALL)
_ENTRY = regex(rb'\s*("(?:[^"\\]|\\.)*")\s*:\s*(.*)\Z', re.DOTALL)
_RECORD_START = regex(rb'\{"(?:parentUuid|type|uuid|timestamp)"\s*:')
_UUID = regex(rb'"uuid":"([0-9A-Za-z-]{36})')
_UUID_BEFORE_TIME = regex(rb'"uuid":"([0-9A-Za-z-]{36})","timestamp":"')
_PARENT = regex(rb'"parentUuid":"([0-9A-Za-z-]{36})')
_SPACE = b" \t\r\n"

TORN = "torn"
"""The line starts like a record and ends too early: its writer was killed."""
NUL = "nul"
"""NUL bytes, as some file systems leave after a power loss."""
NULL = "null"
"""The JSON value null: up to 5 MiB the client refuses the whole session (2.1.197)."""
FOREIGN = "foreign"
"""Valid JSON that is not an object, or an object without a `type`."""
GARBAGE = "garbage"
"""No JSON at all."""
GLUED = "glued"
"""A torn record with a whole one appended to it: the client reads neither."""
SECOND = "second"
"""What follows the first object on a line: up to 5 MiB the client reads the first only, above it neither."""


class Oddity(Struct, frozen=True, gc=False):
    """A stretch of bytes that is no record. rescue: where a whole record starts inside it, or -1.

    uuid and parent: what the bytes still say of the record that they were. Above 5 MiB the client follows
    parents by such bytes before it parses a line, so a torn record still links its neighbours there.
    """

    kind: str
    start: int
    end: int
    rescue: int = -1
    uuid: str = ""
    parent: str = ""


class Found(Struct, frozen=True, gc=False):
    """One JSON object, re-encoded so that the fast decoder takes it, with its span in the file.

    read: for which files Claude Code reads it (`record.ALWAYS` …). whole: all its texts are valid Unicode.
    """

    start: int
    end: int
    clean: bytes
    read: int
    whole: bool = True


def objects(line: bytes, start: int) -> Iterator[Found | Oddity]:
    """Take a line apart that the fast decoder refused; start is its offset in the file.

    Gives the first object, and as oddities what stands before and behind it.
    """
    body = line.lstrip(b"\0")
    if not body.strip(_SPACE + b"\0"):
        if b"\0" in line:
            yield Oddity(NUL, start, start + len(line))
        return
    padding = len(line) - len(body)
    if padding:
        yield Oddity(NUL, start, start + padding)
    yield from _first(body, start + padding, LARGE_FILES if padding else ALWAYS)


def _first(body: bytes, start: int, read: int) -> Iterator[Found | Oddity]:
    text = body.decode("utf-8", "surrogateescape")
    begin = len(text) - len(text.lstrip(" \t\r\n\ufeff"))
    try:
        value, stop = DECODER.raw_decode(text, begin)
        first, last = start + _bytes(text[:begin]), start + _bytes(text[:stop])
        rest = body[last - start :]
        alone = not rest.strip(_SPACE)
        judged = _judge(value, first, last, SMALL_FILES if read == ALWAYS and not alone else read)
    except RecursionError:
        yield from _deep(body, start, read)
        return
    except ValueError:
        yield _classify(body, start)
        return
    yield judged
    if not alone:
        yield _second(body, start, last + len(rest) - len(rest.lstrip(_SPACE)))


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _judge(value: Any, start: int, end: int, read: int) -> Found | Oddity:
    if value is None:
        return Oddity(NULL, start, end)
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return Oddity(FOREIGN, start, end)
    clean, whole = _encoded(value)
    return Found(start, end, clean, read, whole)


def _encoded(value: Any) -> tuple[bytes, bool]:
    """JSON that any decoder takes, and whether it is exact: lone surrogates become "?"."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode("utf-8"), True
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace"), False


def _second(body: bytes, start: int, behind: int) -> Oddity:
    """What follows the first object of a line; it links its neighbours by the first object's uuid."""
    rescue = _whole_record(body[behind - start :], 0)
    return Oddity(
        SECOND if rescue >= 0 else GARBAGE,
        behind,
        start + len(body),
        behind + rescue if rescue >= 0 else -1,
        *_links(body),
    )


def _classify(rest: bytes, at: int) -> Oddity:
    rescue = _whole_record(rest, 1)
    if rescue >= 0:
        return Oddity(GLUED, at, at + len(rest), at + rescue, *_links(rest))
    kind = TORN if rest.lstrip().startswith(b"{") else GARBAGE
    return Oddity(kind, at, at + len(rest), -1, *_links(rest))


def _whole_record(rest: bytes, since: int) -> int:
    """Where a record begins that is whole to the end of the line, or -1."""
    text = rest.rstrip(_SPACE).decode("latin-1")
    if not text.endswith("}"):
        return -1  # no record ends here, so none of the many that may begin inside is worth a look
    for match in _RECORD_START.finditer(rest, since):
        try:
            value, stop = DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and stop == len(text):
            return match.start()
    return -1


def _links(rest: bytes) -> tuple[str, str]:
    uuid = _UUID_BEFORE_TIME.search(rest) or _UUID.search(rest)
    parent = _PARENT.search(rest)
    return (uuid[1].decode() if uuid else "", parent[1].decode() if parent else "")


_DEEPEST = 200
"""Levels up to which a field is kept of an object that is nested deeper than the parsers go."""


def _deep(line: bytes, start: int, read: int) -> Iterator[Found | Oddity]:
    """An object nested deeper than the parsers go: keep the fields that are not, so that the chain holds."""
    fields: dict[str, Any] = {}
    for entry in elements(line):
        match = _ENTRY.match(entry)
        if match is None:
            yield _classify(line, start)
            return
        if _depth(match[2]) > _DEEPEST:
            continue
        try:
            fields[loads(match[1].decode("utf-8", "replace"))] = loads(
                match[2].decode("utf-8", "surrogateescape")
            )
        except ValueError:
            yield _classify(line, start)
            return
    yield _judge(fields, start, start + len(line.rstrip(_SPACE)), read)


def _depth(value: bytes) -> int:
    """How many brackets stand open at once, outside strings."""
    depth = deepest = 0
    for token in _TOKENS.finditer(value):
        mark = token[0][:1]
        if mark in b"{[":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in b"}]":
            depth -= 1
    return deepest


def fields(line: bytes) -> Iterator[tuple[str, bytes]]:
    """The fields of an object, values as the bytes that stand there, whatever is in them. Raises ValueError."""
    for entry in elements(line):
        match = _ENTRY.match(entry)
        if match is None:
            raise ValueError("no object")
        yield loads(match[1].decode("utf-8", "replace")), match[2].rstrip(_SPACE)


def elements(line: bytes) -> Iterator[bytes]:
    """The texts between the commas of the outermost object or list, found by counting brackets outside strings."""
    depth, since = 0, 0
    for token in _TOKENS.finditer(line):
        mark = token[0][:1]
        if mark in b"{[":
            depth += 1
            since = token.end() if depth == 1 else since
        elif mark in b"}]":
            depth -= 1
            if depth == 0:
                if line[since : token.start()].strip(_SPACE):
                    yield line[since : token.start()]
                return
        elif mark == b"," and depth == 1:
            yield line[since : token.start()]
            since = token.end()


def decoded(found: Found, decoder: msgspec.json.Decoder[_Line]) -> _Line:
    """An object by its schema, without the top-level fields that the schema refuses.

    A field of a foreign shape must not cost the record its place in the chain.
    """
    try:
        return decoder.decode(found.clean)
    except (msgspec.MsgspecError, RecursionError):
        return decoder.decode(_with_valid_fields(found.clean, decoder))


def _with_valid_fields(clean: bytes, decoder: msgspec.json.Decoder[Any]) -> bytes:
    kept: dict[str, Any] = {}
    for name, value in DECODER.decode(clean.decode("utf-8", "replace")).items():
        try:
            decoder.decode(_encoded({"type": "x", name: value})[0])
        except (msgspec.MsgspecError, RecursionError):
            continue
        kept[name] = value
    return _encoded(kept)[0]
