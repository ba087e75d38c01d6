"""Sizes of texts, and what can be stored as one."""

from __future__ import annotations

from coffer.core.regex import regex

_HALF = regex("[\ud800-\udfff]")


def utf8_size(text: str) -> int:
    """UTF-8 bytes of a text, lone surrogates counted as three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def is_text(text: str) -> bool:
    """Whether it has no half of a surrogate pair, which no database and no file holds."""
    return text.isascii() or not _HALF.search(text)


def as_text(text: str) -> str:
    """The text, halves of surrogate pairs written out in ASCII."""
    return text if is_text(text) else text.encode("utf-8", "backslashreplace").decode()
