"""Forget something for good: out of every lane, the index, the history, backups, pruned content, database and logs.

There is no undo: what could be brought back is not forgotten. So it is shown first, place by place. The agents' own
transcripts are theirs and stay, and digests are the person's files: both are only named. What a program says of it from
now on is left out (forget_beyond).
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from coffer.core.entry import LANES, Entry, Lane, entries_of, rendered, without
from coffer.core.forget import FORGOTTEN, SHORTEST, cut, forms, spellings, struck
from coffer.disk.put import put
from coffer.disk.replace import refusals
from coffer.errors import FileMoved, WriteFailed
from coffer.store import index, vault
from coffer.store.db import database, receipts, save
from coffer.store.forget import destroy, pieces_with, rows_with, strike
from coffer.store.home import Home
from coffer.store.projects import FILE
from coffer.work.memory.forget_beyond import leave_out, transcripts_with
from coffer.work.memory.forget_errors import NothingToForget, PhraseTooShort
from coffer.work.pruning.gc import COLLECTED
from coffer.work.rules.effective import user_home

Kind = Literal["entry", "backup", "bundle", "pruned", "database", "file", "digest", "transcript"]
_OTHERS = (
    "memory",
    "pruned",
    "backups",
    "locks",
    "bin",
    "bundles",
    "run",
    "config.toml",
    "daemon.json",
    "first-start.json",
    "mcp-hello.json",
    ".git",
)
"""Names in Coffer's folder that have a way of their own here, or hold nothing that was said."""
_INDEX = ("index.db", ".index.db", "coffer.db")
"""How names of databases begin: a killed run leaves some with more behind."""
_INDEX_SECONDS = 60.0
_LARGEST = 64 << 20
_LEAST_TEXT = 16
"""Characters of an entry's text from which it is looked for elsewhere too: “main” stands in everything."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where it stands. path: a file. what: of it, for people. count: of occurrences that go."""

    kind: Kind
    path: Path
    what: str
    count: int = 1


@dataclass(slots=True)
class Found:
    """What would be forgotten. words: every form that is looked for, phrases first. entries: those of the id."""

    phrase: str
    id: str
    words: tuple[str, ...]
    places: list[Place] = field(default_factory=list)
    entries: tuple[Entry, ...] = ()

    @property
    def goes(self) -> list[Place]:
        """Those that would change; digests and transcripts are only named."""
        return [one for one in self.places if one.kind not in ("digest", "transcript")]


def look(home: Home, environment: Mapping[str, str], *, phrase: str = "", entry: str = "") -> Found:
    """Where a phrase stands, to the letter, or the entry of an id and its text. Writes nothing.

    Raises PhraseTooShort, NothingToForget, StoreFailed.
    """
    entries: tuple[Entry, ...] = ()
    if entry:
        entries = tuple(one for _, _, one in _entries(home) if one.id == entry)
        if not entries:
            raise NothingToForget(entry)
        texts = dict.fromkeys(one.text for one in entries)
        words = tuple(form for text in texts if len(text) >= _LEAST_TEXT for form in forms(text))
    elif len(phrase.strip()) < SHORTEST:
        raise PhraseTooShort(SHORTEST)
    else:
        words = forms(phrase)
    found = Found(phrase, entry, words, entries=entries)
    found.places += _in_vault(home, found)
    found.places += _in_backups(home, words)
    found.places += _in_bundles(home, words)
    found.places += _in_store(home, words)
    found.places += _in_files(home, words)
    found.places += _in_digests(home, environment, words)
    found.places += _in_settings(home, words)
    found.places += [
        Place("transcript", path, "the agent's own transcript, which stays", count)
        for path, count in transcripts_with(environment, words)
    ]
    return found


def forget(home: Home, found: Found, now: datetime | None = None) -> list[Place]:
    """Carry it out; what could not be done, each with its reason in `what`. Nobody else may write meanwhile.

    Raises ForgottenBroken, Busy, WriteFailed where it could not be kept from coming back; then nothing is forgotten.
    """
    leave_out(home, found.phrase, found.entries, _LEAST_TEXT, now or datetime.now(UTC))
    left: list[Place] = []
    for place in found.goes:
        try:
            _ACTS[place.kind](home, found, place)
        except (OSError, WriteFailed, FileMoved) as error:
            why = getattr(error, "strerror", None) or str(error)
            left.append(Place(place.kind, place.path, f"{place.what}: {why}", place.count))
    return left + _index(home)


def _index(home: Home) -> list[Place]:
    """Let the index go, which is made anew from the files; the place where it could not be.

    Who is making it has read the files as they were, and would put it back: that one is waited for.
    """
    try:
        with index.alone(home, _INDEX_SECONDS):
            for path in (*home.root.glob("index.db*"), *home.root.glob(".index.db*")):
                path.unlink(missing_ok=True)
    except OSError as error:
        why = error.strerror or str(error)
    except index.IndexBusy:
        why = "another process was making it all the time. Forget it once more"
    else:
        return []
    return [Place("file", index.path(home), f"the index: {why}")]


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
        count = int(one.id == found.id) if found.id else _said(one, found)
        if count:
            yield Place("entry", path, f"entry {one.id}", count)


def _said(one: Entry, found: Found) -> int:
    """How often an entry says it, in its text or its front matter."""
    in_text = sum(one.text.count(each) for each in spellings(found.phrase))
    return in_text + sum(_struck(value, found) != value for value in _front(one))


def _front(one: Entry) -> list[str]:
    return [one.branch, *(value for key, value in one.more if key != "folder")]


def _struck(value: str, found: Found) -> str:
    for word in found.words:
        value = value.replace(word, FORGOTTEN)
    return value


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
        known = receipts(connection)
    names = {str(one.data.get("bak") or "") for one in known}
    ours = {str(one.data.get("digest_before") or "") for one in known}
    return [path for path in map(Path, sorted(names - {""})) if path.is_file() and _digest(path) in ours]


def _digest(path: Path) -> str:
    """What a person copied to that name since is theirs."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "unreadable"


def _in_bundles(home: Home, words: tuple[str, ...]) -> Iterator[Place]:
    for path in sorted((home.root / "bundles").glob("*/*")):
        if path.is_file() and (count := _count(path, words)):
            yield Place("bundle", path, "what hooks answer without the daemon, which makes it anew", count)


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
    for path in _records(home):
        if (count := _count(path, words)) and _without(path, words) is not None:
            yield Place("file", path, "Coffer's own record", count)


def _records(home: Home) -> Iterator[Path]:
    """What Coffer writes besides, and what a write that was killed left beside the vault's files."""
    for top in sorted(home.root.iterdir()) if home.root.is_dir() else ():
        if top.name in _OTHERS or top.name.startswith(_INDEX):
            continue
        for path in sorted(top.rglob("*")) if top.is_dir() and not top.is_symlink() else (top,):
            if path.is_file() and not path.is_symlink():
                yield path
    root = vault.vault(home)
    for path in sorted(root.rglob(".*")) if root.is_dir() else ():
        if path.is_file() and not path.is_symlink() and ".git" not in path.relative_to(root).parts:
            yield path


def _without(path: Path, words: tuple[str, ...]) -> bytes | None:
    """A file's bytes without the words; None where they are nothing that was said. Raises OSError."""
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    after = (
        "\n".join(struck(line, words) for line in text.split("\n"))
        if path.suffix == ".jsonl"
        else struck(text, words)
    )
    return None if after == text else after.encode("utf-8", "surrogateescape")


def _in_settings(home: Home, words: tuple[str, ...]) -> Iterator[Place]:
    """The person's own files, which are only named."""
    pages = (vault.vault(home) / "projects").glob(f"*/{FILE}")
    for path in (home.root / "config.toml", *sorted(pages)):
        if path.is_file() and (count := _count(path, words)):
            yield Place(
                "digest", path, "yours: `coffer project` changes a label, your editor the rest", count
            )
    for path in (home.root / ".git", vault.vault(home) / ".git"):
        if path.exists():
            yield Place("digest", path, "a git repository of yours: what it has committed is not looked at")


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
        elif _said(one, found):
            left = _cut(one, found)
            after = without(after, one) if left is None else after.replace(rendered(one), rendered(left), 1)
    if after != text:
        vault.rewrite(home, place.path, text, after if after.strip() else None)


def _cut(one: Entry, found: Found) -> Entry | None:
    text: str | None = one.text
    for each in spellings(found.phrase):
        text = None if text is None else cut(text, each)
    if text is None:
        return None
    more = tuple((key, value if key == "folder" else _struck(value, found)) for key, value in one.more)
    return replace(one, text=text, branch=_struck(one.branch, found), more=more)


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
    data = _without(place.path, found.words)
    if data is not None:
        put(place.path, data, place.path.stat().st_mode & 0o777)


def _bundle(_home: Home, _found: Found, place: Place) -> None:
    place.path.unlink(missing_ok=True)


_ACTS = {
    "entry": _entry,
    "backup": _backup,
    "bundle": _bundle,
    "database": _rows,
    "pruned": _pruned,
    "file": _file,
}
