"""A vault of 100,000 entries, made once and used again, and what questions to it cost a process that lives."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random

from bench.files import STORE
from coffer.core import entry, search
from coffer.core.entry import made, rendered
from coffer.store import index, index_tables
from coffer.store.home import Home
from coffer.store.index_search import Filters
from coffer.work.memory.recall import recall

PROJECTS, DAYS, A_DAY = 20, 200, 25
QUESTIONS = 200
_LAST_DAY = date(2026, 11, 30)
_WORDS = 30_000
_CODE = hashlib.sha256(
    b"".join(
        Path(str(file)).read_bytes()
        for file in (__file__, entry.__file__, search.__file__, index.__file__, index_tables.__file__)
    )
).hexdigest()[:10]


def recalls() -> dict[str, float]:
    """Questions of four words, over everything and within a project: the 95th of a hundred."""
    home = _vault()
    random, now = Random(3), datetime.now(UTC)
    words, weights = _language()
    spent, lasted = [], []
    for number in range(QUESTIONS):
        question = " ".join(random.choices(words, cum_weights=weights, k=4))
        filters = Filters((_project(number % PROJECTS), "global") if number % 2 else None)
        wall, began = time.perf_counter(), time.thread_time()
        recall(home, question, filters, 5, now, lives=True)
        spent.append((time.thread_time() - began) * 1000)
        lasted.append((time.perf_counter() - wall) * 1000)
    last = QUESTIONS * 95 // 100
    return {"recall, CPU": sorted(spent[1:])[last - 1], "recall, wall": sorted(lasted[1:])[last - 1]}


def _vault() -> Home:
    """The vault with its index; those of older code are removed."""
    folder = STORE / f"vault-{_CODE}"
    if not (folder / "whole").exists():
        for old in STORE.glob("vault-*"):
            shutil.rmtree(old)
        _write(folder)
        index.rebuild(Home(folder))
        (folder / "whole").touch()
    return Home(folder)


def _write(folder: Path) -> None:
    random = Random(7)
    for project in range(PROJECTS):
        for age in range(DAYS):
            day = _LAST_DAY - timedelta(days=age)
            lane = (
                folder / "memory" / "projects" / _project(project) / ("knowledge" if age % 2 else "journal")
            )
            lane.mkdir(parents=True, exist_ok=True)
            (lane / f"{day}.md").write_text("\n".join(_entries(random, day)))


def _entries(random: Random, day: date) -> Iterator[str]:
    words, weights = _language()
    for at in range(A_DAY):
        chosen = random.choices(words, cum_weights=weights, k=random.randint(20, 140))
        text = f"# {' '.join(chosen[:6])}\n\n{' '.join(chosen)} snake_case_{chosen[0]} camelCase{chosen[1].title()}."
        yield rendered(made("knowledge", text, source="agent", agent="claude", time=f"{day}T10:{at:02}:00Z"))


def _project(number: int) -> str:
    return f"project{number}-0123456789"


@cache
def _language() -> tuple[list[str], list[float]]:
    """Invented words, and how often each is said: few very often, most hardly ever, as in any language."""
    random = Random(7)
    words = [
        "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(3, 10))) for _ in range(_WORDS)
    ]
    return words, list(accumulate(1 / (place + 1) ** 0.9 for place in range(_WORDS)))
