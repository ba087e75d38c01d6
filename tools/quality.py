"""How good the estimates are, over every transcript that is at hand: `make quality`.

For each session: tokens now against the last usage, the error of the estimate on requests that were left out
of its fit, and the error of a single step. Reported, never asserted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from coffer.errors import CofferError
from coffer.work.sessions.inspect import Report, inspect
from coffer.work.sessions.read import opened

ROOT = Path(__file__).parents[1]
PLACES = (ROOT / "tests/corpus", ROOT.parent / "shared/corpus")


def main() -> int:
    reports = [report for path in _paths() if (report := _report(path)) is not None]
    table = Table("session", "tokens", "source", "requests", "error", "step error", box=None)
    for report in reports:
        calibration = report.composition.calibration
        table.add_row(
            report.path.stem,
            f"{report.tokens:,}",
            report.measure.source if report.measure else "estimate",
            str(calibration.answers),
            _percent(calibration.error),
            _percent(calibration.step_error),
        )
    console = Console(width=120)
    console.print(table)
    for name in ("error", "step_error"):
        values = [v for r in reports if (v := getattr(r.composition.calibration, name)) is not None]
        if values:
            console.print(
                f"{name.replace('_', ' ')}: median {median(values):.1%}, worst {max(values):.1%}, "
                f"{len(values)} sessions"
            )
    return 0


def _paths() -> list[Path]:
    return [path for place in PLACES for path in sorted(place.glob("*/*.jsonl"))]


def _report(path: Path) -> Report | None:
    try:
        with opened(path) as session:
            return inspect(session, {})
    except CofferError as error:
        sys.stderr.write(f"{error}\n")
        return None


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


if __name__ == "__main__":
    sys.exit(main())
