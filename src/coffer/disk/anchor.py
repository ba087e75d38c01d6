"""A hash by which a file is known again as far as it was read."""

from __future__ import annotations

import hashlib
from pathlib import Path

_LENGTH = 256
"""Bytes before an offset by which a transcript is known to be the one that was read."""
_CHUNK = 1 << 20


def anchor(path: Path, offset: int) -> str:
    """sha256 of the bytes just before an offset. Raises OSError."""
    start = max(0, offset - _LENGTH)
    with path.open("rb") as file:
        file.seek(start)
        return hashlib.sha256(file.read(offset - start)).hexdigest()


def beginning(path: Path, size: int) -> str:
    """sha256 of the first bytes of a file, "" where it has fewer. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while size > 0 and (data := file.read(min(size, _CHUNK))):
            digest.update(data)
            size -= len(data)
    return digest.hexdigest() if size == 0 else ""
