"""The picture of `coffer show`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rich.console import Console
from rich.text import Text

from coffer.cli import plain
from coffer.cli.screen import COLOURS, bar_width, cell, console, stacked_bar, table, text
from coffer.core.chain import seconds
from coffer.core.shares import SENT
from coffer.disk.live import Holder
from coffer.work.sessions.inspect import Report
from coffer.work.sessions.report import by_age, by_kind

_WHAT, _NUMBERS, _NARROWEST = 26, 28, 16
"""Widths in characters: the column "what", what the number columns take, the least for a text."""

_TITLES = {"claude": "Claude Code", "codex": "Codex"}


def draw(report: Report, holders: list[Holder], top: int, now: datetime) -> None:
    """Header, bar, tables, what is not sent, warnings."""
    screen = console()
    _header(screen, report, holders, now)
    groups = by_kind(report)
    screen.print(stacked_bar(list(groups.items()), report.window.tokens, bar_width(screen)))
    _kinds(screen, report, groups)
    if top:
        _tables(screen, report, top)
    _ages(screen, report)
    _file(screen, report)
    _notes(screen, report)


def _header(screen: Console, report: Report, holders: list[Holder], now: datetime) -> None:
    screen.print(cell(report.title or "(no title)", 100), style="bold")
    line = Text(f"{_TITLES.get(report.agent, report.agent)} · ")
    line.append_text(cell(report.session, 60)).append(" · ")
    line.append_text(cell(report.model or "model unknown", 40)).append(
        f" · {report.turns} turn{'' if report.turns == 1 else 's'}"
    )
    last = seconds(report.last)
    if last is not None:
        line.append(f" · {plain.ago(max(0.0, (now - _moment(last)).total_seconds()))}")
    screen.print(line)
    screen.print(cell(report.folder or str(report.path), 100), style="dim")
    for holder in holders:
        status = f", {holder.status}" if holder.status else ""
        screen.print(text(f"Open in a running client (pid {holder.pid}{status}).", "green"))
    screen.print()
    measured = report.measure.source if report.measure else "estimated: nothing in the file counts them"
    screen.print(
        f"{plain.tokens(report.tokens)} of {plain.tokens(report.window.tokens)} tokens "
        f"({report.fill:.0%}) · tokens: {measured} · window: {report.window.source}"
    )


def _moment(epoch: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=epoch)


def _kinds(screen: Console, report: Report, groups: dict[str, int]) -> None:
    rows = table("", "", "tokens", "share", right=("tokens", "share"))
    for name, amount in sorted(groups.items(), key=lambda item: -item[1]):
        label = Text("■ ", style=COLOURS.get(name, "white")).append(name, style="default")
        rows.add_row(label, plain.tokens(amount), f"{amount / report.tokens:.1%}" if report.tokens else "")
    free = report.window.tokens - report.tokens
    if free > 0:
        rows.add_row(Text("░ free", style="dim"), plain.tokens(free), "")
    screen.print(rows)
    pending = report.composition.pending
    if pending >= 1:
        screen.print(f"About {plain.tokens(pending)} tokens came after the last count.", style="dim")
    calibration = report.composition.calibration
    if calibration.error is not None and calibration.step_error is not None:
        screen.print(
            f"Single blocks are estimated: against {calibration.answers} counted requests that were left "
            f"out of the fit, off by {calibration.error:.1%} of a request and "
            f"{calibration.step_error:.0%} of a step (medians).",
            style="dim",
        )
    else:
        screen.print(
            "Single blocks are estimated; too few counted requests to measure the error.", style="dim"
        )
    screen.print()


def _tables(screen: Console, report: Report, top: int) -> None:
    for title, key in (("By tool", "tool"), ("By file", "path")):
        found = list(report.composition.by(key).items())[:top]
        if found:
            rows = table(title, key, "tokens", right=("tokens",))
            for name, amount in found:
                rows.add_row(cell(name, max(_NARROWEST, screen.width - _NUMBERS)), plain.tokens(amount))
            screen.print(rows)
            screen.print()
    if report.largest:
        rows = table("Largest", "what", "tokens", "turns ago", "about", right=("tokens", "turns ago"))
        for part, amount, about in report.largest[:top]:
            what = f"{part.label}: {part.tool}" if part.tool else part.label
            rows.add_row(
                cell(what, _WHAT),
                plain.tokens(amount),
                str(report.turns - part.turn),
                cell(about, max(_NARROWEST, screen.width - _WHAT - _NUMBERS)),
            )
        screen.print(rows)
        screen.print()


def _ages(screen: Console, report: Report) -> None:
    rows = table("By age", "came", "tokens", right=("tokens",))
    for name, amount in by_age(report).items():
        rows.add_row(name, plain.tokens(amount))
    screen.print(rows)
    screen.print()


def _file(screen: Console, report: Report) -> None:
    unsent = sum(amount for name, amount in report.shares.items() if name != SENT)
    title = f"The file: {plain.size(report.size)}, of which {plain.size(unsent)} never reach the model"
    rows = table(title, "bytes of", "size", right=("size",))
    for name, amount in report.shares.items():
        rows.add_row(Text(name, style="" if name == SENT else "dim"), plain.size(amount))
    screen.print(rows)


def _notes(screen: Console, report: Report) -> None:
    for warning in report.warnings:
        screen.print(text(f"! {warning}", "yellow"))
