"""Keep something in the vault's knowledge lane, with its source, once, and without secrets."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from coffer.core.block import TITLE
from coffer.core.digest_text import MARKER
from coffer.core.entry import Entry, entries_of, harmless, made, without
from coffer.core.recalled import is_recalled
from coffer.core.redact import kinds, redact
from coffer.core.regex import regex
from coffer.core.search import same, terms_of
from coffer.core.text_hash import text_hash
from coffer.store import vault
from coffer.store.db import DONE, Receipt, begun, record, undone
from coffer.store.home import Home
from coffer.store.index import GLOBAL
from coffer.store.index_search import Filters, Hit, saying, search
from coffer.store.projects import folder as project_folder
from coffer.work.delivery.bundles import bundle_for
from coffer.work.memory.handoff import By
from coffer.work.memory.index_use import ask
from coffer.work.memory.memory_errors import IndexMaking, KeptAlready, NoteChangedSince, NoteRefused
from coffer.work.project.identity import register
from coffer.work.project.memory_here import Here

KIND = "remember"
LONGEST = 4_000
"""Characters: a note is a fact or a decision, and a longer text is a file of the project's."""
LONGEST_TITLE = 120
Scope = Literal["project", "global"]
_PLACEHOLDER = regex(r"\[redacted: [\w ]+\]")
_SHORTEST_PART = 24
"""Characters of a text that is looked for inside of others: "use uv" stands in many that say something else."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A note that was written. project: its project's name, "" for the global memory. secrets: kind → how many."""

    entry: Entry
    receipt: Receipt
    path: Path
    project: str
    secrets: Mapping[str, int]


def remember(  # noqa: PLR0913  (what, where, who, when)
    place: Here,
    text: str,
    by: By,
    now: datetime,
    environment: Mapping[str, str],
    *,
    scope: Scope | None = None,
    title: str = "",
    lives: bool = False,
) -> Kept:
    """Keep a text. scope: None is the project's where there is one, else global.

    Raises NoteRefused, KeptAlready, ProjectNotFound, Busy, FileMoved, WriteFailed, StoreFailed, ProjectBroken.
    """
    if scope == "project" and place.identity is None:
        raise place.no_project("to be written to")
    into_project = place.identity is not None and scope != "global"
    said = _wording(text, title)
    found = redact(said)
    _require_new(place, said, environment, into_project=into_project, lives=lives)
    name, folder = "", vault.vault(place.home) / GLOBAL
    if into_project:
        assert place.root is not None
        identity = register(place.home, place.root)
        name, folder = identity.name, project_folder(place.home, identity.id)
    stamp = now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    entry = made(
        "knowledge",
        said,
        source=by.source,
        time=stamp,
        agent=by.agent,
        session=by.session,
        branch=place.branch,
        project=folder.name if into_project else "",
    )
    path = folder / "knowledge" / f"{stamp[:10]}.md"
    entry = vault.append(place.home, path.parent, path.name, entry)
    receipt = begun(KIND, by.agent, by.session, path, now)
    receipt.status = DONE
    receipt.data = {"entry": entry.id, "text": text_hash(entry.text), "project": name}
    record(place.home, receipt)
    return Kept(entry, receipt, path, name, kinds(found.found))


def _wording(text: str, title: str) -> str:
    """The text of an entry. Raises NoteRefused."""
    said, head = harmless(text.encode("utf-8", "replace").decode()), " ".join(title.split())
    if len(said) > LONGEST:
        raise NoteRefused(
            f"it has {len(said):,} characters, and a note may have {LONGEST:,}; keep what was decided and why, and "
            "leave the rest in a file"
        )
    if len(head) > LONGEST_TITLE:
        raise NoteRefused(f"its title has {len(head)} characters, and may have {LONGEST_TITLE}")
    if not re.search(r"\w", _PLACEHOLDER.sub("", redact(said).text)):
        raise NoteRefused(
            "nothing is left of it without its secrets" if redact(said).found else "it is empty"
        )
    if head and not said.lstrip().startswith("#"):
        return f"# {head}\n\n{said}"
    return said


def _require_new(
    place: Here, said: str, environment: Mapping[str, str], *, into_project: bool, lives: bool
) -> None:
    """Refuse what is in the vault, or is delivered, already: mined again, it would bury its own source."""
    if MARKER in said or TITLE in said:
        raise NoteRefused("it is the block of rules, which Coffer keeps and sends by itself")
    if is_recalled(said):
        raise NoteRefused(
            "it quotes an answer of recall, and that is in the vault; say what is new, in plain words"
        )
    plain = same(said)
    if any(plain == same(line) for line in bundle_for(place.folder, place.home, environment).lines):
        raise NoteRefused("it is one of the standing rules, which Coffer sends by itself")
    folders = (*place.project, GLOBAL) if into_project else (GLOBAL,)
    try:
        hit = ask(place.home, partial(_says_already, said=said, filters=Filters(folders)), lives=lives)
    except IndexMaking:
        return  # kept twice is better than not at all
    if hit is not None:
        where = "the global memory" if hit.folder == GLOBAL else "this project"
        raise KeptAlready(hit.id, where, hit.time[:10])


def _says_already(connection: sqlite3.Connection, said: str, filters: Filters) -> Hit | None:
    """The entry that says the same, or has this text in it."""
    wanted = redact(said).text
    if there := saying(connection, wanted, filters):
        return there[0]
    part = same(wanted).strip("…>. ")
    if len(part) < _SHORTEST_PART:
        return None
    plain = wanted.replace('"', " ")
    for hit in search(connection, terms_of(plain), filters):
        if part in same(hit.text):
            return hit
    return None


def undo_remember(receipt: Receipt, home: Home, now: datetime | None = None) -> Receipt:
    """Take a note out of its file again; the receipt of the undo. Raises NoteChangedSince, Busy, WriteFailed."""
    path = Path(receipt.path)
    text = vault.read(path) or ""
    there = [entry for entry in entries_of(text, "knowledge") if entry.id == receipt.data["entry"]]
    if not there or text_hash(there[0].text) != receipt.data["text"]:
        raise NoteChangedSince(receipt.id, str(path))
    left = without(text, there[0])
    vault.rewrite(home, path, text, left if left.strip() else None)
    return undone(home, receipt, now)
