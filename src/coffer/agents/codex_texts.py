"""The texts of a Codex message."""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

from coffer.agents.raw_text import REFUSALS, string


class _Part(Struct, gc=False):
    type: str = ""
    text: Raw = Raw(b"")


_decoder = msgspec.json.Decoder(list[_Part])


def texts_of(content: Raw) -> list[str]:
    """The texts of a message's parts, "" for parts that have none; of a bare string that one."""
    if bytes(memoryview(content)[:1]) == b'"':
        return [string(content)]
    try:
        parts = _decoder.decode(content) if memoryview(content).nbytes else []
    except REFUSALS:
        return []
    return [string(part.text) for part in parts]
