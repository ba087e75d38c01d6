"""What was forgotten stays forgotten: its words are known again by their hash, and struck from what is told later.

A transcript is its client's and still holds them, so a session that goes on would bring them back. Nothing that is kept
says what they were: of each phrase its length, sixteen bits of a checksum that say where it is worth a look, and a slow
hash with a salt. A short word can be guessed from that by who reads the file and tries all there are; a key or a
sentence can't.
"""

from __future__ import annotations

import hashlib
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from coffer.core.forget import FORGOTTEN, spellings
from coffer.core.regex import regex
from coffer.core.steps import Story
from coffer.core.turn import Action, Turn

HEAD = 24
"""Bytes of a phrase's beginning that its checksum is made of, so that all long phrases are looked for in one pass."""
_COST, _BLOCK, _DIGEST = 1 << 13, 8, 16
"""Of scrypt: some ten milliseconds, of which a guess of each phrase costs as much."""
_PARTS = regex(rb"[ \t\r\n\f\v]+|[^ \t\r\n\f\v]+")


@dataclass(frozen=True, slots=True)
class Token:
    """A phrase that can be known again. length: bytes in UTF-8, runs of white space counted as one."""

    length: int
    check: int
    salt: bytes
    digest: bytes

    @property
    def head(self) -> int:
        """Bytes of which `check` was made."""
        return min(self.length, HEAD)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """All that is forgotten. seed: of the checksums. sessions: lane and id → until when nothing is told of it there.

    known: what was looked at more closely in this run, so that nothing is hashed slowly twice.
    """

    seed: int = 0
    tokens: tuple[Token, ...] = ()
    sessions: Mapping[str, str] = field(default_factory=dict)
    known: dict[tuple[bytes, bytes], bool] = field(default_factory=dict, compare=False, repr=False)

    def __bool__(self) -> bool:
        return bool(self.tokens or self.sessions)


NOTHING = Forgotten()


def tokens_of(phrase: str, seed: int, salt: bytes) -> list[Token]:
    """The tokens of a phrase: of each spelling that looks the same one. salt: sixteen random bytes."""
    return [
        Token(len(data), _check(data[:HEAD], seed), salt, _digest(data, salt)) for data in _spelled(phrase)
    ]


def is_of(token: Token, phrase: str) -> bool:
    """Whether a token was made of this phrase."""
    return any(
        len(data) == token.length and _digest(data, token.salt) == token.digest for data in _spelled(phrase)
    )


def _spelled(phrase: str) -> Iterator[bytes]:
    """A phrase in each spelling that looks the same, with runs of white space as one."""
    return (b" ".join(_bytes(one).split()) for one in spellings(phrase))


def struck_out(text: str, forgotten: Forgotten) -> str:
    """A text with FORGOTTEN in the place of what is forgotten, also where it goes over a line's end."""
    if not forgotten.tokens or not text:
        return text
    raw = _bytes(text)
    starts: list[tuple[int, int]] = []  # where each part begins: in the folded bytes, in the raw ones
    folded = bytearray()
    for part in _PARTS.finditer(raw):
        starts.append((len(folded), part.start()))
        folded += b" " if part[0][:1].isspace() else part[0]
    data = bytes(folded)
    found = _matches(data, forgotten)
    if not found:
        return text
    out, at = bytearray(), 0
    for begin, end in found:
        first, last = _raw(begin, starts), _raw(end - 1, starts) + 1
        if first >= at:
            out += raw[at:first] + FORGOTTEN.encode()
        at = max(at, last)
    return bytes(out + raw[at:]).decode("utf-8", "surrogatepass")


def without(story: Story, forgotten: Forgotten) -> Story:
    """A story without the words that are forgotten."""
    if not forgotten.tokens:
        return story
    steps = [msgspec.structs.replace(one, step=_struck(one.step, forgotten)) for one in story.steps]
    return msgspec.structs.replace(story, steps=steps)


def unforgotten(story: Story, forgotten: Forgotten, lane: str, session: str) -> Story:
    """What of a story a lane may tell: where an entry about the session was forgotten, only what came later."""
    until = forgotten.sessions.get(f"{lane} {session}")
    if until is None:
        return story
    return msgspec.structs.replace(story, steps=[one for one in story.steps if one.time > until])


def turn_without(turn: Turn, forgotten: Forgotten) -> Turn:
    """A turn without the words that are forgotten, in it and in what it looks back on."""
    return replace(
        turn,
        text=struck_out(turn.text, forgotten),
        before=struck_out(turn.before, forgotten),
        actions=tuple(Action(one.tool, struck_out(one.target, forgotten)) for one in turn.actions),
    )


def _struck(step: Any, forgotten: Forgotten) -> Any:
    """A step with its texts struck; a turn's own id, and what it answers, stay: they are told nowhere."""
    changed: dict[str, Any] = {}
    for name in step.__struct_fields__:
        value = getattr(step, name)
        if name in ("by", "id", "sha", "what"):
            continue
        after: Any = value
        if isinstance(value, str):
            after = struck_out(value, forgotten)
        elif isinstance(value, tuple):
            after = tuple(struck_out(each, forgotten) for each in value)
        if after != value:
            changed[name] = after
    return msgspec.structs.replace(step, **changed) if changed else step


def _matches(data: bytes, forgotten: Forgotten) -> list[tuple[int, int]]:
    """Where something forgotten stands: first byte, and the one behind it; in order, the longest first."""
    found: list[tuple[int, int]] = []
    by_head: dict[int, dict[int, list[Token]]] = {}
    for token in forgotten.tokens:
        by_head.setdefault(token.head, {}).setdefault(token.check, []).append(token)
    seed, crc32 = forgotten.seed, zlib.crc32
    for head, checks in by_head.items():
        for at in range(len(data) - head + 1):
            if crc32(data[at : at + head], seed) & 0xFFFF in checks:
                tokens = checks[_check(data[at : at + head], seed)]
                found += [
                    (at, at + one.length) for one in tokens if _is(one, data[at : at + one.length], forgotten)
                ]
    return sorted(found, key=lambda place: (place[0], -place[1]))


def _is(token: Token, data: bytes, forgotten: Forgotten) -> bool:
    if len(data) != token.length:
        return False
    key = (token.salt, data)
    if key not in forgotten.known:
        forgotten.known[key] = _digest(data, token.salt) == token.digest
    return forgotten.known[key]


def _raw(at: int, starts: list[tuple[int, int]]) -> int:
    """Where a folded byte stands in the raw ones."""
    folded, raw = starts[bisect_right(starts, (at, 1 << 62)) - 1]
    return raw + at - folded


def _check(data: bytes, seed: int) -> int:
    return zlib.crc32(data, seed) & 0xFFFF


def _digest(data: bytes, salt: bytes) -> bytes:
    return hashlib.scrypt(data, salt=salt, n=_COST, r=_BLOCK, p=1, dklen=_DIGEST)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def all_tokens(said: Iterable[Mapping[str, Any]]) -> tuple[Token, ...]:
    """The tokens that a file's records name. Raises KeyError, TypeError, ValueError for one that is none."""
    return tuple(
        Token(int(one["length"]), int(one["check"]), bytes.fromhex(one["salt"]), bytes.fromhex(one["digest"]))
        for one in said
    )
