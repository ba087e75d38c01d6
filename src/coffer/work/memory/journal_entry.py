"""Entries of the journal in their files: found again, added, put in another's place, taken away."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from coffer.core.entry import Entry, Lane, entries_of, rendered, without
from coffer.errors import FileMoved
from coffer.store import vault
from coffer.store.home import Home

LANE: Lane = "journal"
_TRIES = 20
"""How often a write begins anew where a person saves the file meanwhile."""


def entry_in(path: Path, name: str) -> Entry | None:
    """The entry of an id in a file of the journal."""
    return next((one for one in vault.entries(path, LANE) if one.id == name), None)


def hash_of(text: str) -> str:
    """By which an entry's text is known to be as it was written."""
    return hashlib.sha256(text.rstrip().encode("utf-8", "surrogatepass")).hexdigest()[:16]


def write(home: Home, path: Path, entry: Entry, old: Entry | None) -> None:
    """Add an entry to its file, or put it in its old text's place. Raises Busy, FileMoved, WriteFailed."""
    if old is None:
        vault.append(home, path.parent, path.name, entry)
        return
    change(home, path, old, rendered(replace(entry, after=old.after)))


def change(home: Home, path: Path, old: Entry, new: str) -> None:
    """Put a text in an entry's place in its file; "" takes it away, and the file with the last one.

    Raises FileMoved where it is not there as it was read, Busy, WriteFailed.
    """
    for _ in range(_TRIES):
        before = vault.read(path) or ""
        found = entry_in(path, old.id)
        if found is None or found.text != old.text:
            break
        kept = entries_of(before, LANE)
        after = (
            without(before, found)
            if not new
            else "".join(new if one.id == old.id else rendered(one) for one in kept)
        )
        try:
            vault.rewrite(home, path, before, after if after.strip() else None)
        except FileMoved:  # saved by a person in between
            continue
        return
    raise FileMoved(str(path))
