"""`coffer undo`: take back what a receipt says."""

from __future__ import annotations

import json
from pathlib import Path

import click

from coffer.agents.table import CLAUDE
from coffer.cli import plain
from coffer.cli.session import World
from coffer.disk.live import holders
from coffer.disk.places import Places
from coffer.store.home import Home
from coffer.work.agent_settings.config_write import KINDS
from coffer.work.receipts import to_undo
from coffer.work.rules.rule_errors import OnlyThePerson
from coffer.work.undo_any import undo_any

FOR_THE_PERSON = ("digest", "trust", "project", *KINDS)
"""Kinds of receipts that an agent may not undo: it might activate or trust a rule, or turn Coffer off."""


@click.command()
@click.argument("receipt", required=False, default="")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(receipt: str, as_machine: bool) -> None:
    """Take back what a receipt says.

    A transcript is as it was, followed by what was appended since; where its session is open, at its next idle moment,
    and it is reloaded. A digest is as it was, or, if you changed it since,
    each of its rules that you left alone; what was counted goes back to the inbox. An agent's settings are as they
    were, if nobody wrote to them since; else `coffer down` takes out exactly what is ours.

    RECEIPT is the unique start of a receipt's id (`coffer receipts`); without one the last that can be undone, a
    prune of the guard's and a rule that was learned too. Journal entries, handoffs and agents' notes only by id.
    """
    world = World.now()
    home = Home.of(world.environment)
    found = to_undo(home, receipt)
    if found.kind in FOR_THE_PERSON:
        from coffer.work.rules.privilege import Propose, may  # noqa: PLC0415  (a prune is undone without asking)

        allowed = may(world.environment, terminal=True, yes=False)
        if isinstance(allowed, Propose):
            raise OnlyThePerson(allowed.reason)
    if found.kind == "prune" and found.agent == CLAUDE.name and holds(Path(found.path).stem, world.places):
        from coffer.cli.undo_open import undo_now  # noqa: PLC0415  (the guard imports much)

        undo_now(found, world, home, as_machine=as_machine)
        return
    done = undo_any(found, home, world.places)
    if as_machine:
        click.echo(
            json.dumps({"undone": found.id, "receipt": done.id, "path": done.path} | done.data, indent=2)
        )
        return
    if done is found:
        click.echo(f"Receipt {found.id}: there was nothing to bring back. The file is as it was.")
        return
    if "appended" not in done.data:
        left = done.data.get("left", ())
        stays = f" Changed since, and left as they are: {', '.join(left)}." if left else ""
        click.echo(plain.visible(f"Receipt {found.id} is undone: {done.path}.{stays}"))
        return
    appended = done.data["appended"]
    more = f", and {plain.size(appended)} that were appended since" if appended else ", byte for byte"
    click.echo(plain.visible(f"{done.path} is back as it was before receipt {found.id}{more}."))


def holds(session: str, places: Places) -> bool:
    """Whether a client has the session open."""
    return session in holders(places)
