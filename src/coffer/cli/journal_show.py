"""`coffer journal show`: entries for people and programs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from coffer.cli.counter import json_option
from coffer.cli.session import World
from coffer.core.entry import Entry, title
from coffer.core.regex import regex
from coffer.store.home import Home
from coffer.store.projects import all_known
from coffer.work.memory.journal_list import Page, all_lanes, lanes_of, pages
from coffer.work.project.identity import memory_root
from coffer.work.rules.effective import user_home

LAST_DAYS = 7
_BOLD = regex(r"\*\*(.+?)\*\*")
_CODE = regex(r"`([^`\n]+)`")


def _as_day(_context: click.Context, _parameter: click.Parameter, said: str | None) -> date | None:
    """A day as people write it: 2026-11-30, today, yesterday, 7d."""
    if said is None:
        return None
    today = datetime.now().astimezone().date()
    named = {"today": today, "yesterday": today - timedelta(days=1)}
    if said.lower() in named:
        return named[said.lower()]
    ago = re.fullmatch(r"(\d{1,4})\s*d(?:ays?)?", said.lower())
    if ago is not None:
        return today - timedelta(days=int(ago[1]))
    try:
        return date.fromisoformat(said)
    except ValueError:
        raise click.BadParameter(
            "write a day as 2026-11-30, today, yesterday, or 7d for seven days ago"
        ) from None


@click.command()
@click.option("--day", callback=_as_day, metavar="DAY", help="Only this day: 2026-11-30, today, yesterday.")
@click.option("--since", callback=_as_day, metavar="DAY", help="From this day on; 30d: the last thirty days.")
@click.option(
    "--project",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="The project of this folder instead of the one that you are in.",
)
@click.option("--all", "-a", "everything", is_flag=True, help="Every project, and what belongs to none.")
@click.option("--titles", "-t", is_flag=True, help="One line an entry.")
@json_option
def command(
    day: date | None,
    since: date | None,
    project: Path | None,
    everything: bool,
    titles: bool,
    as_machine: bool,
) -> None:
    r"""Read the journal of the project that you are in, of the last seven days unless you name others.

    \b
    coffer journal show --day yesterday
    coffer journal show --since 30d --titles
    coffer journal show --all --since 2026-11-01 | less -R
    """
    if project is not None and everything:
        raise click.UsageError("--project and --all exclude each other.")
    world = World.now()
    home = Home.of(world.environment)
    root = memory_root(home, user_home(world.environment), project or world.folder)
    today = datetime.now().astimezone().date()
    first = day or since or today - timedelta(days=LAST_DAYS - 1)
    found = pages(all_lanes(home) if everything else lanes_of(home, root), first, day)
    if as_machine:
        click.echo(json.dumps({"entries": [as_json(page) for page in found]}, indent=2))
        return
    if not found:
        where = "of any project" if everything else f"of {root.name}" if root else "outside of projects"
        span = f"on {day}" if day else f"since {first}"
        more = "" if everything else " Of all projects: coffer journal show --all."
        _say(f"The journal {where} has no entry {span}.{more} What waits: coffer journal status")
        return
    names = {one.id: one.label or one.id for one in all_known(home)} if everything else {}
    _draw(found, names, titles=titles)


def as_json(page: Page) -> dict[str, Any]:
    """An entry for programs."""
    entry = page.entry
    names = ("id", "source", "agent", "session", "time", "branch", "text")
    return (
        {"day": page.day, "project": page.project, "title": title(entry)}
        | {name: getattr(entry, name) for name in names}
        | {"path": str(page.path)}
    )


def _say(sentence: str) -> None:
    from coffer.cli.plain import visible  # noqa: PLC0415  (as its neighbours)

    click.echo(visible(sentence))


def _whence(entry: Entry) -> str:
    return f"session {entry.session}" if entry.session else "written by you"


def _draw(found: list[Page], names: Mapping[str, str], *, titles: bool) -> None:
    """names: of the projects by their ids, where entries of several are shown."""
    from rich.text import Text  # noqa: PLC0415  (rich is imported when something is drawn)

    from coffer.cli.plain import moment, visible_line  # noqa: PLC0415
    from coffer.cli.screen import console, flow  # noqa: PLC0415

    screen = console()
    day = ""
    for page in found:
        if page.day != day:
            day = page.day
            screen.print(Text(f"{chr(10) if day != found[0].day else ''}{day}", style="bold cyan"))
        where = f" [{names.get(page.project, page.project)}]" if names else ""
        if titles:
            line = f"{moment(page.entry.time)[11:]}  {page.entry.id}  {title(page.entry)}{where}"
            screen.print(Text(f"  {visible_line(line)}"), soft_wrap=True)
            continue
        screen.print()
        for line in page.entry.text.rstrip().splitlines():
            flow(screen, _line(line, where))
        whence = visible_line(f"{page.entry.id} · {_whence(page.entry)}")
        screen.print(Text(f"\n{whence}", style="dim"), soft_wrap=True)


def _line(line: str, where: str) -> Any:
    """One line of an entry: its headings bold, its names in colour."""
    from rich.text import Text  # noqa: PLC0415  (as above)

    from coffer.cli.plain import visible  # noqa: PLC0415

    said = visible(line)
    if said.startswith("# "):
        return Text(said[2:] + where, style="bold green")
    bare = _BOLD.sub(r"\1", said)
    shown = Text(bare)
    for match in _BOLD.finditer(said):
        at = bare.find(match[1])
        shown.stylize("bold", at, at + len(match[1]))
    for match in _CODE.finditer(bare):
        shown.stylize("cyan", match.start(), match.end())
    return shown
