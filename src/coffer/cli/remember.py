"""`coffer remember`: keep a note in the vault."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime

import click

from coffer.cli import plain
from coffer.cli.counter import json_option
from coffer.cli.session import World
from coffer.disk.ancestors import agent_above
from coffer.store.home import Home
from coffer.work.memory.handoff import By
from coffer.work.memory.remember import Scope, remember
from coffer.work.project.memory_here import here
from coffer.work.rules.effective import user_home

_AGENTS = {"Claude Code": "claude", "Codex": "codex"}


@click.command()
@click.argument("text", nargs=-1)
@click.option("--title", default="", help="What it is about, in words to search for.")
@click.option("--global", "-g", "everywhere", is_flag=True, help="For every project, not only this one.")
@json_option
def command(text: tuple[str, ...], title: str, everywhere: bool, as_machine: bool) -> None:
    """Keep a fact or a decision, for you and your agents to recall.

    It goes into the memory of the project that you are in, or, outside of any, into the global one: a Markdown file a
    day, which you may edit. Secrets are left out. Without TEXT, or with -, it is read from stdin.
    """
    world = World.now()
    said = " ".join(text)
    if said in ("", "-"):
        if sys.stdin.isatty():
            raise click.UsageError("Say what to remember: coffer remember 'We use uv, since …'.")
        said = sys.stdin.buffer.read(1 << 20).decode("utf-8", "replace")
    place = here(Home.of(world.environment), user_home(world.environment), world.folder)
    scope: Scope | None = "global" if everywhere else None
    kept = remember(place, said, by(world), datetime.now(UTC), world.environment, scope=scope, title=title)
    if as_machine:
        told = {
            "id": kept.entry.id,
            "path": str(kept.path),
            "project": kept.project,
            "receipt": kept.receipt.id,
        }
        click.echo(json.dumps(told | {"secrets": dict(kept.secrets)}, indent=2))
        return
    where = f"the memory of {kept.project}" if kept.project else "the global memory"
    click.echo(plain.visible(f"Kept as {kept.entry.id} in {where}: {kept.path}."))
    if kept.secrets:
        click.echo(f"Left out: {', '.join(f'{count} × {kind}' for kind, count in kept.secrets.items())}.")
    click.echo(f"`coffer undo {kept.receipt.id}` takes it back.")


def by(world: World) -> By:
    """Who runs the command: an agent's shell is the agent."""
    agent = agent_above(world.environment)
    if not agent:
        return By("person")
    session = world.environment.get("CLAUDE_CODE_SESSION_ID", "") if agent == "Claude Code" else ""
    return By("agent", _AGENTS.get(agent, agent.lower()), session)
