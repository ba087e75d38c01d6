"""`coffer bundle`: what a session is sent of the rules, and what not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from coffer.agents.hook_table import HOOK_AGENTS, envelope
from coffer.cli import plain
from coffer.cli.screen import bar_width, console, stacked_bar, text
from coffer.cli.session import World
from coffer.core.bundle import is_seeded
from coffer.store.home import Home
from coffer.work.delivery.bundles import session_context

_EVENT = "SessionStart"
_NARROW = 40


@click.command()
@click.option("--agent", type=click.Choice(sorted(HOOK_AGENTS)), default="claude", help="For which agent.")
@click.option(
    "--cwd",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="For a session in this folder; else here.",
)
@click.option("--event", default=_EVENT, show_default=True, metavar="EVENT", help="At which hook event.")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(agent: str, cwd: Path | None, event: str, as_machine: bool) -> None:
    """Print the rules that a new session in this folder is sent, how much room they take, and what is left out.

    A session that has them already is sent only what changed since. Nothing is written.
    """
    world = World.now()
    folder = world.folder / cwd if cwd is not None else world.folder
    found = session_context(agent, folder, Home.of(world.environment), world.environment)
    printed = envelope(agent, event, found["context"]).decode()
    if as_machine:
        click.echo(json.dumps(found | {"event": event, "hook_prints": printed}, indent=2))
        return
    if printed:
        click.echo(plain.visible(found["context"]) + "\n")
    elif found["context"]:
        click.echo(f"Nothing: {agent} takes no text at {event}.\n")
    else:
        click.echo("Nothing: no rule holds here.\n")
    _measures(console(), found)


def _measures(screen: Console, found: dict[str, Any]) -> None:
    limits = found["limits"]
    width = min(_NARROW, bar_width(screen))
    for name, unit in (("bytes", "bytes"), ("units", "UTF-16 units")):
        screen.print(
            stacked_bar([("your words", found[name])], limits[name], width),
            f"{found[name]:,} of {limits[name]:,} {unit}",
        )
    late = found["hard_beyond_preview"]
    if late:
        what = "1 hard rule stands" if late == 1 else f"{late} hard rules stand"
        screen.print(
            text(
                f"! {what} behind the first {limits['preview']:,} bytes, which is all that a client shows of a "
                "text that it cuts. Shorter rules, or fewer, would mend that.",
                "yellow",
            )
        )
    own = sum(is_seeded(rule["id"]) for rule in found["rules"])
    count = len(found["rules"]) - own
    screen.print(
        f"{count} {'rule' if count == 1 else 'rules'} of yours, {own} of Coffer's own, "
        f"project: {plain.visible_line(found['project'] or 'none')}",
        markup=False,
    )
    for item in found["left_out"]:
        screen.print(text(f"left out: {item['id']}: {item['reason']}", "dim"))
