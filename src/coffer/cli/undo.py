"""`coffer undo`: bring a file back."""

from __future__ import annotations

import json

import click

from coffer.cli import plain
from coffer.cli.session import World
from coffer.store.home import Home
from coffer.work.receipts import to_undo
from coffer.work.undo import undo


@click.command()
@click.argument("receipt", required=False, default="")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(receipt: str, as_machine: bool) -> None:  # noqa: FBT001
    """Undo what a receipt says: the file as it was, followed by what was appended since.

    RECEIPT is the unique start of a receipt's id; without one the last that can be undone.
    """
    world = World.now()
    home = Home.of(world.environment)
    found = to_undo(home, receipt)
    done = undo(found, home, world.places)
    if as_machine:
        click.echo(
            json.dumps({"undone": found.id, "receipt": done.id, "path": done.path} | done.data, indent=2)
        )
        return
    if done is found:
        click.echo(f"Receipt {found.id}: there was nothing to bring back. The file is as it was.")
        return
    appended = done.data["appended"]
    more = f", and {plain.size(appended)} that were appended since" if appended else ", byte for byte"
    click.echo(plain.visible(f"{done.path} is back as it was before receipt {found.id}{more}."))
