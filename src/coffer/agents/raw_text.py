"""A text from its JSON bytes, whatever is wrong with it."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from coffer.core.loads import loads

REFUSALS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What a fast decoder raises for what it does not take."""

_decoder = msgspec.json.Decoder(str)


def string(raw: Raw) -> str:
    """The string, half surrogate pairs replaced by "?"; "" for anything else."""
    try:
        return _decoder.decode(raw) if memoryview(raw).nbytes else ""
    except REFUSALS:
        pass  # no string, or half an emoji, which costs one character and not a person's words
    try:
        said = loads(bytes(raw).decode("utf-8", "replace"))
    except ValueError:
        return ""
    return said.encode("utf-8", "replace").decode("utf-8") if isinstance(said, str) else ""
