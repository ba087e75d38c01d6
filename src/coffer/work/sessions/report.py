"""A report as JSON for programs. Keys are part of the interface (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coffer.core.composition import Part
from coffer.core.parts import BASE
from coffer.disk.live import Holder
from coffer.work.sessions.inspect import Report


def as_json(report: Report, holders: Sequence[Holder], top: int) -> dict[str, Any]:
    """The report: counts in tokens, sizes in bytes, times in ISO 8601."""
    composition, calibration = report.composition, report.composition.calibration
    return {
        "session": report.session,
        "agent": report.agent,
        "path": str(report.path),
        "title": report.title,
        "folder": report.folder,
        "model": report.model,
        "bytes": report.size,
        "turns": report.turns,
        "started": report.started,
        "last": report.last,
        "live": [{"pid": holder.pid, "status": holder.status} for holder in holders],
        "tokens": report.tokens,
        "tokens_source": report.measure.source if report.measure else "estimate",
        "tokens_pending": round(composition.pending),
        "window": report.window.tokens,
        "window_source": report.window.source,
        "window_used": round(report.fill, 4),
        "by_kind": by_kind(report),
        "by_tool": composition.by("tool"),
        "by_file": composition.by("path"),
        "by_age": by_age(report),
        "top": [_top(part, tokens, about, report.turns) for part, tokens, about in report.largest[:top]],
        "file_bytes": report.shares,
        "estimate": {
            "error": _rounded(calibration.error),
            "step_error": _rounded(calibration.step_error),
            "answers": calibration.answers,
        },
        "warnings": report.warnings,
    }


def _rounded(value: float | None) -> float | None:
    return round(value, 4) if value is not None else None


def by_kind(report: Report) -> dict[str, int]:
    """Tokens by group, the base first; sums to the tokens but for rounding."""
    base = {BASE: report.composition.base} if report.composition.base else {}
    return base | report.composition.by("label")


AGES = ((0, "this turn"), (4, "1 to 4 turns ago"), (19, "5 to 19 turns ago"))
OLDER = "20 turns ago and more"


def by_age(report: Report) -> dict[str, int]:
    """Tokens by how many of the person's prompts came since."""
    sums = {name: 0.0 for _, name in AGES} | {OLDER: 0.0}
    for part, tokens in report.composition.parts:
        since = report.turns - part.turn
        sums[next((name for limit, name in AGES if since <= limit), OLDER)] += tokens
    return {name: round(value) for name, value in sums.items()}


def _top(part: Part, tokens: int, excerpt: str, turns: int) -> dict[str, Any]:
    record = part.record
    return {
        "tokens": tokens,
        "kind": part.label,
        "tool": part.tool,
        "path": part.path,
        "about": excerpt,
        "turns_ago": turns - part.turn,
        "uuid": record.uuid if record else "",
        "offset": record.start if record else None,
        "bytes": part.size,
    }
