"""How bundles lie ready for a hook that has no daemon: the index, which of its roots wins, and the spool's entries.

`coffer/hook.py` reads and writes the same formats with code of its own, since it imports nothing;
tests/hook/test_bundle_files.py holds the two together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from coffer.core.regex import regex

Files: TypeAlias = Mapping[tuple[str, str], bytes]
"""(agent, event) → the finished envelope: what one project's sessions get."""

NO_PROJECT = "/"
"""The root that stands for every folder outside of any project."""

_KEY_DIGITS = 20
_WORD = regex(r"[A-Za-z0-9_-]+\Z")
_ESCAPED = regex(rb"%([0-9A-F]{2})")
_SPOOLED = regex(r"(\d+)-(\d+)\Z")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the index: the folder of bundle files for a root and what is below it."""

    key: str
    root: str


@dataclass(frozen=True, slots=True)
class SpoolEntry:
    """One answer that a hook gave without the daemon.

    name: the file's. at: nanoseconds since 1970. pid: the hook's. key: the bundle folder that was answered
    from. cwd: empty where the folder was deleted. stdin: what the agent said; empty where it was too long.
    environment: of the session, what says where its transcript lies.
    """

    name: str
    at: int
    pid: int
    agent: str
    event: str
    key: str
    cwd: str
    stdin: bytes
    environment: tuple[tuple[str, str], ...] = ()


def is_word(text: str) -> bool:
    """Whether an agent, an event or a key may stand in a path; the hook answers no other."""
    return _WORD.match(text) is not None


def file_name(agent: str, event: str) -> str:
    """The name of a bundle file in its folder."""
    return f"{agent}.{event}"


def key_of(files: Files) -> str:
    """The name of the folder for these files: other content, another name, so a folder never changes."""
    hashed = hashlib.sha256()
    for (agent, event), content in sorted(files.items()):
        hashed.update(f"{file_name(agent, event)} {len(content)}\n".encode())
        hashed.update(content)
    return hashed.hexdigest()[:_KEY_DIGITS]


def can_be_listed(root: str) -> bool:
    """Whether the index can hold a root: absolute, plain, and without the characters that its lines are made of."""
    steps = root.split("/")[1:]
    is_plain = root == NO_PROJECT or not {"", ".", ".."} & set(steps)
    return root.startswith("/") and is_plain and not {"\t", "\n", "\r", "\0"} & set(root)


def index_text(rows: Iterable[Row]) -> bytes:
    """The index: a line a root, in the order of the roots."""
    lines = [f"{row.key}\t{row.root}\n" for row in sorted(rows, key=lambda row: row.root)]
    return "".join(lines).encode("utf-8", "surrogateescape")


def rows_of(index: bytes) -> tuple[Row, ...]:
    """Its rows again; a line that is none is passed over, as the hook does."""
    rows = []
    for line in index.decode("utf-8", "surrogateescape").split("\n"):
        key, gap, root = line.partition("\t")
        if gap and is_word(key) and can_be_listed(root):
            rows.append(Row(key, root))
    return tuple(rows)


def winner(rows: Iterable[Row], folder: str) -> Row | None:
    """The row of the longest root that is the folder or one of its parents; folder: a real path, or empty."""
    fitting = [
        row
        for row in rows
        if row.root in (NO_PROJECT, folder) or folder.startswith(row.root.rstrip("/") + "/")
    ]
    return max(fitting, key=lambda row: len(row.root), default=None)


def spool_entry(name: str, raw: bytes) -> SpoolEntry | None:
    """What a spool file of that name says; None where it is damaged."""
    named = _SPOOLED.match(name)
    head, _, rest = raw.partition(b"\n")
    cwd, gap, stdin = rest.partition(b"\n")
    words = head.decode("ascii", "replace").split(" ")
    told = [word.partition("=") for word in words[3:]]
    if (
        named is None
        or not gap
        or len(words) < 3
        or not all(map(is_word, [*words[:3], *(t[0] for t in told)]))
    ):
        return None
    environment = tuple((variable, _plain(value.encode())) for variable, _, value in told)
    agent, event, key = words[:3]
    return SpoolEntry(name, int(named[1]), int(named[2]), agent, event, key, _plain(cwd), stdin, environment)


def _plain(quoted: bytes) -> str:
    """A percent-encoded value as it was."""
    return _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), quoted).decode("utf-8", "surrogateescape")
