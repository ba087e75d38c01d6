"""`coffer index`: the index of the vault, which is made from its files."""

from __future__ import annotations

import json
import time
from functools import partial

import click

from coffer.cli import plain
from coffer.cli.counter import json_option
from coffer.cli.recall import indexing
from coffer.cli.session import World
from coffer.disk.replace import refusals
from coffer.store import index
from coffer.store.home import Home
from coffer.store.index import Done
from coffer.store.index_search import Filters, counted
from coffer.work.memory import by_meaning
from coffer.work.memory.index_use import ask, rebuild


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
    took = time.monotonic() - began
    vectors = _vectors(home) if by_meaning.wanted(home) and by_meaning.installed() else None
    if as_machine:
        told = {
            "files": done.files,
            "entries": done.entries,
            "path": str(index.path(home)),
            "vectors": vectors,
        }
        click.echo(json.dumps(told, indent=2))
    else:
        _tell(done, took, home, vectors)
    if by_meaning.wanted(home) and not by_meaning.installed():
        raise by_meaning.missing()


@command.command("vectors")
@json_option
def vectors_command(as_machine: bool) -> None:
    """Make the vectors that are missing, so that every entry is found by its meaning too.

    They are made by themselves a few at a time, and all of them by the daemon when an agent recalls. This is for after
    `[recall] embeddings` was switched on in config.toml, which works with the extra `embeddings` alone.
    """
    home = Home.of(World.now().environment)
    if not by_meaning.installed():
        raise by_meaning.missing()
    with indexing() as progress:
        ask(home, partial(counted, filters=Filters()), progress=progress)
    done = _vectors(home)
    if as_machine:
        click.echo(json.dumps({"vectors": done, "path": str(index.path(home))}, indent=2))
    else:
        click.echo(f"{done:,} entries got their vectors." if done else "Every entry has its vectors.")


def _vectors(home: Home) -> int:
    """Make those that are missing; of how many entries."""
    if not index.path(home).exists():
        return 0  # a vault without entries
    with indexing("Reading for meaning") as progress, refusals(index.path(home)):
        return by_meaning.make_all(home, progress)


def _tell(done: Done, took: float, home: Home, vectors: int | None) -> None:
    click.echo(
        plain.visible(
            f"{done.entries:,} entries of {done.files:,} files are indexed in {took:.1f} s: {index.path(home)}."
        )
    )
    if vectors:
        click.echo(f"{vectors:,} of them can be found by their meaning too.")
