"""Bring back content that was pruned."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass, field
from typing import Any

from coffer.core.attachments import strings
from coffer.errors import RestoreNotFound
from coffer.store.db import database
from coffer.store.home import Home
from coffer.store.pruned import get


@dataclass(frozen=True, slots=True)
class Restored:
    """Pruned content for a person: its text, its images (decoded), and what it was."""

    note: str
    text: str
    images: list[bytes] = field(default_factory=list)


def restore(home: Home, name: str) -> Restored:
    """The content whose id begins with name.

    Raises RestoreNotFound, RestoreAmbiguous, PrunedContentMissing.
    """
    if not home.database.exists():
        raise RestoreNotFound(name)
    with database(home) as connection:
        found = get(connection, home, name)
    value = json.loads(found.data.decode("utf-8", "surrogateescape"))
    return Restored(found.note, _text(value), _images(value))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        texts = [part.get("text") for part in value if isinstance(part, dict)]
        return "\n".join(text for text in texts if isinstance(text, str))
    return json.dumps(value, ensure_ascii=False, indent=1)


def _images(value: Any) -> list[bytes]:
    found = []
    for part in value if isinstance(value, list) else []:
        source = part.get("source") if isinstance(part, dict) else None
        for data in strings(source.get("data")) if isinstance(source, dict) else []:
            try:
                found.append(base64.b64decode(data, validate=True))
            except binascii.Error:
                continue  # no image that could be shown; the text is brought back all the same
    return found
