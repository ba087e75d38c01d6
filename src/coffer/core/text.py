"""Sizes of texts."""

from __future__ import annotations


def utf8_size(text: str) -> int:
    """UTF-8 bytes of a text, lone surrogates counted as three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
