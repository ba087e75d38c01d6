"""`coffer index`: the index of the vault, which is made from its files."""

from __future__ import annotations

import json
import time

import click

from coffer.cli import plain
from coffer.cli.counter import json_option
from coffer.cli.recall import indexing
from coffer.cli.session import World
from coffer.disk.replace import refusals
from coffer.store import index
from coffer.store.home import Home
from coffer.work.memory.index_use import rebuild


@click.group()
def command() -> None:
    """The index by which `coffer recall` finds entries. It is made from the vault's files and holds nothing else.

    It is brought up to date by whoever asks, and made anew by itself when it is missing or broken.
    """


@command.command("rebuild")
@json_option
def rebuild_command(as_machine: bool) -> None:
    """Make the index anew from the files."""
    home = Home.of(World.now().environment)
    began = time.monotonic()
    with indexing() as progress, refusals(index.path(home)):
        done = rebuild(home, progress)
    if as_machine:
        told = {"files": done.files, "entries": done.entries, "path": str(index.path(home))}
        click.echo(json.dumps(told, indent=2))
        return
    took = time.monotonic() - began
    click.echo(
        plain.visible(
            f"{done.entries:,} entries of {done.files:,} files are indexed in {took:.1f} s: {index.path(home)}."
        )
    )
