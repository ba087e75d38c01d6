"""`coffer native-memory`: the agents' own memory, looked at, switched off, put back."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from coffer.agents.hook_table import HOOK_AGENTS
from coffer.agents.memory_switch import SWITCHES
from coffer.cli import hooks_picture as picture
from coffer.cli.counter import json_option
from coffer.cli.session import World
from coffer.errors import CofferError
from coffer.store.db import Receipt
from coffer.store.home import Home
from coffer.work.agent_settings import native_memory as memory
from coffer.work.agent_settings.install import InstallPlan
from coffer.work.rules.privilege import Propose, may
from coffer.work.rules.rule_errors import OnlyThePerson

_AGENT = click.argument("agent", type=click.Choice([*SWITCHES, "all"]), default="all")
_DRY = click.option("--dry-run", is_flag=True, help="Show what would be written, write nothing.")
_YES = click.option("--yes", "-y", is_flag=True, help="Write without asking.")
_JSON = click.option(
    "--json", "as_machine", is_flag=True, help="Print JSON for programs; without --yes only a look."
)
_WHERE = {
    "claude": "autoMemoryEnabled in settings.json",
    "codex": "features.memories and memories.generate_memories in config.toml",
}


@click.group(
    epilog="Always so: `[agents.claude] disable_native_memory = true` in Coffer's config.toml, then `coffer up`."
)
def command() -> None:
    """Switch the agents' own memory off, so that there is one memory and not two that drift apart.

    Coffer leaves it alone unless you ask for this. What stood there is kept, and put back to the byte by `restore`, by
    `coffer down` and by `coffer undo`.
    """


@command.command("status", short_help="Say whether it is on, and who switched it.")
@_AGENT
@json_option
def status_command(agent: str, as_machine: bool) -> None:
    """Say whether each agent's own memory is on, who switched it, and what says otherwise."""
    world = World.now()
    home = Home.of(world.environment)
    found = [
        memory.memory_status(name, world.environment, world.places, home, Path.cwd())
        for name in _chosen(agent, world)
    ]
    if as_machine:
        click.echo(json.dumps({"agents": [_as_json(one) for one in found]}, indent=2, default=str))
    else:
        for one in found:
            _show(one)
    broken = next((one.problem for one in found if one.problem is not None), None)
    if broken is not None:
        sys.exit(broken.exit_code)


@command.command("disable", short_help="Switch it off: shows the change first, and asks.")
@_AGENT
@_DRY
@_YES
@_JSON
def disable_command(agent: str, dry_run: bool, yes: bool, as_machine: bool) -> None:
    """Switch an agent's own memory off: shows the change first, and asks. New sessions are without it."""
    world = World.now()
    plans = [memory.plan_disable(name, world.places) for name in _chosen(agent, world)]
    _go(plans, world, _Wish("Switch it off?", dry_run, yes, as_machine))


@command.command("restore", short_help="Put it back as it was: shows the change first, and asks.")
@_AGENT
@_DRY
@_YES
@_JSON
def restore_command(agent: str, dry_run: bool, yes: bool, as_machine: bool) -> None:
    """Put back what stood there before. What you or others set since stays, and is named."""
    world = World.now()
    home = Home.of(world.environment)
    plans = [memory.plan_restore(name, world.places, home) for name in _chosen(agent, world)]
    _go(plans, world, _Wish("Put it back?", dry_run, yes, as_machine))


class _Wish:
    def __init__(self, question: str, dry_run: bool, yes: bool, as_machine: bool) -> None:
        self.question, self.dry_run, self.yes, self.as_machine = question, dry_run, yes, as_machine


def _chosen(agent: str, world: World) -> list[str]:
    """The agents that are meant: with `all` those that have a folder here."""
    if agent != "all":
        return [agent]
    return [name for name in SWITCHES if getattr(world.places, name).is_dir()]


def _go(plans: list[InstallPlan], world: World, wish: _Wish) -> None:
    say: Callable[[str], None] = (lambda _: None) if wish.as_machine else picture.say
    if not plans:
        say("Neither Claude Code nor Codex is on this machine: no folder of theirs.")
    if not wish.as_machine:
        for one in plans:
            picture.show_plan(one)
    first: CofferError | None = next((one.problems[0] for one in plans if one.problems), None)
    changing = [one for one in plans if one.changed]
    receipts: dict[str, Receipt] = {}
    if changing and not wish.dry_run and (wish.yes or not wish.as_machine):
        terminal = sys.stdin.isatty() and sys.stdout.isatty()
        decision = may(world.environment, terminal=terminal, yes=wish.yes)
        if isinstance(decision, Propose):
            raise OnlyThePerson(decision.reason)
        if wish.yes or click.confirm(wish.question):
            first = _carry(changing, Home.of(world.environment), receipts, say) or first
        else:
            say("Nothing was changed.")
    elif changing:
        say("Nothing was written: this was only a look.")
    elif not wish.dry_run:
        for one in plans:
            if not one.problems:
                memory.carry(one, Home.of(world.environment))
    if wish.as_machine:
        said = [picture.plan_json(one, receipts.get(one.agent)) for one in plans]
        click.echo(json.dumps({"agents": said}, indent=2))
    if first is not None:
        if wish.as_machine:
            click.echo(f"coffer: {first}", err=True)
        sys.exit(first.exit_code)


def _carry(
    plans: list[InstallPlan], home: Home, receipts: dict[str, Receipt], say: Callable[[str], None]
) -> CofferError | None:
    """Carry them out; the first error: one that fails must not keep the other agent's from being done."""
    first: CofferError | None = None
    for one in plans:
        try:
            receipt = memory.carry(one, home)
        except CofferError as error:
            say(str(error))
            first = first or error
            continue
        if receipt is not None:
            receipts[one.agent] = receipt
            say(picture.written(receipt))
    if receipts:
        say("Sessions that are open keep what they began with.")
    return first


def _show(one: memory.MemoryStatus) -> None:
    title = HOOK_AGENTS[one.agent].dialect.title
    if one.problem is not None:
        picture.say(f"{title}: {one.problem}")
        return
    by = f" (receipt {one.receipt})" if one.state == "off by Coffer" else ""
    picture.say(f"{title}: its own memory is {one.state}{by}; {_WHERE[one.agent]} ({one.path}).")
    for conflict in one.conflicts:
        picture.say(f"  {conflict}")


def _as_json(one: memory.MemoryStatus) -> dict[str, Any]:
    return {
        "agent": one.agent,
        "path": str(one.path),
        "state": one.state,
        "receipt": one.receipt or None,
        "keys": dict(one.keys),
        "conflicts": list(one.conflicts),
        "problem": None if one.problem is None else str(one.problem),
    }
