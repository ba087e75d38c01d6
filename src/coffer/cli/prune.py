"""`coffer prune`: make a session at rest smaller, with proof."""

from __future__ import annotations

import json
from pathlib import Path

import click

from coffer.cli.session import World, open_session, session_argument
from coffer.core.strategies.table import PRESCRIPTIONS
from coffer.store.home import Home
from coffer.work.pruning.prune import Proposal, Written, apply, propose, write_checked
from coffer.work.pruning.prune_report import as_json


@click.command()
@session_argument
@click.option(
    "-rx",
    "--prescription",
    type=click.Choice(list(PRESCRIPTIONS)),
    default="standard",
    show_default=True,
    help="gentle: what is superseded or repeated; standard: old and large results too; aggressive: thinking too. "
    "One prune takes at most 40, 60 and 60 % of the messages' tokens.",
)
@click.option(
    "--protect", multiple=True, metavar="GLOB", help="Leave calls of these tools or paths alone; repeatable."
)
@click.option("--diff", is_flag=True, help="Show each change of what the model would be sent.")
@click.option("--apply", "write", is_flag=True, help="Write it. Without this nothing is changed.")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(
    session: str,
    prescription: str,
    protect: tuple[str, ...],
    diff: bool,
    write: bool,
    as_machine: bool,
) -> None:
    """Make a session smaller: show what would go, or with --apply write it.

    What is taken out of the model's view is kept, and a stub with its id stands in its place: `coffer restore ID`
    brings it back, `coffer undo` the whole file. What is written is proven first: the pruned transcript is read
    again, and what a resume would send must be exactly what the plan says. A session that a client has open is
    refused.
    """
    world = World.now()
    with open_session(session, world) as opened:
        proposal = propose(opened, world.environment, prescription, protect)
        receipt = None
        if write and not proposal.plan.is_empty:
            receipt, written = apply(proposal, Home.of(world.environment), world.places)
        else:
            written = prove(proposal)
        if as_machine:
            click.echo(json.dumps(as_json(proposal, written, receipt), indent=2))
            return
        from coffer.cli import prune_picture  # noqa: PLC0415  (rich is imported when something is drawn)

        prune_picture.draw(proposal, written, receipt)
        if diff:
            prune_picture.draw_changes(proposal)


def prove(proposal: Proposal) -> Written:
    """Write the plan's result into the system's temporary folder, check it against the laws, and forget it."""
    from tempfile import TemporaryDirectory  # noqa: PLC0415  (only a dry run needs it)

    with TemporaryDirectory(prefix="coffer-") as folder:
        path = Path(folder) / "pruned.jsonl"
        with path.open("w+b") as file:
            return write_checked(proposal, path, file)
