"""From bytes to JSON objects with their place, whatever state the bytes are in.

A writer that was killed leaves torn lines, two objects glued into one, runs of NUL, half an emoji. The client
skips what it cannot parse and goes on, so a reader that stops or drops more than the client would lie about
the session (cases 24-26, 29, 30, 36, 52). Nothing here changes a byte: everything is a span.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],]', re.DOTALL)
_ENTRY = re.compile(rb'\s*("(?:[^"\\]|\\.)*")\s*:\s*(.*)\Z', re.DOTALL)
_RECORD_START = re.compile(rb'\{"(?:parentUuid|type|uuid|timestamp)"\s*:')
_SPACE = b" \t\r\n"

TORN = "torn"
"""The line starts like a record and ends too early: its writer was killed."""
NUL = "nul"
"""The line is NUL bytes only, as some file systems leave after a power loss."""
FOREIGN = "foreign"
"""Valid JSON that is not an object, or an object without a `type`."""
GARBAGE = "garbage"
"""No JSON at all."""
GLUED = "glued"
"""A torn record with a whole one appended to it: the client loses both."""


class Oddity(Struct, frozen=True, gc=False):
    """A stretch of bytes that is no record. rescue: where a whole record starts inside it, or -1."""

    kind: str
    start: int
    end: int
    rescue: int = -1


class Found(Struct, frozen=True, gc=False):
    """One JSON object, re-encoded so that the fast decoder takes it, with its span in the file."""

    start: int
    end: int
    clean: bytes


def objects(line: bytes, start: int) -> Iterator[Found | Oddity]:
    """Take a line apart that the fast decoder refused; start is its offset in the file.

    Yields the objects before the first byte that is no JSON, as the client's parser does, then what is wrong
    with the rest.
    """
    lead = len(line) - len(line.lstrip(b"\0" + _SPACE))
    if lead == len(line):
        if line.strip(_SPACE):
            yield Oddity(NUL, start, start + len(line))
        return
    text = line.decode("utf-8", "surrogateescape")
    decoder = json.JSONDecoder()
    position = len(text) - len(text.lstrip(" \t\r\n\ufeff"))
    while position < len(text):
        try:
            value, stop = decoder.raw_decode(text, position)
        except RecursionError:
            yield from _deep(line, start)
            return
        except ValueError:
            at = start + len(text[:position].encode("utf-8", "surrogateescape"))
            yield _classify(line[at - start :], at)
            return
        first = start + len(text[:position].encode("utf-8", "surrogateescape"))
        last = start + len(text[:stop].encode("utf-8", "surrogateescape"))
        yield _judge(value, first, last)
        rest = text[stop:]
        position = stop + len(rest) - len(rest.lstrip(" \t\r\n"))


def _judge(value: Any, start: int, end: int) -> Found | Oddity:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return Oddity(FOREIGN, start, end)
    return Found(start, end, _encode(value))


def _encode(value: Any) -> bytes:
    """JSON that any decoder takes: lone surrogates become "?", which changes no size that matters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _classify(rest: bytes, at: int) -> Oddity:
    end = at + len(rest)
    inner = [match.start() for match in _RECORD_START.finditer(rest, 1)]
    for offset in inner:
        try:
            value = json.loads(rest[offset:].decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return Oddity(GLUED, at, end, at + offset)
    kind = TORN if rest.lstrip().startswith(b"{") else GARBAGE
    return Oddity(kind, at, end)


def _deep(line: bytes, start: int) -> Iterator[Found | Oddity]:
    """An object nested deeper than the parsers go: keep the fields that are not, so that the chain holds."""
    fields: dict[str, Any] = {}
    for entry in _entries(line):
        match = _ENTRY.match(entry)
        if match is None:
            yield _classify(line, start)
            return
        try:
            name = json.loads(match[1])
            fields[name] = json.loads(match[2].decode("utf-8", "replace"))
        except RecursionError:
            continue
        except ValueError:
            yield _classify(line, start)
            return
    yield _judge(fields, start, start + len(line))


def _entries(line: bytes) -> Iterator[bytes]:
    """The `"name": value` texts of the outermost object, found by counting brackets outside strings."""
    depth, since = 0, line.find(b"{") + 1
    for token in _TOKENS.finditer(line):
        mark = token[0][:1]
        if mark in b"{[":
            depth += 1
        elif mark in b"}]":
            depth -= 1
            if depth == 0:
                yield line[since : token.start()]
                return
        elif mark == b"," and depth == 1:
            yield line[since : token.start()]
            since = token.end()


def keep_valid_fields(clean: bytes, decoder: msgspec.json.Decoder[Any]) -> bytes:
    """The object without the top-level fields that the decoder's schema refuses.

    A field of a foreign shape must not cost the record its place in the chain.
    """
    kept: dict[str, Any] = {}
    for name, value in json.loads(clean).items():
        try:
            decoder.decode(_encode({"type": "x", name: value}))
        except msgspec.ValidationError:
            continue
        kept[name] = value
    return _encode(kept)
