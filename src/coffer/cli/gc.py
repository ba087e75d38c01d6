"""`coffer gc`: let go of what is no longer needed."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import click

from coffer.cli import plain
from coffer.cli.session import World
from coffer.store.home import Home
from coffer.work.pruning.gc import RETENTION_DAYS, collect


@click.command()
@click.option(
    "--days", default=RETENTION_DAYS, show_default=True, type=click.IntRange(0), help="Keep what is younger."
)
@click.option("--apply", "write", is_flag=True, help="Delete. Without this nothing is deleted.")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(days: int, write: bool, as_machine: bool) -> None:
    """Delete backups and pruned content of receipts that are old or undone.

    A receipt whose backup is gone can no longer be undone; its stubs can no longer be restored.
    """
    found = collect(Home.of(World.now().environment), days, datetime.now(UTC), dry_run=not write)
    if as_machine:
        click.echo(json.dumps({"receipts": found.receipts, "bytes": found.size, "deleted": write}, indent=2))
        return
    verb = "were deleted" if write else "would be deleted (--apply does it)"
    click.echo(
        f"{len(found.receipts)} receipts older than {days} days or undone: {plain.size(found.size)} {verb}."
    )
