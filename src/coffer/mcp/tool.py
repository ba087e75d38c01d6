"""What a tool that agents may call is made of, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct

from coffer.errors import CofferError
from coffer.mcp.caller import Caller, House

Advice = tuple[type[CofferError], str]
"""An error, and what an agent does about it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says. failed: it did not do what it was asked for, and the text says what to do."""

    text: str
    images: tuple[bytes, ...] = ()
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A row. takes: a struct whose fields are the arguments; reads: it changes nothing.

    advice: what an agent does about an error, the first that fits; any other is the person's.
    """

    name: str
    title: str
    description: str
    takes: type[Struct]
    work: Callable[[Any, Caller, House], Answer]
    reads: bool = False
    advice: tuple[Advice, ...] = ()

    def schema(self) -> dict[str, Any]:
        """What it takes, as JSON Schema."""
        _, parts = msgspec.json.schema_components([self.takes])
        found = dict(parts[self.takes.__name__])
        return {key: value for key, value in found.items() if key not in ("title", "description")}
