"""JSON values made fit to show: nothing nested so deeply that the code that prints it would give up."""

from __future__ import annotations

from typing import Any

from coffer.core.json_lines import Found, objects
from coffer.core.loads import loads

TOO_DEEP = "(nested too deeply to show)"
_DEEPEST = 200
"""Levels; no real message comes near, and Python's own printers end at about 1000."""


def shown(raw: bytes) -> Any:
    """The value of the bytes. Half a surrogate pair stays, bytes that are no UTF-8 become U+FFFD.

    What is nested too deeply becomes a note, what is no JSON at all too.
    """
    try:
        value = loads(raw.decode("utf-8", "replace"))
    except ValueError:
        found = next((item for item in objects(raw, 0) if isinstance(item, Found)), None)
        return shallow(loads(found.clean.decode("utf-8", "replace"))) if found is not None else TOO_DEEP
    return shallow(value)


def shallow(value: Any) -> Any:
    """The value with a note in place of its fields that are nested too deeply."""
    if isinstance(value, dict):
        return {name: TOO_DEEP if _is_deep(inner) else inner for name, inner in value.items()}
    return TOO_DEEP if _is_deep(value) else value


def _is_deep(value: Any) -> bool:
    level = [value] if isinstance(value, list | dict) else []
    for _ in range(_DEEPEST):
        if not level:
            return False
        level = [
            deeper
            for inner in level
            for deeper in (inner.values() if isinstance(inner, dict) else inner)
            if isinstance(deeper, list | dict)
        ]
    return bool(level)
