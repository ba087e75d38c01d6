"""JSON objects that a program hands over, one a line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coffer.core.loads import loads
from coffer.errors import LineUnreadable, TranscriptMissing, TranscriptUnreadable


def read_objects(path: Path, *texts: str) -> Iterator[dict[str, Any]]:
    """The objects of a file, in order; each must hold these fields as texts. Empty lines are passed over.

    Raises TranscriptMissing, TranscriptUnreadable, LineUnreadable with the line's number.
    """
    with reading(path), path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _object(path, number, line, texts)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what the system refuses while a file is read into TranscriptMissing, TranscriptUnreadable."""
    try:
        yield
    except FileNotFoundError:
        raise TranscriptMissing(str(path)) from None
    except OSError as error:
        raise TranscriptUnreadable(str(path), (error.strerror or str(error)).lower()) from error


def _object(path: Path, number: int, line: bytes, texts: tuple[str, ...]) -> dict[str, Any]:
    try:
        said = loads(line.decode("utf-8", "replace"))
    except ValueError:
        raise LineUnreadable(str(path), number, "no JSON") from None
    if not isinstance(said, dict):
        raise LineUnreadable(str(path), number, "JSON, but no object")
    for name in texts:
        if not isinstance(said.get(name), str):
            raise LineUnreadable(str(path), number, f"no text “{name}”")
    return said
