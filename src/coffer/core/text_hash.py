"""By which a text is known again."""

from __future__ import annotations

import hashlib


def text_hash(text: str, digits: int = 64) -> str:
    """The first hexadecimal digits of a text's sha256; what was no UTF-8 in a file counts as its bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:digits]
