"""What prunes save, over every transcript that is at hand: `make savings` writes docs/savings.md.

API tokens are counted by one ruler for Coffer and for the peer: the blocks of the view that a resume would send,
each by its size, fitted to the session's own counted requests; stubs count in full. With PEER=1 the peer's
`treat` runs on copies of the same files (bench/peer.py says how it is kept quiet).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.peer import QUIET, installed
from coffer.core.parts import parts_of
from coffer.core.strategies.table import PRESCRIPTIONS, STRATEGIES
from coffer.disk.places import Places
from coffer.errors import CofferError
from coffer.store.home import Home
from coffer.work.pruning.prune import apply, propose
from coffer.work.pruning.prune_report import shares
from coffer.work.sessions.inspect import inspect
from coffer.work.sessions.read import opened

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "savings.md"
CORPUS = ROOT.parent / "shared" / "corpus" / "claude"
LEAST_TOKENS = 60_000
"""Sessions below this are not worth a prune; they are left out of the medians."""
_LONG_AGO = (1_000_000_000, 1_000_000_000)


@dataclass(slots=True)
class Saved:
    """One file under one prescription, in tokens of messages (without system prompt and tools)."""

    name: str
    tokens: int
    messages: float
    ours: dict[str, float]
    by_strategy: dict[str, dict[str, float]]
    theirs: dict[str, float]
    error: float | None


def main() -> int:
    paths = sorted(CORPUS.glob("*.jsonl"))
    if not paths:
        sys.stderr.write("The shared corpus is not beside the project; there is nothing to measure.\n")
        return 1
    peer = installed() if os.environ.get("PEER") == "1" else None
    found = [saved for path in paths if (saved := _measure(path, peer)) is not None]
    OUT.write_text(_text(found, with_peer=peer is not None), "utf-8")
    sys.stdout.write(f"{OUT.relative_to(ROOT)}: {len(found)} sessions\n")
    return 0


def _measure(path: Path, peer: Path | None) -> Saved | None:
    with opened(path) as session:
        report = inspect(session, {}, top=0)
    if report.measure is None or report.tokens < LEAST_TOKENS:
        return None
    scale = report.composition.calibration.scale
    before = _count(path, scale)
    known = float(report.tokens - report.composition.base)
    fit = known / before if before else 1.0
    saved = Saved(path.stem, report.tokens, known, {}, {}, {}, report.composition.calibration.error)
    for name in PRESCRIPTIONS:
        after, by_strategy = _ours(path, name, scale)
        saved.ours[name] = (before - after) * fit
        saved.by_strategy[name] = by_strategy
        if peer is not None:
            saved.theirs[name] = (before - _theirs(path, name, scale, peer)) * fit
    return saved


def _count(path: Path, scale: float) -> float:
    with opened(path) as session:
        return scale * sum(part.guess for part in parts_of(session.agent.view(session.transcript, "").items))


def _ours(path: Path, name: str, scale: float) -> tuple[float, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        copy = _copy(path, Path(folder))
        with opened(copy) as session:
            proposal = propose(session, {}, name)
            by_strategy = {share.strategy: float(share.tokens) for share in shares(proposal) if share.tokens}
            if not proposal.plan.is_empty:
                apply(proposal, Home(Path(folder) / "home"), Places(Path(folder) / "c", Path(folder) / "x"))
        return _count(copy, scale), by_strategy


def _theirs(path: Path, name: str, scale: float, peer: Path) -> float:
    with tempfile.TemporaryDirectory() as folder:
        copy = _copy(path, Path(folder))
        environment = {"HOME": folder, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **QUIET}
        subprocess.run(
            [str(peer), "treat", str(copy), "-rx", name, "--execute"],
            env=environment,
            cwd=folder,
            capture_output=True,
            check=False,
            timeout=300,
        )
        try:
            return _count(copy, scale)
        except CofferError:
            return float("nan")  # what it left can no longer be read


def _copy(path: Path, folder: Path) -> Path:
    copy = folder / path.name
    shutil.copyfile(path, copy)
    os.utime(copy, _LONG_AGO)
    return copy


def _text(found: list[Saved], *, with_peer: bool) -> str:
    lines = [
        "# What prunes save",
        "",
        "Written by `PEER=1 make savings`; do not edit. API tokens of the messages that a resume would send (without",
        "system prompt and tool schemas), as a share of them. All are estimates by one ruler for both sides: the",
        "blocks of the view by their size, fitted to each session's own counted requests; stubs count in full. The",
        "error of that ruler on requests that were left out of its fit stands in the last column.",
        "",
        f"{len(found)} sessions of the shared corpus with at least {LEAST_TOKENS:,} tokens.",
        "",
        *_medians(found, with_peer=with_peer),
        "",
        "## By strategy",
        "",
        *_strategies(found),
        "",
        "## By session",
        "",
        *_sessions(found, with_peer=with_peer),
        "",
    ]
    return "\n".join(lines)


def _share(value: float, whole: float) -> float:
    return value / whole if whole else 0.0


def _medians(found: list[Saved], *, with_peer: bool) -> list[str]:
    head = "| prescription | Coffer: median | range |" + (" peer: median | range |" if with_peer else "")
    rule = "|---|--:|--:|" + ("--:|--:|" if with_peer else "")
    rows = [head, rule]
    for name in PRESCRIPTIONS:
        row = f"| {name} | {_spread([_share(s.ours[name], s.messages) for s in found])} |"
        if with_peer:
            row += f" {_spread([_share(s.theirs[name], s.messages) for s in found])} |"
        rows.append(row)
    return rows


def _spread(values: list[float]) -> str:
    known = [value for value in values if value == value]  # noqa: PLR0124  (NaN is unlike itself)
    if not known:
        return "– | –"
    return f"{median(known):.0%} | {min(known):.0%} – {max(known):.0%}"


def _strategies(found: list[Saved]) -> list[str]:
    rows = ["| strategy | saves | gentle | standard | aggressive | sessions |", "|---|---|--:|--:|--:|--:|"]
    for strategy in STRATEGIES:
        cells = []
        for name in PRESCRIPTIONS:
            values = [_share(s.by_strategy[name].get(strategy.name, 0.0), s.messages) for s in found]
            cells.append(f"{sum(values) / len(values):.1%}" if any(values) else "–")
        where = sum(strategy.name in s.by_strategy["aggressive"] for s in found)
        rows.append(f"| {strategy.name} | {strategy.saves} | {' | '.join(cells)} | {where} |")
    rows += [
        "",
        "Means over all sessions, as the plans estimate them; the last column counts sessions where it takes tokens.",
    ]
    return rows


def _sessions(found: list[Saved], *, with_peer: bool) -> list[str]:
    names = list(PRESCRIPTIONS)
    head = [
        "session",
        "tokens",
        "messages",
        *names,
        *([f"peer {n}" for n in names] if with_peer else []),
        "error",
    ]
    rows = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    for saved in found:
        cells = [saved.name, f"{saved.tokens:,}", f"{saved.messages:,.0f}"]
        cells += [f"{_share(saved.ours[name], saved.messages):.0%}" for name in names]
        if with_peer:
            cells += [_percent(_share(saved.theirs[name], saved.messages)) for name in names]
        cells.append(_percent(saved.error, digits=1))
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def _percent(value: float | None, digits: int = 0) -> str:
    return "–" if value is None or value != value else f"{value:.{digits}%}"  # noqa: PLR0124  (NaN)


if __name__ == "__main__":
    sys.exit(main())
