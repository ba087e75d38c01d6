"""How well recall answers, by words and by meaning too: questions over a journal made of the shared corpus and notes.

Part of `make quality`; by meaning where the extra `embeddings` is installed.

The questions (`tools/recall_questions.tsv`) were written after reading the sessions and not their entries, in other
words than the sessions' where that was possible. Each has one session whose entry answers it. The corpus lies beside
the project and stays there.

The paraphrases have no word in common with the entry that answers them, so words alone find none.
Those of `recall_paraphrases.tsv` ask for sessions, those of the two tables of notes for the note before them. The notes
of the second table were written after everything was tuned.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from coffer.core.entry import made
from coffer.core.settings import Settings
from coffer.disk.sessions import MAIN, Found
from coffer.store import vault
from coffer.store.home import Home
from coffer.store.index_search import Filters
from coffer.work.memory import by_meaning
from coffer.work.memory.distil import Distiller
from coffer.work.memory.distil_result import DISTILLED
from coffer.work.memory.index_use import rebuild
from coffer.work.memory.recall import recall

ROOT = Path(__file__).parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
QUESTIONS = Path(__file__).with_name("recall_questions.tsv")
PARAPHRASES = Path(__file__).with_name("recall_paraphrases.tsv")
NOTES = ("recall_notes.tsv", "recall_notes_held_out.tsv")
SHOWN = 5


@dataclass(frozen=True)
class Asked:
    """A question, the session whose entry answers it, and which place that had among the answers; 0: none."""

    question: str
    session: str
    place: int


def main() -> int:
    if not CORPUS.exists():
        return 0
    console = Console(width=120)
    with tempfile.TemporaryDirectory(prefix="coffer-") as folder:
        home = Home(Path(folder) / ".coffer")
        entries = _journal(home, folder)
        sets = {"questions": _rows(QUESTIONS)}
        _tell(console, "60 questions", [_asked(home, *row) for row in sets["questions"]], entries)
        sets["paraphrases of sessions"] = _rows(PARAPHRASES)
        for name in NOTES:
            rows = _rows(Path(__file__).with_name(name))
            sets[name] = [(question, _note(home, text, name, at)) for at, (text, question) in enumerate(rows)]
            entries += len(rows)
        if by_meaning.installed():
            rebuild(home)
            by_meaning.make_all(home)
        for name, asked in sets.items():
            _tell(console, f"{name}, by words", [_asked(home, *row) for row in asked], entries)
            if by_meaning.installed():
                found = [_asked(home, *row, embeddings=True) for row in asked]
                _tell(console, f"{name}, by meaning too", found, entries)
    return 0


def _rows(path: Path) -> list[tuple[str, str]]:
    return [(first, second) for first, second in (line.split("\t") for line in path.read_text().splitlines())]


def _note(home: Home, text: str, table: str, at: int) -> str:
    """Keep a note; the name by which it is known here."""
    name = f"{table}/{at}"
    entry = made("knowledge", text, source="agent", agent="claude", session=name, time="2026-11-29T10:00:00Z")
    vault.append(home, vault.vault(home) / "projects" / "corpus-0" / "knowledge", "2026-11-29.md", entry)
    return name


def _tell(console: Console, what: str, asked: list[Asked], entries: int) -> None:
    for one in asked:
        if "--all" in sys.argv[1:]:
            console.print(f"{one.place or 'not found':>9}  {one.session}: {one.question}", highlight=False)
    places = Counter(one.place for one in asked)
    found = sum(count for place, count in places.items() if 0 < place <= SHOWN)
    console.print(
        f"{what}: recall@{SHOWN} {found / len(asked):.2f} ({found} of {len(asked)}), first {places[1]}, "
        f"over {entries} entries",
        highlight=False,
    )


def _journal(home: Home, folder: str) -> int:
    """The journal of the corpus, all in one project, so that nothing but the words tells the sessions apart."""
    distiller = Distiller(home, {"HOME": folder}, Settings(), dry_run=True)
    count = 0
    for path in sorted(CORPUS.glob("*/*.jsonl")):
        status = path.stat()
        agent, name = path.parent.name, f"{path.parent.name}/{path.stem}"
        told = distiller.one(Found(agent, path.stem, path, MAIN, status.st_size, status.st_mtime))
        if told.outcome != DISTILLED:
            continue
        time = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
        entry = made("journal", told.text, source="distil", agent=agent, session=name, time=time)
        vault.append(home, vault.vault(home) / "projects" / "corpus-0" / "journal", f"{time[:10]}.md", entry)
        count += 1
    return count


def _asked(home: Home, question: str, session: str, *, embeddings: bool = False) -> Asked:
    found = recall(home, question, Filters(), 50, datetime.now(UTC), embeddings=embeddings)
    places = [at for at, hit in enumerate(found.hits, 1) if hit.session == session]
    return Asked(question, session, places[0] if places else 0)


if __name__ == "__main__":
    sys.exit(main())
