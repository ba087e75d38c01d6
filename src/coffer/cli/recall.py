"""`coffer recall`: ask the vault."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime

import click

from coffer.cli import plain
from coffer.cli.counter import json_option
from coffer.cli.session import World
from coffer.core.recalled import by_name, head, shown
from coffer.core.search import Term
from coffer.store import projects
from coffer.store.home import Home
from coffer.store.index import Progress
from coffer.store.index_search import Filters, Hit
from coffer.store.project_errors import ProjectNotFound
from coffer.work.memory import by_meaning
from coffer.work.memory.recall import MOST, day_of, newest_of, recall, told_of
from coffer.work.project.memory_here import here
from coffer.work.rules.effective import user_home

_SHOWN = 320
_LANES = click.Choice(["knowledge", "journal"])


def _day(_context: click.Context, _parameter: click.Parameter, said: str | None) -> str:
    if not said:
        return ""
    try:
        return day_of(said, datetime.now(UTC))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@click.argument("query", nargs=-1)
@click.option("--project", metavar="PROJECT", help="Of this project: its id, its label, or a folder.")
@click.option("--all", "-a", "everything", is_flag=True, help="Of every project.")
@click.option(
    "--since", callback=_day, metavar="WHEN", help="From then on: 2026-05-03, 2026-05, yesterday, 3w."
)
@click.option("--until", callback=_day, metavar="WHEN", help="Up to then, that day or month included.")
@click.option("--agent", type=click.Choice(["claude", "codex"]), help="From sessions of this agent.")
@click.option("--source", type=click.Choice(["person", "agent", "distil"]), help="Whose words.")
@click.option("--lane", type=_LANES, help="Only notes, or only the journal.")
@click.option("--limit", "-n", default=10, show_default=True, type=click.IntRange(1, MOST))
@json_option
def command(
    query: tuple[str, ...],
    project: str | None,
    everything: bool,
    since: str,
    until: str,
    agent: str | None,
    source: str | None,
    lane: str | None,
    limit: int,
    as_machine: bool,
) -> None:
    """Ask what was decided, found out and done: in your notes and the journal of past sessions.

    QUERY is plain words; "quoted" parts must occur as they are. The id of an entry prints all of it; without a
    QUERY the newest entries are listed. Asked are the project that you are in and the global memory.
    """
    world, now = World.now(), datetime.now(UTC)
    home = Home.of(world.environment)
    place = here(home, user_home(world.environment), world.folder)
    folders = place.folders()
    if project:
        folders = _named(home, world, project)
    filters = Filters(
        None if everything else folders, lane or "", agent or "", source or "", since=since, until=until
    )
    question = " ".join(query)
    embeddings = by_meaning.wanted(home)
    with indexing() as progress:
        if question.strip():
            found = recall(home, question, filters, limit, now, embeddings=embeddings, progress=progress)
            hits, terms, one = found.hits, found.terms, found.one
        else:
            hits, terms, one = tuple(newest_of(home, filters, limit, progress=progress)[0]), (), False
    if embeddings:
        _warn_of_vectors(home)
    if as_machine:
        click.echo(json.dumps([_as_machine(hit) for hit in hits], indent=2, ensure_ascii=False))
        return
    _show(home, hits, terms, place.project, now, one=one)


def _as_machine(hit: Hit) -> dict[str, str | float]:
    return {name: value for name, value in asdict(hit).items() if name != "number"}


def _warn_of_vectors(home: Home) -> None:
    """Say on stderr why an answer was found by words alone."""
    if not by_meaning.installed():
        click.echo(plain.visible(str(by_meaning.missing())), err=True)
        return
    left = by_meaning.behind(home)
    if left:
        click.echo(
            f"{left:,} entries have no vectors yet, so words alone were asked. `coffer index vectors` makes them.",
            err=True,
        )


def _show(
    home: Home, hits: Sequence[Hit], terms: tuple[Term, ...], own: Sequence[str], now: datetime, *, one: bool
) -> None:
    if not hits:
        click.echo(
            "Nothing in the vault answers that. `coffer recall` lists the newest entries, --all those of all."
        )
        return
    where = by_name(
        {hit.folder for hit in hits}, own, {page.id: page.label for page in projects.all_known(home)}
    )
    for at, hit in enumerate(hits):
        if at:
            click.echo()
        entry = told_of(hit, where[hit.folder])
        click.echo(plain.visible_line(head(entry, now)))
        if one:
            click.echo(plain.visible(hit.text))
            click.echo(plain.visible_line(f"({home.root / 'memory' / hit.path})"))
        else:
            click.echo(f"  {plain.visible_line(shown(entry, terms, _SHOWN))}")


def _named(home: Home, world: World, said: str) -> tuple[str, ...]:
    """The folders of a project that a person names. Raises ProjectNotFound."""
    pages = projects.all_known(home)
    for fits in (
        [page for page in pages if said in (page.id, page.label)],
        [page for page in pages if page.id.startswith(said)],
    ):
        if len(fits) == 1:
            return projects.standing(home, fits[0].id), fits[0].id, *fits[0].was
        if fits:
            raise ProjectNotFound(f"“{said}” fits {len(fits)} projects: give more of the id.")
    place = here(home, user_home(world.environment), world.folder / said)
    if (world.folder / said).is_dir() and place.project:
        return place.project
    raise ProjectNotFound(f"No project with a memory is named “{said}”.")


@contextmanager
def indexing(what: str = "Indexing the vault") -> Iterator[Progress | None]:
    """A bar on stderr while many files are indexed; None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as bars  # noqa: PLC0415  (only a terminal shows a bar)

    from coffer.cli.screen import console  # noqa: PLC0415

    with bars.Progress(
        bars.TextColumn(what),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        console=console(error=True),
        transient=True,
    ) as bar:
        task = bar.add_task("", total=None, visible=False)
        yield lambda done, total: bar.update(task, completed=done, total=total, visible=total > 50)
