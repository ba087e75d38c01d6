"""`coffer reload`: the session in place from its file, or why that would not be safe now."""

from __future__ import annotations

import json
from typing import Any

import click

from coffer.cli import plain
from coffer.cli.counter import json_option
from coffer.cli.session import World
from coffer.core.typed_reload import TYPED
from coffer.errors import SessionNotFound, TranscriptEmpty
from coffer.launch.errors import ReloadRefused
from coffer.store.home import Home
from coffer.work.guarding import runs
from coffer.work.guarding.reread import Reread, reread
from coffer.work.sessions.find import find


@click.command()
@click.argument("session", metavar="[SESSION]", default=runs.CURRENT)
@click.option("--apply", is_flag=True, help="Do it. Without this, it is only said whether it would be safe.")
@click.option(
    "--wait",
    default=10.0,
    show_default=True,
    type=click.FloatRange(0, 600),
    metavar="SECONDS",
    help="With --apply: how long to wait for a safe moment.",
)
@click.option(
    "--restart",
    metavar="MODEL",
    default=None,
    help="End the agent and start it again instead, with its own arguments and, where they name none, this model.",
)
@json_option
def command(session: str, apply: bool, wait: float, restart: str | None, as_machine: bool) -> None:
    """Let a session that runs under `coffer run claude` read its file again, as after a prune.

    `/resume` and its id are typed when the session is idle, its input line is empty and no key was pressed just
    now; they are read back before Enter. If anything else shows, they are deleted and nothing is sent.
    """
    world = World.now()
    home = Home.of(world.environment)
    found = runs.find_run(home, session, world.environment, world.folder)
    file = _file(str(found["session"]), world, home)
    if not apply:
        _tell(_with(found, file.why), as_machine)
        return
    if file.why:
        raise ReloadRefused(
            f"{file.why}. A next turn may mend it; so does `coffer check --fix` once it is closed"
        )
    said = runs.reload(home, found | {"words": file.words}, wait=wait, model=restart)
    if as_machine:
        click.echo(json.dumps(said, indent=2))
    if said.get("kind") != TYPED:
        raise ReloadRefused(str(said.get("why")))
    if as_machine:
        return
    click.echo(f"Session {found['session']} was reloaded.")
    for line in (said.get("said"), said.get("why")):
        if line:
            click.echo(f"Claude Code says: {plain.visible_line(str(line))}")


def _file(session: str, world: World, home: Home) -> Reread:
    """What the session's file says; nothing where there is none yet: the client then has nothing to read either."""
    try:
        if not session:
            return Reread("", "")
        return reread(find(session, world.places, world.environment, world.folder), home)
    except (SessionNotFound, TranscriptEmpty):
        return Reread("", "")


def _with(found: dict[str, Any], why: str) -> dict[str, Any]:
    return found | {"safe": False, "why": [*found.get("why", []), why]} if why else found


def _tell(found: dict[str, Any], as_machine: bool) -> None:
    if as_machine:
        click.echo(json.dumps(found, indent=2))
        return
    name = found["session"] or f"of run {found['run']}"
    if found.get("safe"):
        click.echo(f"Session {name} can be reloaded now: `coffer reload {found['session']} --apply`.")
        return
    click.echo(f"Session {name} can't be reloaded now:")
    for why in found.get("why", []):
        click.echo(f"  {plain.visible_line(str(why))}")
