"""How well recall answers: 60 questions over a journal made of the shared corpus; part of `make quality`.

The questions (`tools/recall_questions.tsv`) were written after reading the sessions and not their entries, in other
words than the sessions' where that was possible. Each has one session whose entry answers it. The corpus lies beside
the project and stays there.
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
from coffer.work.memory.distil import Distiller
from coffer.work.memory.distil_result import DISTILLED
from coffer.work.memory.recall import recall

ROOT = Path(__file__).parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
QUESTIONS = Path(__file__).with_name("recall_questions.tsv")
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
    with tempfile.TemporaryDirectory(prefix="coffer-") as folder:
        home = Home(Path(folder) / ".coffer")
        entries = _journal(home, folder)
        asked = [_asked(home, line) for line in QUESTIONS.read_text().splitlines()]
    console = Console(width=120)
    for one in asked:
        if not 0 < one.place <= SHOWN or "--all" in sys.argv[1:]:
            console.print(f"{one.place or 'not found':>9}  {one.session}: {one.question}", highlight=False)
    places = Counter(one.place for one in asked)
    found = sum(count for place, count in places.items() if 0 < place <= SHOWN)
    console.print(
        f"recall@{SHOWN} {found / len(asked):.2f} ({found} of {len(asked)}), first {places[1] / len(asked):.2f}, "
        f"over {entries} entries"
    )
    return 0


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


def _asked(home: Home, line: str) -> Asked:
    question, session = line.split("\t")
    found = recall(home, question, Filters(), 50, datetime.now(UTC))
    places = [at for at, hit in enumerate(found.hits, 1) if hit.session == session]
    return Asked(question, session, places[0] if places else 0)


if __name__ == "__main__":
    sys.exit(main())
