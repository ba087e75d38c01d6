"""Which rule texts may be delivered from which digest (DESIGN section 10).

A row says of one text, by its hash, that it is known: `coffer` saw it become active by the person's doing, the
`person` trusted it, or Coffer has `written` it from the person's words and it waits. A text that is only written is
not delivered, wherever somebody moves it: it becomes trusted when Coffer makes it active. `seen`: it stood in the
person's own file when an agent may have put it there, so it is never taken without asking.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Literal

from coffer.core.effective import key

__all__ = [
    "DELIVERED",
    "By",
    "forget",
    "grant",
    "grant_keys",
    "key",
    "known",
    "revoke",
    "rows",
    "see",
    "trusted",
    "write",
]

By = Literal["coffer", "person", "written", "seen"]
DELIVERED: tuple[By, ...] = ("coffer", "person")
"""Whose word lets a text be delivered."""


def rows(connection: sqlite3.Connection, digest: str) -> dict[str, By]:
    """What is known of a digest's texts, by their keys; nothing in a database from before there was trust."""
    try:
        found = connection.execute("SELECT text, by FROM trusted WHERE digest = ?", (digest,)).fetchall()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return {}
        raise
    return dict(found)


def trusted(connection: sqlite3.Connection, digest: str) -> frozenset[str]:
    """Keys of the texts that may be delivered from a digest. digest: its path."""
    return frozenset(text for text, by in rows(connection, digest).items() if by in DELIVERED)


def known(connection: sqlite3.Connection, digest: str) -> frozenset[str]:
    """Keys of the texts that may be delivered or that Coffer has written there."""
    return frozenset(text for text, by in rows(connection, digest).items() if by != "seen")


def write(
    connection: sqlite3.Connection, digest: str, keys: Iterable[str], now: datetime | None = None
) -> None:
    """Remember texts that Coffer wrote and that are not active: they may be granted when they become it."""
    _note(connection, digest, dict.fromkeys(keys, "written"), now)


def see(
    connection: sqlite3.Connection, digest: str, keys: Iterable[str], now: datetime | None = None
) -> None:
    """Remember texts that an agent may have put there; what is known already stays as it is."""
    _note(connection, digest, dict.fromkeys(keys, "seen"), now)


def _note(connection: sqlite3.Connection, digest: str, keys: dict[str, By], now: datetime | None) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO trusted (digest, text, time, by) VALUES (?, ?, ?, ?)",
        [(digest, text, _time(now), by) for text, by in keys.items()],
    )


def grant(
    connection: sqlite3.Connection, digest: str, texts: Iterable[str], by: By, now: datetime | None = None
) -> None:
    """Let rule texts be delivered from a digest. texts: as they stand in it, not their keys."""
    grant_keys(connection, digest, dict.fromkeys(map(key, texts), by), now)


def grant_keys(
    connection: sqlite3.Connection, digest: str, keys: dict[str, By], now: datetime | None = None
) -> None:
    """Put rows back as `revoke` gave them, or let texts be delivered by their keys."""
    connection.executemany(
        "INSERT INTO trusted (digest, text, time, by) VALUES (?, ?, ?, ?) ON CONFLICT (digest, text) DO UPDATE "
        "SET time = excluded.time, by = excluded.by WHERE trusted.by IN ('written', 'seen')",
        [(digest, text, _time(now), by) for text, by in keys.items()],
    )


def revoke(connection: sqlite3.Connection, digest: str, texts: Iterable[str]) -> dict[str, By]:
    """Forget rule texts as they stand in a digest; what was known of those that were there, by key."""
    return forget(connection, digest, map(key, texts))


def forget(connection: sqlite3.Connection, digest: str, keys: Iterable[str] | None = None) -> dict[str, By]:
    """Forget texts by their keys, None: all of a digest; what was known of those that were there."""
    there = rows(connection, digest)
    gone = {text: there[text] for text in (there if keys is None else keys) if text in there}
    connection.executemany(
        "DELETE FROM trusted WHERE digest = ? AND text = ?", [(digest, text) for text in gone]
    )
    return gone


def _time(now: datetime | None) -> str:
    return (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds")
