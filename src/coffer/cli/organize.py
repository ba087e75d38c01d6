"""`coffer organize`: notes put in order."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from coffer.cli import plain
from coffer.cli.session import World
from coffer.core.entry import title
from coffer.store.db import Receipt
from coffer.store.home import Home
from coffer.work.memory.organize import Order, carry_out, plan
from coffer.work.project.memory_folder import memory_folder
from coffer.work.project.memory_here import here
from coffer.work.rules.ask import Asker
from coffer.work.rules.effective import user_home
from coffer.work.rules.privilege import Propose, may
from coffer.work.rules.rule_errors import OnlyThePerson
from coffer.work.settings import load

_SHOWN = 8


@click.command()
@click.option("--global", "everywhere", is_flag=True, help="The global memory instead of this project's.")
@click.option(
    "--apply", "write", is_flag=True, help="Do it, after a question. Without this nothing is written."
)
@click.option("--no-model", is_flag=True, help="Do not ask the configured model to make one note of several.")
@click.option("--yes", "-y", is_flag=True, help="With --apply: without asking.")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(everywhere: bool, write: bool, no_model: bool, yes: bool, as_machine: bool) -> None:
    """Put the notes of this project in order: repeated ones once, those that belong together in one file.

    Nothing is lost: notes keep their source, what is merged away lies in knowledge/archive, and `coffer undo` takes all
    of it back. With a configured model the notes of a topic become one. A note that reads as a rule is proposed to your
    digest (`coffer digest inbox`), never put there. It never runs by itself.
    """
    world, now = World.now(), datetime.now(UTC)
    home = Home.of(world.environment)
    place = here(home, user_home(world.environment), world.folder)
    if place.root is None and not everywhere:
        raise place.no_project("to be put in order")
    root = None if everywhere else place.root
    settings = load(home)
    asker = None
    if settings.model.provider != "none" and not no_model:
        asker = Asker(
            settings, home, world.environment, only_kept=not write, instead="putting the notes in one file"
        )
    order = plan(memory_folder(home, root), now, asker)
    receipt: Receipt | None = None
    done = False
    if not as_machine:
        _show(order)
        if asker is not None and not write:
            click.echo("With --apply the configured model makes one note of each topic of three or more.")
    if write and (order.files or order.rules):
        decision = may(world.environment, terminal=sys.stdin.isatty() and sys.stdout.isatty(), yes=yes)
        if isinstance(decision, Propose):
            raise OnlyThePerson(decision.reason)
        if yes or click.confirm("Do this?"):
            receipt, done = carry_out(order, home, root, place.user, now), True
    if as_machine:
        click.echo(json.dumps(_as_json(order, receipt, done=done), indent=2))
        return
    for problem in order.problems:
        click.echo(plain.visible(problem), err=True)
    if not done:
        click.echo("Nothing was changed." + (" --apply does it." if not write and order.files else ""))
    if done and order.rules:
        click.echo("Proposed to your digest: `coffer digest inbox`. The notes stay where they are.")
    if receipt is not None:
        click.echo(f"Done. Undo: coffer undo {receipt.id}")


def _show(order: Order) -> None:
    if not order.files and not order.rules:
        click.echo("The notes are in order.")
    for topic in order.topics:
        how = ", made one note by the model" if topic.name in order.merged else ""
        click.echo(plain.visible(f"{topic.name}.md: {len(topic.fresh)} more, {len(topic.notes)} in all{how}"))
        for one in topic.fresh[:_SHOWN]:
            click.echo(plain.visible(f"  {one.id}  {title(one)}"))
        if len(topic.fresh) > _SHOWN:
            click.echo(f"  … {len(topic.fresh) - _SHOWN} more")
    for gone, kept in order.repeated.items():
        click.echo(f"{gone} says what {kept} says, and goes to the archive")
    for one in order.rules:
        click.echo(plain.visible(f"{one.id} reads as a rule, for you to accept or not: {title(one)}"))


def _as_json(order: Order, receipt: Receipt | None, *, done: bool) -> dict[str, object]:
    return {
        "done": done,
        "receipt": None if receipt is None else receipt.id,
        "topics": [
            {
                "name": topic.name,
                "notes": [one.id for one in topic.notes],
                "fresh": [one.id for one in topic.fresh],
            }
            for topic in order.topics
        ],
        "merged": order.merged,
        "repeated": order.repeated,
        "rules": [one.id for one in order.rules],
        "files": [str(Path(one.path)) for one in order.files],
        "problems": order.problems,
    }
