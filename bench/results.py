"""The measured rows as a table on the terminal and as `bench/RESULTS.md`."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.measure import Measured
from bench.peer import REQUIREMENT
from bench.rows import INSIDE, PEER, Row

PATH = Path(__file__).with_name("RESULTS.md")
_WIDTH = 190
NOT_MEASURED = "not measured in this run (PEER=1)"
_HEAD = (
    "what",
    "Coffer: CPU s",
    "wall s",
    "peak MB",
    "other: CPU s",
    "wall s",
    "peak MB",
    "ratio",
    "budget",
    "met",
)


@dataclass(frozen=True, slots=True)
class Result:
    """What a row measured; ours None: the command does not exist yet."""

    row: Row
    ours: Measured | None
    other: Measured | None = None

    @property
    def ratio(self) -> float | None:
        """The other's CPU by ours; for a row that may be slower, ours by the other's."""
        if self.ours is None or self.other is None:
            return None
        if self.row.slower is not None:
            return self.ours.cpu / self.other.cpu
        return self.other.cpu / self.ours.cpu

    @property
    def budget(self) -> str:
        """The budget in words."""
        row = self.row
        said = [f"≥ {row.faster:g} × faster"] if row.faster is not None else []
        said += [f"≤ {row.slower:g} ×"] if row.slower is not None else []
        said += [f"peak ≤ {row.peak:g} MB"] if row.peak is not None else []
        said += [f"wall ≤ {row.wall:g} s"] if row.wall is not None else []
        return ", ".join(said)

    @property
    def verdict(self) -> str:
        """Whether the budget is met, and what of it is not."""
        row, ratio = self.row, self.ratio
        if not self.budget:
            return ""
        if self.ours is None:
            return "no such command yet"
        missed = []
        if row.peak is not None and self.ours.peak > row.peak:
            missed.append("peak")
        if row.wall is not None and self.ours.wall > row.wall:
            missed.append("wall")
        if ratio is not None and row.faster is not None and ratio < row.faster:
            missed.append("ratio")
        if ratio is not None and row.slower is not None and ratio > row.slower:
            missed.append("ratio")
        if missed:
            return f"**no** ({', '.join(missed)})"
        return "yes" if ratio is not None or not row.against else "peak yes; ratio not measured"


def _cells(result: Result) -> list[str]:
    ours, other, ratio = result.ours, result.other, result.ratio
    cells = [result.row.name, *(_numbers(ours) if ours else ["–"] * 3)]
    if other is not None:
        cells += _numbers(other)
    else:
        cells += [NOT_MEASURED if result.row.against[:1] == (PEER,) else "–", "–", "–"]
    return [
        *cells,
        f"{ratio:.1f} ×" if ratio is not None else "–",
        result.budget or "–",
        result.verdict or "–",
    ]


def _numbers(measured: Measured) -> list[str]:
    return [
        f"{measured.cpu:.3f} ({measured.median_cpu:.3f})",
        f"{measured.wall:.3f}",
        f"{measured.peak:.0f}",
    ]


_INSIDE_HEAD = ("what", "measured", "budget", "met")


def _inside(numbers: dict[str, float]) -> list[list[str]]:
    return [
        [
            row.name,
            f"{numbers[row.key]:.3g} {row.unit}",
            f"≤ {row.most:g} {row.unit}",
            "yes" if numbers[row.key] <= row.most else "**no**",
        ]
        for row in INSIDE
    ]


def draw(results: list[Result], floors: dict[str, float], inside: dict[str, float]) -> None:
    """Print the tables."""
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    table = Table(*_HEAD, box=None, title="best (median) of the runs")
    for result in results:
        table.add_row(*(cell.replace("**", "") for cell in _cells(result)))
    console.print(table)
    table = Table("floor, 50 MB", "CPU s", box=None)
    for name, seconds in floors.items():
        table.add_row(name, f"{seconds:.3f}")
    console.print(table)
    table = Table(*_INSIDE_HEAD, box=None)
    for cells in _inside(inside):
        table.add_row(*(cell.replace("**", "") for cell in cells))
    console.print(table)


def write(
    results: list[Result], floors: dict[str, float], inside: dict[str, float], busy: tuple[float, float]
) -> None:
    """Write the results for people; busy: the machine's load average before and after."""
    lines = [*_machine(busy), *_table(_HEAD, [_cells(result) for result in results]), _READING]
    lines += ["", "## Inside the daemon", "", _DAEMON, ""]
    lines += _table(_INSIDE_HEAD, _inside(inside))
    lines += [
        "",
        "## Floors, 50 MB",
        "",
        "CPU seconds of single steps in one process, without its start.",
        "",
    ]
    lines += _table(("step", "CPU s"), [[name, f"{seconds:.3f}"] for name, seconds in floors.items()])
    lines.append(_REPEAT)
    PATH.write_text("\n".join(lines), "utf-8")


def _machine(busy: tuple[float, float]) -> list[str]:
    python = f"{platform.python_implementation()} {platform.python_version()}"
    system = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, {python}"
    load = f"Load average {busy[0]:.1f} before and {busy[1]:.1f} after (this run itself is 1)"
    return [
        "# What Coffer costs",
        "",
        "Written by `make bench`; do not edit.",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {system}. {load}.",
        "",
    ]


def _table(head: tuple[str, ...], rows: list[list[str]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|---|{'--:|' * (len(head) - 1)}",
        *(f"| {' | '.join(cells)} |" for cells in rows),
    ]


_READING = f"""
CPU seconds are user + system time of the best run, in brackets the median. Both sides run in turns on the
same file, with their byte code compiled and the file in the page cache. Ratios are of CPU seconds. Peak is
the hungriest run's, in 10^6 bytes.

The other is bare Python for `--help` and for the hook (there `-I -S -c pass`), else {REQUIREMENT}:
`diagnose` for show, `treat -rx standard --execute` for prune. `diagnose` also tries its three prescriptions on
the session; it has no command that only shows. Its network, updates and hooks are switched off (`bench/peer.py`).

The hook is the installed one, stub and all; a stand-in for the daemon answers it with a bundle of 9,500 bytes
(`bench/answerer.py`).

"MCP ready" is the installed pipe from its start to its end: it is told `initialize` and `tools/list`, and ends when
both are answered. With a daemon they are answered by the SDK in a process that has served a pipe before, without one
by the pipe, which also starts one (a program that ends at once: what a real one costs is not a client's wait).

"Small records" has the average record of real transcripts (2.5 KB, a fifth of the texts not ASCII); the other
Claude Code files have about 6 KB a record, as the files on which the budgets were set.
"""
_DAEMON = """The answer to SessionStart with twenty rules, the 99th of a hundred; a look at 1 MB of new records in a
transcript of 200 MB, with everything that hears of it; and a daemon that watches ten open sessions, after each had a
turn, over 65 seconds with one look at all transcripts in them (`bench/inside.py`). Questions of four words to a vault
of 100,000 entries in 4,000 files, over everything and within a project by turns (`bench/vault.py`)."""
_REPEAT = """
## Repeat

`make bench` (3 minutes, of which the daemon rests in one and a half), `PEER=1 make bench`
(5 minutes; installs the peer into `.bench/peer`).
Generated files stay in `.bench/` (0.5 GB; delete it at will).
"""
