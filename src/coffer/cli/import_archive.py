"""`coffer import`: what another vault holds, added to this one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from coffer.cli import plain
from coffer.cli.session import World
from coffer.store import vault
from coffer.store.db import Receipt
from coffer.store.home import Home
from coffer.work.memory.archive import Taken, look_into, take_in
from coffer.work.rules.privilege import Propose, may
from coffer.work.rules.rule_errors import OnlyThePerson


@click.command()
@click.argument("archive", type=click.Path(path_type=Path), metavar="FILE")
@click.option(
    "--apply", "write", is_flag=True, help="Add it, after a question. Without this nothing is written."
)
@click.option("--yes", "-y", is_flag=True, help="With --apply: without asking.")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(archive: Path, write: bool, yes: bool, as_machine: bool) -> None:
    """Add what an archive of `coffer export` holds to this vault, entry by entry.

    An entry that is here already is not taken twice, nothing that is here is overwritten, and `coffer undo` takes out
    what was added. Rules of a rules lane in it reach your agents, so look first. A digest in it is not put in:
    `tar -xOf FILE digest/behavioral-digest.md` prints it.
    """
    world = World.now()
    home = Home.of(world.environment)
    taken = look_into(archive, home)
    receipt: Receipt | None = None
    if not as_machine:
        _show(taken, home)
    if write and taken.changing:
        decision = may(world.environment, terminal=sys.stdin.isatty() and sys.stdout.isatty(), yes=yes)
        if isinstance(decision, Propose):
            raise OnlyThePerson(decision.reason)
        if yes or click.confirm("Add this?"):
            receipt = take_in(taken, home)
    if as_machine:
        files = [
            {
                "path": str(one.path),
                "new": [entry.id for entry in one.new],
                "known": one.known,
                "kept": one.kept,
                "page": bool(one.page),
                "into": one.into,
            }
            for one in taken.files
        ]
        said = {"made": taken.made, "receipt": None if receipt is None else receipt.id, "files": files}
        click.echo(json.dumps(said, indent=2))
    elif receipt is not None:
        click.echo(f"Added. Receipt {receipt.id}; `coffer undo {receipt.id}` takes it out again.")
    else:
        click.echo("Nothing was changed." + (" --apply adds it." if taken.changing and not write else ""))


def _show(taken: Taken, home: Home) -> None:
    root = vault.vault(home)
    for one in taken.changing:
        what = f"{len(one.new)} new" if one.new else "its page"
        lane = ", read to your agents as rules:" if one.lane == "rules" and one.new else ""
        into = f", which gives its memory to the project {one.into}" if one.into else ""
        click.echo(plain.visible(f"{one.path.relative_to(root)}: {what}{lane}{into}"))
        if lane:
            for line in (line for entry in one.new for line in entry.text.splitlines() if line.strip()):
                click.echo(plain.visible(f"  {line}"))
    known = sum(one.known for one in taken.files)
    kept = sum(len(one.kept) for one in taken.files)
    if known:
        click.echo(f"{known} entries are here already.")
    if kept:
        click.echo(f"{kept} entries differ from those here, which stay as they are.")
    if taken.digest:
        click.echo("The archive also holds a digest, which is not put in.")
