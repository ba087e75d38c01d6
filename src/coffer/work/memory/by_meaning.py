"""Find entries of the vault by what they mean, beside their words: the extra `embeddings`, off unless it is set.

Whoever asks makes the vectors of a few new entries; those of many are made by `coffer index rebuild`, or by a process
of their own that the daemon starts and does not wait for. Until then, and wherever anything is missing, words alone
answer, as they do without the extra. Nothing of it is imported before a question needs it.
"""

from __future__ import annotations

import importlib.util
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coffer.errors import SettingsBroken
from coffer.store import index, index_vectors
from coffer.store.home import Home
from coffer.store.index import IndexBusy, Progress
from coffer.store.index_search import Filters, Hit, numbered
from coffer.work.memory.index_use import in_background
from coffer.work.memory.memory_errors import EmbeddingsMissing, IndexMaking
from coffer.work.settings import load

if TYPE_CHECKING:
    from coffer.models.vectors import Vectors
    from coffer.store.index_near import Signs

AT_ONCE = 200
"""Entries that whoever asks gives their vectors first: about a tenth of a second."""
_NEAREST = 20
_COMPARED = 30
"""Entries found by words whose vectors are looked at; those after them are no answer unless they are near."""
_A_BATCH = 200
_NEEDED = ("numpy", "tokenizers", "wordllama")
_NICE = 10
_WAIT = 60.0
_HELD: dict[Path, tuple[int, Signs]] = {}
_MAKING: dict[Path, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True, slots=True)
class Near:
    """What lies near a question. likeness: numbers of entries → cosine, of `hits` and of those asked about."""

    hits: tuple[Hit, ...]
    likeness: dict[int, float]


def wanted(home: Home) -> bool:
    """Whether the settings ask for it. Settings that can't be read keep nobody from recalling: doctor tells of them."""
    try:
        return load(home).recall.embeddings
    except SettingsBroken:
        return False


def installed() -> bool:
    """Whether the extra is there; nothing is imported."""
    return all(importlib.util.find_spec(name) is not None for name in _NEEDED)


def missing() -> EmbeddingsMissing:
    """What to say where it is not."""
    return EmbeddingsMissing(sys.executable)


def near(  # noqa: PLR0913  (where, what, of what, beside what, and one about the process)
    home: Home,
    connection: sqlite3.Connection,
    question: str,
    filters: Filters,
    numbers: Sequence[int],
    *,
    lives: bool,
) -> Near | None:
    """What means the like of a question; None where words alone must answer.

    numbers: entries that were found otherwise, to be compared too. lives: as in `index_use.ask`.
    """
    if not installed():
        return None
    from coffer.models.vectors import vectors  # noqa: PLC0415  (only where it is installed and asked for)
    from coffer.store.index_near import likeness  # noqa: PLC0415

    try:
        make = vectors()
        left = index_vectors.behind(connection, make.name)
        if left:
            _few(home, make, left, lives=lives)
            if index_vectors.behind(connection, make.name):
                return None
        asked = make([question])[0]
        found = _signs(home, connection, lives=lives).nearest(connection, asked, filters, _NEAREST)
        hits = numbered(connection, list(found), filters)
        return Near(tuple(hits), {**likeness(connection, asked, numbers[:_COMPARED]), **found})
    except (
        OSError,
        ValueError,
        sqlite3.Error,
    ):  # no index file, one being made anew, files of another version
        return None


def make_all(home: Home, progress: Progress | None = None) -> int:
    """Give every entry its vectors that has none; how many got them. progress: entries, as in `store.index`.

    Other processes write the index in between. Raises EmbeddingsMissing, IndexMaking, OSError, sqlite3.Error.
    """
    if not installed():
        raise missing()
    from coffer.models.vectors import vectors  # noqa: PLC0415  (as above)

    make = vectors()
    done, left = 0, behind(home)
    try:
        while count := index_vectors.give(home, make.name, make, _A_BATCH, _WAIT):
            done += count
            if progress is not None:
                progress(done, max(done, left))
    except IndexBusy:
        raise IndexMaking from None
    return done


def behind(home: Home) -> int:
    """How many entries can't be found by meaning yet; 0 also where there is no index. The extra must be there."""
    from coffer.models.vectors import vectors  # noqa: PLC0415  (as above)

    try:
        with closing(index.as_it_is(home)) as connection:
            return index_vectors.behind(connection, vectors().name)
    except sqlite3.Error:
        return 0


def _few(home: Home, make: Vectors, left: int, *, lives: bool) -> None:
    """Give the last few entries their vectors here; of many let another process do it, if this one goes on."""
    if left <= AT_ONCE:
        with suppress(IndexBusy):  # whoever writes is at it, or the next question is
            index_vectors.give(home, make.name, make, AT_ONCE)
    elif lives:
        _in_another_process(home)


def _signs(home: Home, connection: sqlite3.Connection, *, lives: bool) -> Signs:
    """The table of this index, kept where the process goes on."""
    from coffer.store.index_near import Signs  # noqa: PLC0415  (as above)

    mark = index.mark_of(connection)
    held = _HELD.get(home.root)
    if held is None or held[0] != mark:
        held = (mark, Signs())
        if lives:
            _HELD[home.root] = held
    return held[1]


def _in_another_process(home: Home) -> None:
    """Let a process make all vectors, one at a time; nobody waits for it."""
    running = _MAKING.get(home.root)
    if running is not None and running.poll() is None:
        return
    _MAKING[home.root] = in_background(__name__, home)


if __name__ == "__main__":
    os.nice(_NICE)
    make_all(Home(Path(sys.argv[1]), stands=True))
