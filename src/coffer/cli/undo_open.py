"""`coffer undo` of a prune whose session is open: at its next idle moment, and then it is reloaded."""

from __future__ import annotations

import json
from pathlib import Path

import click

from coffer.cli import plain
from coffer.cli.guard_now import is_inside, waited
from coffer.cli.session import World
from coffer.store.db import Receipt
from coffer.store.home import Home
from coffer.work.guarding.guard_errors import LeftAlone, NotSafe, ReloadNotSeen
from coffer.work.guarding.guarded import Guarded
from coffer.work.guarding.senses import Senses
from coffer.work.guarding.undo_open import undo_open

WAIT_SECONDS = 600.0
INSIDE = "this runs in the session itself, which is not idle before it ends; run it in another terminal"


def undo_now(receipt: Receipt, world: World, home: Home, *, as_machine: bool) -> None:
    """Wait for the moment, take the prune back, and have the session read again or say what to type.

    Raises LeftAlone, NotSafe, ReloadNotSeen, and what `undo` raises.
    """
    session = Guarded(Path(receipt.path), home, world.places, world.environment)
    if is_inside(session):
        raise LeftAlone(session.id, INSIDE)
    settings = session.settings()
    senses = Senses(session)
    move = waited(
        lambda: undo_open(receipt, session, settings, senses.hands(settings)), WAIT_SECONDS, quiet=as_machine
    )
    if as_machine:
        click.echo(json.dumps({"undone": receipt.id, "path": receipt.path, **move.as_json()}, indent=2))
    if move.kind == "waits":
        raise NotSafe(
            session.id, [(each.kind, each.evidence) for each in move.blockers] or [("wait", move.why)]
        )
    if move.kind == "left alone":
        raise LeftAlone(session.id, move.why)
    if move.kind == "not seen":
        raise ReloadNotSeen(session.id, move.receipt.id if move.receipt else receipt.id, move.why)
    if as_machine:
        return
    if move.kind == "nothing":
        click.echo(f"Receipt {receipt.id}: there was nothing to bring back. The file is as it was.")
        return
    then = "and was reloaded" if move.kind == "reloaded" else f"; type in it: /resume {session.id}"
    gap = " " if move.kind == "reloaded" else ""
    click.echo(
        plain.visible(f"Receipt {receipt.id} is undone: session {session.id} is as it was before{gap}{then}.")
    )
    click.echo(
        plain.visible(f"The guard pauses for this session; `coffer guard resume {session.id}` ends that.")
    )
