"""The tables of the index, and how an entry gets into them and out again."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable

from coffer.core.entry import Entry, title
from coffer.core.redact import redact
from coffer.core.search import folded, parts, same
from coffer.core.text import as_text

VERSION = 1
"""Of the tables and of what stands in them: an index of another version is made anew."""
TABLES = f"""
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,   -- below the vault
    folder TEXT NOT NULL,        -- global, or a project's id
    lane TEXT NOT NULL,
    inode INTEGER NOT NULL,
    modified INTEGER NOT NULL,   -- nanoseconds
    size INTEGER NOT NULL
);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL REFERENCES files (id),
    name TEXT NOT NULL,          -- the entry's id
    folder TEXT NOT NULL,
    lane TEXT NOT NULL,
    source TEXT NOT NULL,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    time TEXT NOT NULL,
    branch TEXT NOT NULL,
    same TEXT NOT NULL,          -- sha256 of what is the same for texts that say the same
    title TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX entries_by_file ON entries (file);
CREATE INDEX entries_by_name ON entries (name);
CREATE INDEX entries_by_same ON entries (same);
CREATE INDEX entries_by_time ON entries (folder, time);
CREATE VIRTUAL TABLE words USING fts5 (
    title, text, parts, content = '', tokenize = 'porter unicode61 remove_diacritics 2'
);
PRAGMA user_version = {VERSION};
"""
_INSERT = (
    "INSERT INTO entries (file, name, folder, lane, source, agent, session, time, branch, same, title, text) "
    "VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"
)


def same_key(text: str) -> str:
    """By what a text is found again that says the same."""
    return hashlib.sha256(same(as_text(text)).encode()).hexdigest()[:24]


def add(connection: sqlite3.Connection, file: int, folder: str, entries: Iterable[Entry]) -> int:
    """Put a file's entries in; how many. A secret that a person wrote into a file by hand stays out."""
    count = 0
    for entry in entries:
        said, head = as_text(redact(entry.text).text), as_text(redact(title(entry)).text)
        fields = (
            entry.id,
            folder,
            entry.lane,
            entry.source,
            entry.agent,
            entry.session,
            entry.time,
            entry.branch,
        )
        row = connection.execute(_INSERT, (file, *map(as_text, fields), same_key(entry.text), head, said))
        connection.execute(
            "INSERT INTO words (rowid, title, text, parts) VALUES (?,?,?,?)",
            (row.lastrowid, *_words(head, said)),
        )
        count += 1
    return count


def take_out(connection: sqlite3.Connection, file: int) -> None:
    """Take a file's entries out."""
    rows = connection.execute("SELECT id, title, text FROM entries WHERE file = ?", (file,)).fetchall()
    connection.executemany(
        "INSERT INTO words (words, rowid, title, text, parts) VALUES ('delete',?,?,?,?)",
        [(row, *_words(head, said)) for row, head, said in rows],
    )
    connection.execute("DELETE FROM entries WHERE file = ?", (file,))


def _words(head: str, text: str) -> tuple[str, str, str]:
    """What is indexed of an entry. Taking it out needs the same again."""
    return folded(head), folded(text), parts(text)
