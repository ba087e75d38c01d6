"""The tables of the index, and how an entry gets into them and out again."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from dataclasses import replace

from coffer.core.entry import Entry, title
from coffer.core.redact import redact
from coffer.core.search import folded, parts, same
from coffer.core.text import as_text

VERSION = 2
"""Of the tables and of what stands in them: an index of another version is made anew."""
TABLES = f"""
CREATE TABLE folders (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE    -- global, or a project's id
);
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,   -- below the vault
    folder INTEGER NOT NULL REFERENCES folders (id),
    inode INTEGER NOT NULL,
    modified INTEGER NOT NULL,   -- nanoseconds
    size INTEGER NOT NULL
);
CREATE TABLE entries (           -- without their texts: thousands of rows are looked at for one question
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given twice: vectors are known by it
    file INTEGER NOT NULL REFERENCES files (id),
    folder INTEGER NOT NULL REFERENCES folders (id),
    lane TEXT NOT NULL,
    source TEXT NOT NULL,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    time TEXT NOT NULL,
    name TEXT NOT NULL,          -- the entry's id
    branch TEXT NOT NULL,
    same TEXT NOT NULL           -- sha256 of what is the same for texts that say the same
);
CREATE INDEX entries_by_file ON entries (file);
CREATE INDEX entries_by_name ON entries (name);
CREATE INDEX entries_by_same ON entries (same);
CREATE INDEX entries_by_time ON entries (folder, time);
CREATE TABLE texts (
    id INTEGER PRIMARY KEY,      -- of its entry
    title TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE TABLE pieces (            -- of texts, with embeddings on; each has a vector
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    entry INTEGER NOT NULL REFERENCES entries (id),
    vector BLOB NOT NULL
);
CREATE INDEX pieces_by_entry ON pieces (entry);
CREATE TABLE maker (name TEXT NOT NULL);  -- of the vectors
CREATE VIRTUAL TABLE words USING fts5 (
    title, text, parts, place, content = '', tokenize = 'porter unicode61 remove_diacritics 2'
);
PRAGMA user_version = {VERSION};
"""
_INSERT = (
    "INSERT INTO entries (file, folder, name, lane, source, agent, session, time, branch, same) "
    "VALUES (?,?,?,?,?,?,?,?,?,?)"
)


def same_key(text: str) -> str:
    """By what a text is found again that says the same."""
    return hashlib.sha256(same(as_text(text)).encode()).hexdigest()[:24]


def folder_id(connection: sqlite3.Connection, name: str) -> int:
    """The number of a folder, which it gets the first time."""
    connection.execute("INSERT OR IGNORE INTO folders (name) VALUES (?)", (name,))
    return int(connection.execute("SELECT id FROM folders WHERE name = ?", (name,)).fetchone()[0])


def place_word(folder: int) -> str:
    """The word by which FTS5 finds what lies in a folder, and that nobody asks for."""
    return f"zqfolder{folder}"


def add(connection: sqlite3.Connection, file: int, folder: int, entries: Iterable[Entry]) -> int:
    """Put a file's entries in; how many. A secret that a person wrote into a file by hand stays out."""
    count = 0
    for entry in entries:
        said = as_text(redact(entry.text).text)
        head = title(replace(entry, text=said))
        fields = (entry.id, entry.lane, entry.source, entry.agent, entry.session, entry.time, entry.branch)
        row = connection.execute(
            _INSERT, (file, folder, *map(as_text, fields), same_key(entry.text))
        ).lastrowid
        connection.execute("INSERT INTO texts (id, title, text) VALUES (?,?,?)", (row, head, said))
        connection.execute(
            "INSERT INTO words (rowid, title, text, parts, place) VALUES (?,?,?,?,?)",
            (row, *_words(head, said), place_word(folder)),
        )
        count += 1
    return count


def take_out(connection: sqlite3.Connection, file: int) -> None:
    """Take a file and its entries out."""
    rows = connection.execute(
        "SELECT id, folder, title, text FROM entries JOIN texts USING (id) WHERE file = ?", (file,)
    ).fetchall()
    connection.executemany(
        "INSERT INTO words (words, rowid, title, text, parts, place) VALUES ('delete',?,?,?,?,?)",
        [(row, *_words(head, said), place_word(folder)) for row, folder, head, said in rows],
    )
    connection.execute("DELETE FROM pieces WHERE entry IN (SELECT id FROM entries WHERE file = ?)", (file,))
    connection.execute("DELETE FROM texts WHERE id IN (SELECT id FROM entries WHERE file = ?)", (file,))
    connection.execute("DELETE FROM entries WHERE file = ?", (file,))
    connection.execute("DELETE FROM files WHERE id = ?", (file,))


def _words(head: str, text: str) -> tuple[str, str, str]:
    """What is indexed of an entry. Taking it out needs the same again."""
    return folded(head), folded(text), parts(text)
