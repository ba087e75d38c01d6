"""`coffer show`: what fills a session, as a picture and tables."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import click

from coffer.cli.session import World, open_session, session_argument
from coffer.disk.live import Holder
from coffer.disk.sessions import thread_names
from coffer.work.sessions.holders import Holders
from coffer.work.sessions.inspect import Report, inspect
from coffer.work.sessions.report import as_json


@click.command()
@session_argument
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
@click.option(
    "--top", default=10, show_default=True, type=click.IntRange(0, 1000), help="Rows of each table."
)
def command(session: str, as_machine: bool, top: int) -> None:
    """Show what fills a session: tokens by kind, tool, file and record, and what never reaches the model.

    SESSION is an id, the unique start of one, a path, or `current` (the default): the session that this
    command runs in, else the newest of this folder.
    """
    world = World.now()
    with open_session(session, world) as opened:
        report = inspect(opened, world.environment, thread_names(world.places), top)
        holders = Holders(world.places).of(report.agent, report.session)
    if as_machine:
        click.echo(json.dumps(as_json(report, holders, top), indent=2))
        return
    draw(report, holders, top)


def draw(report: Report, holders: list[Holder], top: int) -> None:
    """Draw a report on the terminal."""
    from coffer.cli import picture  # noqa: PLC0415  (rich is imported when something is drawn)

    picture.draw(report, holders, top, datetime.now(UTC))
