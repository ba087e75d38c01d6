"""What a digest learned from the whole shared corpus looks like, to be read line by line: part of `make quality`.

The corpus lies beside the project and stays there. Each folder that a session worked in becomes a git repository of
a temporary home, so that its rules have a project to belong to. `--read` prints every rule and every inbox item.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from datetime import datetime
from pathlib import Path

from rich.console import Console

from coffer.core.settings import Settings
from coffer.disk.places import Places
from coffer.disk.sessions import find_sessions
from coffer.store.home import Home
from coffer.work.rules.ask import Asker
from coffer.work.rules.desk import Desk
from coffer.work.rules.inbox import Inbox
from coffer.work.rules.learn import Learned, Learning
from coffer.work.rules.lesson import said_at
from coffer.work.rules.shelf import Shelf

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
_FOLDER = re.compile(rb'"cwd":"(/[^"\\]*)"')


def main() -> int:
    if not CORPUS.exists():
        return 0
    with tempfile.TemporaryDirectory(prefix="coffer-") as folder:
        measure(Path(folder), Console(width=120))
    return 0


def measure(root: Path, console: Console) -> None:
    """Learn from all of it, with the present in the hour of the last turn."""
    lay_out(root)
    environment = {"HOME": str(root)}
    home, places = Home.of(environment), Places.of(environment)
    console.rule("digest learned from the shared corpus")
    last = datetime.fromisoformat("2000-01-01T00:00:00+00:00")
    tried = run(home, places, environment, last, dry_run=True)
    now = max((said_at(turn.time, last) for turn in tried.turns), default=last)
    learned = run(home, places, environment, now, dry_run=False)
    console.print(f"{len(learned.turns)} human turns: {dict(learned.labels())}")
    console.print(f"of them {dict(learned.states())}")
    shelf = Shelf(home, root, Settings().digest, now)
    projects = sorted({turn.project for turn in learned.turns})
    rules = {(name, rule.id): rule for name in ("", *projects) for rule in shelf.of(name).rules.all}
    console.print(f"rules: {len(rules)}: {dict(Counter(rule.state for rule in rules.values()))}")
    items = [
        item for item in Inbox(Desk(shelf, ""), everywhere=True).items(old=True) if item.kind == "noticed"
    ]
    console.print(
        f"inbox: {len(items)} noticed, {sum(bool(item.rule) for item in items)} with a wording to accept, "
        f"{sum(item.certainty == 'certain' for item in items)} certain\n"
    )
    if "--read" in sys.argv:
        for rule in rules.values():
            console.print(f"RULE {rule.state} ({rule.corrections}): {rule.text}", markup=False)
        for item in items:
            said = " ".join(item.quote.split())[:240]
            console.print(
                f"ITEM {item.certainty} {item.confidence:.2f} [{item.rule or '-'}] {said}", markup=False
            )


def run(home: Home, places: Places, environment: dict[str, str], now: datetime, *, dry_run: bool) -> Learned:
    asker = Asker(Settings(), home, environment)
    return Learning(home, places, environment, Settings().digest, asker, now, dry_run).run(
        find_sessions(places)
    )


def lay_out(root: Path) -> None:
    """Copy the corpus into a home, its working folders turned into repositories there."""
    projects: dict[bytes, Path] = {}

    def moved(match: re.Match[bytes]) -> bytes:
        if match[1] not in projects:
            project = root / "projects" / f"p{len(projects)}"
            (project / ".git").mkdir(parents=True)
            (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
            projects[match[1]] = project
        return b'"cwd":"' + str(projects[match[1]]).encode() + b'"'

    claude = root / ".claude" / "projects" / "corpus"
    codex = root / ".codex" / "sessions" / "2026" / "01" / "02"
    for folder in (claude, codex):
        folder.mkdir(parents=True)
    for path in sorted((CORPUS / "claude").glob("*.jsonl")):
        (claude / path.name).write_bytes(_FOLDER.sub(moved, path.read_bytes()))
    for number, path in enumerate(sorted((CORPUS / "codex").glob("*.jsonl"))):
        name = f"rollout-2026-01-02T03-04-05-00000000-0000-4000-8000-{number:012}.jsonl"
        (codex / name).write_bytes(_FOLDER.sub(moved, path.read_bytes()))


if __name__ == "__main__":
    sys.exit(main())
