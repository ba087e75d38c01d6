"""What the translators make of each corpus file, in counts: `python -m tests.agents.golden` writes it anew.

A difference is either a bug or a new ability; which one, the diff of golden.json shows.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from coffer.agents.table import AGENTS
from coffer.core.record import Attached, Record
from tests.transcripts import Json, read

ROOT = Path(__file__).parents[2]
OWN = ROOT / "tests" / "corpus"
SHARED = ROOT.parent / "shared" / "corpus"
GOLDEN = Path(__file__).with_name("golden.json")


def corpus() -> dict[str, Path]:
    """Every transcript by name: ours, and the shared ones where they lie beside the project."""
    found = {}
    for folder, prefix in ((OWN, ""), (SHARED, "shared/")):
        for path in sorted(folder.rglob("*.jsonl")):
            if path.name != "journal.jsonl" and "session_index" not in path.name:
                found[prefix + path.relative_to(folder).as_posix()] = path
    return found


def agent_of(path: Path) -> str:
    return next(part for part in reversed(path.parts) if part in AGENTS)


def summary(path: Path) -> Json:
    agent = AGENTS[agent_of(path)]
    transcript = read(path.read_bytes(), agent)
    view = agent.view(transcript, "")
    measure = agent.measure(view)
    records = Counter(_kind(record) for record in transcript.records)
    blocks = Counter(block.kind for record in transcript.records for block in record.blocks)
    oddities = Counter(oddity.kind for oddity in transcript.oddities)
    return {
        "records": dict(sorted(records.items())),
        "blocks": dict(sorted(blocks.items())),
        "oddities": dict(sorted(oddities.items())),
        "live": len(view.branch.records),
        "items": len(view.items),
        "tokens": measure.tokens if measure else None,
    }


def _kind(record: Record) -> str:
    kind = record.detail.kind if isinstance(record.detail, Attached) else record.subtype
    return f"{record.type}/{kind}" if kind else record.type


def write() -> None:
    known = json.loads(GOLDEN.read_text("utf-8")) if GOLDEN.exists() else {}
    found = corpus()
    kept = {name: known[name] for name in known if name.startswith("shared/") and not SHARED.is_dir()}
    made = kept | {name: summary(path) for name, path in found.items()}
    GOLDEN.write_text(json.dumps(dict(sorted(made.items())), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    write()
