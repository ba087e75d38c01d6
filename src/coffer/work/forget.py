"""Forget something for good: out of every lane, the index, the history, backups, pruned content, database and logs.

There is no undo: what could be brought back is not forgotten. So it is shown first, place by place. The agents' own
transcripts are theirs and stay; digests are the person's files, and only named.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from coffer.core.entry import LANES, Entry, Lane, entries_of, rendered, without
from coffer.core.forget import FORGOTTEN, SHORTEST, cut, forms
from coffer.disk.put import put
from coffer.disk.replace import refusals
from coffer.errors import FileMoved, WriteFailed
from coffer.store import vault
from coffer.store.db import database, receipts, save
from coffer.store.forget import destroy, pieces_with, rows_with, strike
from coffer.store.home import Home
from coffer.work.effective import user_home
from coffer.work.forget_errors import NothingToForget, PhraseTooShort
from coffer.work.gc import COLLECTED

Kind = Literal["entry", "backup", "pruned", "database", "file", "digest"]
_OTHERS = ("memory", "pruned", "backups", "locks", "bin", "bundles", "run", "coffer.db", "index.db")
"""Names in Coffer's folder that have a way of their own here, or hold nothing that was said."""
_LARGEST = 64 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where it stands. path: a file. what: of it, for people. count: of occurrences that go."""

    kind: Kind
    path: Path
    what: str
    count: int = 1


@dataclass(slots=True)
class Found:
    """What would be forgotten. words: every form that is looked for, phrases first."""

    phrase: str
    id: str
    words: tuple[str, ...]
    places: list[Place] = field(default_factory=list)

    @property
    def goes(self) -> list[Place]:
        """Those that would change; a digest is only named."""
        return [one for one in self.places if one.kind != "digest"]


def look(home: Home, environment: Mapping[str, str], *, phrase: str = "", entry: str = "") -> Found:
    """Where a phrase stands, to the letter, or the entry of an id and its text. Writes nothing.

    Raises PhraseTooShort, NothingToForget, StoreFailed.
    """
    if entry:
        texts = list(dict.fromkeys(one.text for _, _, one in _entries(home) if one.id == entry))
        if not texts:
            raise NothingToForget(entry)
        words = tuple(form for text in texts if len(text) >= SHORTEST for form in forms(text))
    elif len(phrase.strip()) < SHORTEST:
        raise PhraseTooShort(SHORTEST)
    else:
        words = forms(phrase)
    found = Found(phrase, entry, words)
    found.places += _in_vault(home, found)
    found.places += _in_backups(home, words)
    found.places += _in_store(home, words)
    found.places += _in_files(home, words)
    found.places += _in_digests(home, environment, words)
    return found


def forget(home: Home, found: Found) -> list[Place]:
    """Carry it out; what could not be done, each with its reason in `what`. Nobody else may write meanwhile."""
    left: list[Place] = []
    for place in found.goes:
        try:
            _ACTS[place.kind](home, found, place)
        except (OSError, WriteFailed, FileMoved) as error:
            why = getattr(error, "strerror", None) or str(error)
            left.append(Place(place.kind, place.path, f"{place.what}: {why}", place.count))
    for name in ("index.db", "index.db-wal", "index.db-shm", "index.db-journal"):
        (home.root / name).unlink(missing_ok=True)  # made from the files: it is made anew without it
    return left


def _entries(home: Home) -> Iterator[tuple[Path, str, Entry]]:
    """Every entry of the vault, histories and archives too, with its file and the file's text."""
    for path, text in _vault_files(home):
        for one in entries_of(text, _lane(path)):
            yield path, text, one


def _lane(path: Path) -> Lane:
    """The lane that a file of the vault lies in, at whatever depth."""
    return next((lane for part in path.parts[::-1] for lane in LANES if part == lane), "knowledge")


def _vault_files(home: Home) -> Iterator[tuple[Path, str]]:
    root = vault.vault(home)
    for path in sorted(root.rglob("*.md")) if root.is_dir() else ():
        text = vault.read(path)
        if text is not None:
            yield path, text


def _in_vault(home: Home, found: Found) -> Iterator[Place]:
    for path, _, one in _entries(home):
        count = int(one.id == found.id) if found.id else one.text.count(found.phrase)
        if count:
            yield Place("entry", path, f"entry {one.id}", count)


def _in_backups(home: Home, words: tuple[str, ...]) -> Iterator[Place]:
    if not home.backups.is_dir():
        return
    for path in sorted(home.backups.rglob("*")):
        if path.is_file() and not path.is_symlink() and (count := _count(path, words)):
            yield Place("backup", path, "a backup: its receipt can't be undone afterwards", count)
    for path in _baks(home):
        if count := _count(path, words):
            yield Place("backup", path, "a copy beside an agent's settings", count)


def _baks(home: Home) -> list[Path]:
    if not home.database.exists():
        return []
    with database(home, write=False) as connection:
        names = {str(one.data.get("bak") or "") for one in receipts(connection)}
    return [Path(name) for name in sorted(names - {""}) if Path(name).is_file()]


def _in_store(home: Home, words: tuple[str, ...]) -> Iterator[Place]:
    if not home.database.exists() or not words:
        return
    with database(home, write=False) as connection:
        for table, count in rows_with(connection, words).items():
            yield Place("database", home.database, f"rows of {table}", count)
        pieces = pieces_with(connection, home, [word.encode("utf-8", "surrogatepass") for word in words])
    if pieces:
        yield Place(
            "pruned", home.pruned, "pruned content: its stubs can't be restored afterwards", len(pieces)
        )


def _in_files(home: Home, words: tuple[str, ...]) -> Iterator[Place]:
    for top in sorted(home.root.iterdir()) if home.root.is_dir() else ():
        if top.name.startswith(_OTHERS):
            continue
        for path in sorted(top.rglob("*")) if top.is_dir() and not top.is_symlink() else (top,):
            if path.is_file() and not path.is_symlink() and (count := _count(path, words)):
                yield Place("file", path, "Coffer's own record", count)


def _in_digests(home: Home, environment: Mapping[str, str], words: tuple[str, ...]) -> Iterator[Place]:
    paths = {user_home(environment) / ".cozempic" / "behavioral-digest.md"}
    if home.database.exists():
        with database(home, write=False) as connection:
            paths |= {Path(row[0]) for row in connection.execute("SELECT DISTINCT digest FROM trusted")}
    for path in sorted(paths):
        if path.is_file() and (count := _count(path, words)):
            yield Place("digest", path, "a rule: `coffer digest remove` takes it out, or your editor", count)


def _count(path: Path, words: tuple[str, ...]) -> int:
    """How often the words stand in a file; 0 where it can't be read, or is too large to hold what was said."""
    try:
        if path.stat().st_size > _LARGEST and path.suffix not in (".jsonl", ".bak"):
            return 0
        data = path.read_bytes()
    except OSError:
        return 0
    return sum(data.count(word.encode("utf-8", "surrogatepass")) for word in words)


# --- carrying it out


def _entry(home: Home, found: Found, place: Place) -> None:
    text = vault.read(place.path)
    if text is None:
        return
    after = text
    for one in entries_of(text, _lane(place.path)):
        if found.id:
            after = without(after, one) if one.id == found.id else after
        elif found.phrase in one.text:
            left = cut(one.text, found.phrase)
            after = (
                without(after, one)
                if left is None
                else after.replace(rendered(one), rendered(one).replace(one.text, left), 1)
            )
    if after != text:
        vault.rewrite(home, place.path, text, after if after.strip() else None)


def _backup(home: Home, _found: Found, place: Place) -> None:
    place.path.unlink(missing_ok=True)
    if place.path.parent.parent == home.backups and not any(place.path.parent.iterdir()):
        place.path.parent.rmdir()
    with database(home) as connection:
        for one in receipts(connection):
            if one.data.get("backup") == str(place.path):
                one.status = COLLECTED
                save(connection, one)


def _rows(home: Home, found: Found, _place: Place) -> None:
    with database(home) as connection:
        strike(connection, found.words)
    connection = sqlite3.connect(home.database, isolation_level=None)
    try:
        connection.execute("VACUUM")  # what was free before secure_delete may still hold it
    finally:
        connection.close()


def _pruned(home: Home, found: Found, _place: Place) -> None:
    words = [word.encode("utf-8", "surrogatepass") for word in found.words]
    with refusals(home.pruned), database(home) as connection:
        destroy(connection, home, pieces_with(connection, home, words))


def _file(_home: Home, found: Found, place: Place) -> None:
    data = place.path.read_bytes()
    for word in found.words:
        data = data.replace(word.encode("utf-8", "surrogatepass"), FORGOTTEN.encode())
    put(place.path, data, place.path.stat().st_mode & 0o777)


_ACTS = {"entry": _entry, "backup": _backup, "database": _rows, "pruned": _pruned, "file": _file}
