"""A digest file's text, understood."""

from __future__ import annotations

from pathlib import Path

from coffer.core.digest import Digest, DigestUnreadable, parse
from coffer.errors import DigestBroken


def understood(path: Path, text: str) -> Digest:
    """The digest that stands in a file. Raises DigestBroken, with the line."""
    try:
        return parse(text)
    except DigestUnreadable as error:
        raise DigestBroken(str(path), error.line, error.reason) from error
