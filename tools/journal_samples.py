"""Makes docs/journal-samples.md: what the journal says of some sessions of the shared corpus, each with a judgement.

Run as `python -m tools.journal_samples`; `--read` prints the entry of every session of the corpus instead. The
corpus lies beside the project and stays there; nothing but the entries below is taken from it. They come from
repositories under MIT or Apache-2.0.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from textwrap import fill

from coffer.core.settings import Settings
from coffer.disk.sessions import MAIN, Found
from coffer.store.home import Home
from coffer.work.memory.distil import Distiller
from coffer.work.memory.distil_result import DISTILLED, Result

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
PAGE = Path(__file__).parents[1] / "docs" / "journal-samples.md"
SAMPLES = {
    "claude/2.1.63-packmind-lastprogress.jsonl": (
        "A small task, whole: the plan that was handed over is the title, the number of passing tests comes from "
        "the runner, and the commit can be found by its hash. The failed run of a wrapper stands there as what it "
        "was, a failure that nobody came back to."
    ),
    "claude/2.1.205-omp-rejected.jsonl": (
        "The person changed their mind in the middle, and both are there: the goal asks for a pull request, the "
        "correction says to commit only. The agent's last words name what was done file by file, which the list of "
        "files alone would not tell."
    ),
    "claude/2.1.12-entire-badline.jsonl": (
        "A session that was left in the middle of its plan: what it ends with, a question and four open items, is what "
        "one needs to go on. The lint run that failed once and passed then is told as one line."
    ),
    "claude/2.1.229-nomos-workflow.jsonl": (
        "A long one, in which the agent asked and the person chose: the choices are decisions with their questions. "
        "What is weak: half of “Done” comes from the agent's last report, so the earlier parts of the day are short."
    ),
    "codex/0.142.2-agentv-compacted.jsonl": (
        "A Codex thread with two compactions: goal, pull requests and files are those of the whole thread, not of its "
        "last context. The turning points are the person's own words, typing errors included; they are not mended."
    ),
    "codex/0.140.0-agentv-toolsearch.jsonl": (
        "A thread that breaks off in the middle of its work: there is little to tell, and the entry does not make more "
        "of it. The open items of its plan are the useful part."
    ),
}
"""File → what is to be thought of its entry."""
HEAD = """\
# What the journal says

Made by `python -m tools.journal_samples`; do not edit. Entries that `coffer journal distil` makes of real sessions,
without a model, as they would stand in the vault, with the judgement of those who built it. Headings are one step
lower here.

{summary}
"""


def main() -> int:
    if not CORPUS.exists():
        return 0
    os.environ["TZ"] = "UTC"  # the page must not depend on where it is made
    time.tzset()
    with tempfile.TemporaryDirectory(prefix="coffer-") as folder:
        home = Home(Path(folder))
        distiller = Distiller(home, {"HOME": folder}, Settings(), dry_run=True)
        results = {name: distiller.one(_found(CORPUS / name)) for name in _names()}
    if "--read" in sys.argv[1:]:
        for name, told in results.items():
            print(f"\n{'=' * 100}\n{name}: {told.outcome} {told.why}\n\n{told.text}")
        return 0
    parts = [HEAD.format(summary=fill(_summary(results), 116))]
    for name, judgement in SAMPLES.items():
        parts += [
            f"## {Path(name).parent} {Path(name).stem.split('-')[0]}\n",
            f"{fill(judgement, 116)}\n",
            _lower(results[name].text),
        ]
    PAGE.write_text("\n".join(parts))
    return 0


def _names() -> list[str]:
    return [str(path.relative_to(CORPUS)) for path in sorted(CORPUS.glob("*/*.jsonl"))]


def _found(path: Path) -> Found:
    status = path.stat()
    return Found(path.parent.name, path.stem, path, MAIN, status.st_size, status.st_mtime)


def _summary(results: dict[str, Result]) -> str:
    sizes = [len(told.text.encode()) for told in results.values() if told.outcome == DISTILLED]
    return (
        f"Of the {len(results)} sessions of the shared corpus {len(sizes)} have an entry: "
        f"{statistics.median(sizes):.0f} bytes in the median, {max(sizes)} at most; the others are those of subagents."
    )


def _lower(text: str) -> str:
    """An entry with its heading below that of its sample."""
    return f"##{text}\n" if text.startswith("# ") else f"{text}\n"


if __name__ == "__main__":
    sys.exit(main())
