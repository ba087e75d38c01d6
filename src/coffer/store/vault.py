"""The vault's files: `memory/global/<lane>/*.md` and `memory/projects/<id>/<lane>/*.md`, Markdown, and the truth.

A write holds the file's lock, compares what is there with what was read, and puts a whole file in its place by one
rename: a person who saves the file meanwhile keeps what they saved. No link is followed, nothing is made by looking.
Everything that is added is redacted here, so that no writer can forget it; what a person wrote by hand stays.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from coffer.core.entry import Entry, Lane, entries_of, harmless, joined
from coffer.core.forgotten import NOTHING, struck_out
from coffer.core.redact import redact
from coffer.core.regex import regex
from coffer.disk.replace import refusals
from coffer.disk.sync import sync_folder
from coffer.errors import FileMoved, WriteFailed
from coffer.store.forgotten import forgotten_of
from coffer.store.held import held
from coffer.store.home import Home

LARGEST = 1 << 25
"""Bytes of a file; a larger one is not read."""
_WAIT = 10.0
"""Seconds for another writer of the same file; each takes milliseconds."""
_TRIES = 20
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_DAY = regex(r"\d{4}-\d\d-\d\d")


def vault(home: Home) -> Path:
    """Its folder. Nothing is made."""
    return home.root / "memory"


def files(folder: Path) -> list[Path]:
    """The Markdown files of a lane, by name; none where there is no folder."""
    try:
        with os.scandir(folder) as found:
            names = [
                item.name
                for item in found
                if item.name.endswith(".md") and item.name[0] != "." and item.is_file(follow_symlinks=False)
            ]
    except OSError:
        return []
    return [folder / name for name in sorted(names)]


def read(path: Path) -> str | None:
    """A file's text, None where there is none that is readable: a link, a folder, one that is too large.

    Bytes that are no UTF-8 are carried as lone surrogates, so that writing the text again changes none.
    """
    try:
        descriptor = os.open(path, _READ)
    except (OSError, ValueError):
        return None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
            return None
        return file.read().decode("utf-8", "surrogateescape")


def entries(path: Path, lane: Lane) -> list[Entry]:
    """The entries of a file; those without a time have the day in its name, else when it was last written."""
    text = read(path)
    return [] if text is None else entries_of(text, lane, dated(path))


def dated(path: Path) -> str:
    """When a file without times is from."""
    day = _DAY.match(path.name)
    if day is not None:
        return day[0]
    try:
        written = path.lstat().st_mtime
    except OSError:
        return ""
    return datetime.fromtimestamp(written, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def append(home: Home, folder: Path, name: str, entry: Entry) -> Entry:
    """Add an entry to a lane's file, which is made if it is missing; the entry as it was written, as by `tellable`.

    folder: the lane's, below the vault. name: of the file. Raises Busy, WriteFailed, ForgottenBroken.
    """
    entry = tellable(home, entry)
    path = folder / name
    for _ in range(_TRIES):
        before = read(path)
        try:
            rewrite(home, path, before, joined(before or "", entry))
        except FileMoved:  # saved by a person in between
            continue
        return entry
    raise FileMoved(str(path))


def tellable(home: Home, entry: Entry) -> Entry:
    """An entry as it may be written: redacted and, where a program worded it, without what was forgotten.

    A person who writes it again means it. Raises ForgottenBroken.
    """
    safe = redacted(entry)
    forgotten = forgotten_of(home) if entry.source != "person" else NOTHING
    more = tuple(
        (key, struck_out(value, forgotten) if key != "folder" else value) for key, value in safe.more
    )
    text, branch = struck_out(safe.text, forgotten), struck_out(safe.branch, forgotten)
    return replace(safe, text=text, branch=branch, more=more)


def redacted(entry: Entry) -> Entry:
    """An entry without secrets, in none of its fields, and without what would begin another one."""
    return replace(
        entry,
        text=harmless(_safe(entry.text)),
        branch=_safe(entry.branch),
        more=tuple((key, _safe(value)) for key, value in entry.more),
    )


def _safe(text: str) -> str:
    return redact(text).text.encode("utf-8", "replace").decode()


def rewrite(home: Home, path: Path, before: str | None, after: str | None) -> None:
    """Put a text in the place of the one that was read. None: no file. A file that is left is 0600 if it is new.

    Raises FileMoved where something else is there by now, Busy, WriteFailed; then it is as it was.
    """
    _require_inside(home, path)
    with held(home, path, _WAIT), refusals(path):
        if after is None:
            _require(path, before)
            path.unlink(missing_ok=True)
            return
        _make(home, path.parent)
        with _beside(path, after) as new:
            _require(path, before)
            new.replace(path)
        sync_folder(path.parent)


def _require(path: Path, before: str | None) -> None:
    if read(path) != before or (before is None and os.path.lexists(path)):
        raise FileMoved(str(path))


def _require_inside(home: Home, path: Path) -> None:
    """Refuse a path that a link leads out of the vault."""
    root = os.path.realpath(vault(home))
    if not Path(os.path.realpath(path.parent)).is_relative_to(root) or path.is_symlink():
        raise WriteFailed(str(path), "a link leads out of the vault")


def _make(home: Home, folder: Path) -> None:
    """Make a lane's folder and those above it, each private: `mkdir` gives its mode to the last one only."""
    for place in (*reversed(folder.relative_to(home.root).parents), folder.relative_to(home.root)):
        home.make(home.root / place)


@contextmanager
def _beside(path: Path, text: str) -> Iterator[Path]:
    """A new file with this text and the old one's mode, gone afterwards unless it was moved away."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    new = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if path.exists():
                os.fchmod(descriptor, stat.S_IMODE(path.stat().st_mode))
            file.write(text.encode("utf-8", "surrogateescape"))
            file.flush()
            os.fsync(descriptor)
        yield new
    finally:
        new.unlink(missing_ok=True)
