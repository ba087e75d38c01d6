"""Pictures and tables for people. All foreign text goes through `plain.visible`."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table
from rich.text import Text

from coffer.cli.plain import visible, visible_line
from coffer.disk.files import Progress as Report

COLOURS = {
    "system prompt and tools": "grey50",
    "your words": "green",
    "answers": "cyan",
    "thinking": "magenta",
    "tool calls": "blue",
    "tool results": "yellow",
    "images": "bright_red",
    "attachments": "dark_orange",
    "summary": "bright_cyan",
    "client notes": "bright_black",
    "free": "bright_black",
}
"""Groups of the picture and their colours."""

_BLOCK, _FREE = "█", "░"
_SLOW_BYTES = 20_000_000
_SLOW_COUNT = 8
_NARROWEST, _WIDEST = 40, 120


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Rich ends the program with 1, which says “something was found” where `check` does it."""
        raise BrokenPipeError


def console(*, error: bool = False) -> Console:
    """A console for stdout or stderr: colours on a terminal, none for NO_COLOR or a pipe."""
    return _Console(stderr=error, highlight=False, soft_wrap=False, emoji=False)


def text(foreign: str, style: str = "") -> Text:
    """Foreign text, made safe; never markup."""
    return Text(visible(foreign), style=style)


def stacked_bar(groups: Sequence[tuple[str, float]], total: float, width: int) -> Text:
    """A bar of `width` characters for `total`; each group's share in its colour, what is left is free.

    A group that exists is at least one character wide where there is room.
    """
    bar = Text()
    if total <= 0 or width <= 0:
        return bar
    left = width
    for name, amount in groups:
        if amount <= 0:
            continue
        cells = min(left, max(1, round(amount / total * width)))
        bar.append(_BLOCK * cells, style=COLOURS.get(name, "white"))
        left -= cells
    bar.append(_FREE * left, style=COLOURS["free"])
    return bar


def flow(screen: Console, line: Text) -> None:
    """Print a line of prose: on a terminal, also behind a pager, it goes on in further lines, below its own text.

    Where no terminal is anywhere near, a program reads: a line stays one line.
    """
    if not any(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        screen.print(line, soft_wrap=True)
        return
    mark = "- " if line.plain.startswith("- ") else ""
    width = min(screen.width, _WIDEST_PROSE) - len(mark)
    pieces = line[len(mark) :].wrap(screen, width)
    for at, piece in enumerate(pieces or [Text()]):
        screen.print(Text(mark if at == 0 else " " * len(mark)) + piece, soft_wrap=True)


_WIDEST_PROSE = 100


def bar_width(screen: Console) -> int:
    """How wide a picture may be."""
    return max(_NARROWEST, min(_WIDEST, screen.width - 2))


def table(title: str, *columns: str, right: Sequence[str] = ()) -> Table:
    """A table without a frame; columns named in `right` are aligned right."""
    made = Table(
        title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    for column in columns:
        made.add_column(
            column,
            justify="right" if column in right else "left",
            no_wrap=True,
            overflow="ellipsis",
            header_style="dim",
        )
    return made


def wrapped(rows: Table) -> Table:
    """The same, its last column going on in further lines where it is too long."""
    rows.columns[-1].no_wrap = False
    return rows


def keep_whole(rows: Table, width: int, *names: str) -> None:
    """Let these columns keep all they hold; where the width is too small, the others share what is left."""
    free, others = width, []
    for column in rows.columns:
        length = max([len(str(column.header)), *map(_length, column.cells)])
        free -= _GAP
        if column.header in names:
            column.min_width = length
            free -= length
        else:
            others.append((length, column))
    for place, (length, column) in enumerate(sorted(others, key=lambda item: item[0])):
        column.max_width = max(_LEAST, min(length, (free + _GAP) // (len(others) - place)))
        free -= column.max_width


_GAP, _LEAST = 2, 4


def _length(shown: object) -> int:
    return shown.cell_len if isinstance(shown, Text) else len(str(shown))


def cell(foreign: str, longest: int = 72) -> Text:
    """Foreign text for a table: one line, its middle left out where it is too long."""
    shown = visible_line(foreign)
    if len(shown) > longest:
        half = (longest - 1) / 2
        shown = shown[: math.ceil(half)] + "…" + shown[-math.floor(half) :]
    return Text(shown)


@contextmanager
def progress(size: int, label: str) -> Iterator[Report | None]:
    """A progress bar on stderr for work on `size` bytes; None where nobody would see it or it is quick."""
    if size < _SLOW_BYTES or not sys.stderr.isatty():
        yield None
        return
    from rich import progress as bars  # noqa: PLC0415  (only long work on a terminal shows a bar)

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.DownloadColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=console(error=True), transient=True) as shown:
        task = shown.add_task(visible_line(label), total=size)
        yield lambda done, total: shown.update(task, completed=done, total=total)


@contextmanager
def counting(total: int, label: str) -> Iterator[Callable[[], None]]:
    """A progress bar on stderr for `total` things; the function it gives counts one."""
    if total < _SLOW_COUNT or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich import progress as bars  # noqa: PLC0415  (only long work on a terminal shows a bar)

    columns = (bars.TextColumn("{task.description}"), bars.BarColumn(), bars.MofNCompleteColumn())
    with bars.Progress(*columns, console=console(error=True), transient=True) as shown:
        task = shown.add_task(label, total=total)
        yield lambda: shown.advance(task)
