"""`coffer export`: the vault in one file."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import click

from coffer.cli import plain
from coffer.cli.session import World
from coffer.store.home import Home
from coffer.work.memory.archive import export
from coffer.work.project.identity import identity_of, memory_root
from coffer.work.rules.effective import user_home


@click.command()
@click.argument("target", required=False, type=click.Path(path_type=Path), metavar="[FILE]")
@click.option("--project", is_flag=True, help="Only the project of this folder.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(target: Path | None, project: bool, force: bool, as_machine: bool) -> None:
    """Write the vault into one file: notes, journal, handoffs, rules lanes, and your own digest.

    A gzipped tar of Markdown, readable without Coffer. No pruned content, backups, database or settings are in it.
    FILE: where to write it; without it coffer-DATE.tar.gz in this folder.
    """
    world = World.now()
    home = Home.of(world.environment)
    chosen = ""
    if project:
        root = memory_root(home, user_home(world.environment), world.folder)
        if root is None:
            raise click.UsageError("This folder belongs to no project. Go into one, or leave --project away.")
        chosen = identity_of(root, home).id
    path = target or Path(f"coffer-{datetime.now(UTC):%Y-%m-%d}.tar.gz")
    done = export(home, world.environment, path, project=chosen, force=force)
    if as_machine:
        said = {
            "path": str(done.path),
            "files": done.files,
            "bytes": done.size,
            "entries": dict(done.entries),
        }
        click.echo(json.dumps(said, indent=2))
        return
    lanes = ", ".join(f"{count} in {lane}" for lane, count in done.entries.items()) or "no entries"
    click.echo(plain.visible(f"{done.path}: {done.files} files, {plain.size(done.size)}: {lanes}."))
