"""Write the tables of docs/guard.md anew: `python -m tools.guard_table`.

The words come from `core.markers`, the instants from tests/fixtures/harness; a test compares.
"""

from __future__ import annotations

import json
from pathlib import Path

from coffer.core.markers import MARKERS, VERSIONS

PROJECT = Path(__file__).resolve().parents[1]
PAGE = PROJECT / "docs" / "guard.md"
HARNESS = PROJECT / "tests" / "fixtures" / "harness"
BEGIN, END = "<!-- made by tools/guard_table.py: {} -->", "<!-- end of {} -->"


def words() -> str:
    """The table of signals."""
    lines = [
        f"All seen in Claude Code {', '.join(VERSIONS)}; a row without an instant may only block.",
        "",
        "| where | word | effect | blocker | what it shows | seen in |",
        "|---|---|---|---|---|---|",
    ]
    for each in MARKERS:
        cells = (each.source, f"`{each.word.strip()}`", each.effect, each.kind, each.shows, each.fixture)
        lines.append("| " + " | ".join(cell or "–" for cell in cells) + " |")
    return "\n".join(lines)


def instants() -> str:
    """The table of captured instants."""
    lines = ["| instant | may be written | may be typed at | what is true of it |", "|---|---|---|---|"]
    for path in sorted(HARNESS.glob("*/expect.json")):
        told = json.loads(path.read_bytes())
        named = ", ".join(told["blockers"])
        write = "yes" if told["safe"] else f"no: {named}"
        typed = "yes" if told.get("typed", told["safe"]) else "no"
        lines.append(f"| {path.parent.name} | {write} | {typed} | {told['why']} |")
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with both tables as they are now."""
    for name, table in (("words", words()), ("instants", instants())):
        begin, end = BEGIN.format(name), END.format(name)
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{table}\n{end}{rest.partition(end)[2]}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
