"""A request to the Messages API as the rules see it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

Json = Mapping[str, Any]


class Block(NamedTuple):
    """One content block and where it stands: `messages.{n}.content.{m}`."""

    n: int
    m: int
    body: Json

    @property
    def type(self) -> str:
        """The block's type (`text`, `tool_use`, …)."""
        return str(self.body.get("type", ""))

    @property
    def place(self) -> str:
        """The block's path as the API's error messages write it."""
        return f"messages.{self.n}.content.{self.m}"


@dataclass(frozen=True, slots=True)
class Message:
    """One message, content always as blocks (a plain string is one text block, an empty one none)."""

    n: int
    role: str
    blocks: tuple[Block, ...]

    @classmethod
    def read(cls, n: int, raw: Json) -> Self:
        """Read a message of the request's JSON."""
        content = raw.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}] if content else []
        items = content if isinstance(content, list) else []
        blocks = tuple(Block(n, m, item) for m, item in enumerate(items) if isinstance(item, dict))
        return cls(n, str(raw.get("role")), blocks)

    def of(self, *types: str) -> list[Block]:
        """Return the blocks of these types."""
        return [block for block in self.blocks if block.type in types]


class Sent(NamedTuple):
    """A thinking block that this server sent."""

    thinking: str
    model: str
    prefix: str


@dataclass(slots=True)
class Memory:
    """What this server sent: thinking by signature, and the signatures beside each tool_use id."""

    thinking: dict[str, Sent] = field(default_factory=dict)
    beside: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def keep(self, message: Json, call: Call) -> None:
        """Remember a reply to `call`."""
        blocks = message["content"]
        signatures = tuple(b["signature"] for b in blocks if b["type"] == "thinking")
        for i, block in enumerate(blocks):
            if block["type"] == "thinking":
                prefix = call.prefix(extra=blocks[:i])
                self.thinking[block["signature"]] = Sent(block["thinking"], call.model, prefix)
            elif block["type"] == "tool_use":
                self.beside[block["id"]] = signatures


@dataclass(frozen=True)
class Call:
    """Everything a rule may look at.

    raw: the body as received; token_limit: the window, None switches that rule off;
    preserved_thinking: the account and model bind thinking to the conversation before it.
    """

    body: Json
    raw: bytes = b""
    betas: frozenset[str] = frozenset()
    memory: Memory = field(default_factory=Memory)
    token_limit: int | None = None
    tokens: int = 0
    preserved_thinking: bool = False
    json_error: str | None = None

    @property
    def model(self) -> str:
        """The model asked for."""
        return str(self.body.get("model", ""))

    @property
    def thinking(self) -> str:
        """The thinking mode: `enabled`, `adaptive`, `disabled`, or empty when the request is silent."""
        return str((self.body.get("thinking") or {}).get("type", ""))

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """The messages as sent."""
        return tuple(Message.read(n, raw) for n, raw in enumerate(self.body.get("messages") or ()))

    @cached_property
    def turns(self) -> tuple[Message, ...]:
        """The messages as the API sees them: neighbours of one role (user, assistant) are one turn."""
        turns: list[Message] = []
        for message in self.messages:
            if turns and turns[-1].role == message.role and message.role in ("user", "assistant"):
                turns[-1] = Message(turns[-1].n, message.role, turns[-1].blocks + message.blocks)
            else:
                turns.append(message)
        return tuple(turns)

    def blocks(self) -> Iterator[Block]:
        """Yield every top-level content block."""
        for message in self.messages:
            yield from message.blocks

    @cached_property
    def tool_loop(self) -> tuple[Message, ...]:
        """The assistant turns of the tool loop that is still open, first to last; empty if none is."""
        spoken = [turn for turn in self.turns if turn.role != "system"]
        loop: list[Message] = []
        while len(spoken) > 1 and spoken[-1].role == "user" and spoken[-1].of("tool_result"):
            loop.append(spoken[-2])
            spoken = spoken[:-2]
        return tuple(reversed(loop))

    @cached_property
    def latest(self) -> tuple[Message, ...]:
        """The assistant turns whose thinking is frozen: the open tool loop, else the last assistant turn."""
        last = [turn for turn in self.turns if turn.role == "assistant"][-1:]
        return self.tool_loop or tuple(last)

    def prefix(self, *, before: Block | None = None, extra: list[Json] | None = None) -> str:
        """Digest what stands before a block: system, tools and all content (cache marks don't count)."""
        digest = hashlib.sha256(_canonical([self.body.get("system"), self.body.get("tools")]))
        for turn in self.turns:
            digest.update(turn.role.encode())
            for block in turn.blocks:
                if block is before:
                    return digest.hexdigest()
                digest.update(_canonical(block.body))
        if extra is not None and (not self.turns or self.turns[-1].role != "assistant"):
            digest.update(b"assistant")
        for item in extra or ():
            digest.update(_canonical(item))
        return digest.hexdigest()


def _canonical(value: object) -> bytes:
    return json.dumps(_without_marks(value), sort_keys=True).encode()


def _without_marks(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_marks(item) for key, item in value.items() if key != "cache_control"}
    if isinstance(value, list):
        return [_without_marks(item) for item in value]
    return value
