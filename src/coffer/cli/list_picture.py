"""The table of `coffer sessions`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from rich.text import Text

from coffer.cli import plain
from coffer.cli.screen import cell, console, keep_whole, table, text
from coffer.disk.sessions import MAIN
from coffer.work.sessions.listing import Listed

_WARM, _HOT = 0.55, 0.8
_ID = 8


def draw(listed: list[Listed], ids: Sequence[str], now: float, *, more: int = 0) -> None:
    """One row a session, newest first. ids: of all sessions, so that what is shown of one names it alone.

    more: how many sessions are not listed.
    """
    length = _unique(ids)
    screen = console()
    columns = ("session", "agent", "project", "title", "age", "tokens", "window", "")
    rows = table("", *columns, right=("age", "tokens", "window"))
    for item in listed:
        rows.add_row(
            cell(
                item.found.id[:length]
                if item.found.id[:1].isalnum() and len(item.found.id) == 36
                else item.found.id[:20]
            ),
            item.found.agent,
            cell(Path(item.folder).name if item.folder else "", 24),
            Text(item.problem and "can't be read") if item.problem else cell(item.title or "(no title)", 48),
            plain.age(max(0.0, now - item.found.modified)),
            plain.tokens(item.tokens) if item.tokens else "",
            _fill(item),
            _state(item),
        )
    keep_whole(rows, screen.width, "session", "agent", "age", "tokens", "window", "")
    screen.print(rows)
    if more:
        screen.print(f"{len(listed)} of {len(listed) + more} sessions; --all lists all.", style="dim")
    for item in listed:
        if item.problem:
            screen.print(Text(plain.visible(f"! {item.problem}"), style="yellow"))


def _unique(ids: Sequence[str]) -> int:
    """How many characters name each of the ids alone: Codex's begin with the time, so many share eight."""
    ordered = sorted(set(ids))
    return max(_ID, 1 + max((_shared(*pair) for pair in pairwise(ordered)), default=0))


def _shared(one: str, other: str) -> int:
    return next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one))


def _fill(item: Listed) -> Text:
    if not item.tokens:
        return Text("")
    style = "red" if item.fill >= _HOT else "yellow" if item.fill >= _WARM else ""
    return Text(f"{item.fill:.0%}", style=style)


def _state(item: Listed) -> Text:
    if item.holders:
        return text(item.holders[0].status or "live", "green")
    return Text("" if item.kind == MAIN else item.kind, style="dim")
