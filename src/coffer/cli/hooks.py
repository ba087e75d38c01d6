"""`coffer hooks`: our entries in the agents' settings, put in, taken out, looked at."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import click

from coffer.agents.hook_table import HOOK_AGENTS
from coffer.cli import hooks_picture as picture
from coffer.cli.session import World
from coffer.disk.agent_errors import ClientMissing, ClientRefused
from coffer.errors import CofferError
from coffer.store.db import Receipt
from coffer.store.home import Home
from coffer.work.agent_settings import codex_trust, mcp_entries, native_memory
from coffer.work.agent_settings.agent_client import claude_version, find_client
from coffer.work.agent_settings.client_writes import close_open
from coffer.work.agent_settings.config_write import ADDED, PERMITTED, RESTORED
from coffer.work.agent_settings.hook_status import hook_status
from coffer.work.agent_settings.install import (
    InstallPlan,
    install,
    plan,
    plan_removal,
    stub_problems,
    uninstall,
    write,
)
from coffer.work.rules.privilege import Propose, may
from coffer.work.rules.rule_errors import OnlyThePerson
from coffer.work.setup.setup import Ground, add_server, grant

_BROKEN = 1
_AGENT = click.argument("agent", type=click.Choice([*HOOK_AGENTS, "all"]), default="all")
_DRY = click.option("--dry-run", is_flag=True, help="Show what would be written, write nothing.")
_YES = click.option("--yes", "-y", is_flag=True, help="Write without asking.")
_JSON = click.option(
    "--json", "as_machine", is_flag=True, help="Print JSON for programs; without --yes only a look."
)


@click.group()
def command() -> None:
    """Have your agents tell Coffer when a session begins, a turn ends, and so on, and take your rules from it.

    Coffer adds entries of its own to Claude Code's settings.json and Codex's hooks.json, behind all others. Nothing
    else in these files changes by a byte.
    """


@command.command("install", short_help="Put the entries in: shows them first, and asks.")
@_AGENT
@_DRY
@_YES
@click.option("--trust", is_flag=True, help="Have Codex trust the entries, which it else asks you for.")
@click.option("--mcp", is_flag=True, help="Also add Coffer's MCP server, and allow its tools in Claude Code.")
@_JSON
def install_command(
    agent: str,
    dry_run: bool,
    yes: bool,
    trust: bool,
    mcp: bool,
    as_machine: bool,
) -> None:
    """Put the entries in for one agent, or for all that are here: shows them first, and asks."""
    run = _Run(World.now(), yes=yes, dry_run=dry_run, as_machine=as_machine)
    for name in run.chosen(agent):
        version = claude_version(run.world.environment) if name == "claude" else None
        run.plans.append(plan(name, run.world.places, run.home, version))
    if mcp and any(one.agent == "claude" for one in run.plans) and mcp_entries.has_server(run.home):
        run.allowing = mcp_entries.plan_permission(run.world.places)
    stub = bool(run.plans) and bool(stub_problems(run.home))
    run.go("Write this?", install, more=trust or mcp or stub)
    if not dry_run and any(one.agent == "codex" and run.stands(one) for one in run.plans):
        run.trust = _trust(run, wanted=trust)
    if run.acts and mcp:
        _add_servers(run)
    run.finish()


@command.command("uninstall", short_help="Take the entries out again, and nothing else.")
@_AGENT
@_DRY
@_YES
@click.option("--mcp", is_flag=True, help="Also remove Coffer's MCP server from the agents.")
@_JSON
def uninstall_command(agent: str, dry_run: bool, yes: bool, mcp: bool, as_machine: bool) -> None:
    """Take the entries out again. What you or other programs wrote stays."""
    run = _Run(World.now(), yes=yes, dry_run=dry_run, as_machine=as_machine)
    chosen = run.chosen(agent)
    if mcp and "claude" in chosen:
        run.allowing = mcp_entries.plan_no_permission(run.world.places, run.home)
    run.first_allowing = True
    run.plans = [plan_removal(name, run.world.places, run.home) for name in chosen]
    back = [native_memory.plan_restore(name, run.world.places, run.home) for name in chosen]
    run.memories = [one for one in back if one.changed or one.notes]
    run.go("Take this out?", uninstall, more=mcp)
    if run.acts and mcp:
        for name in chosen:
            run.attempt(partial(_remove_server, run, name))
    run.finish()


def _remove_server(run: _Run, agent: str) -> None:
    mcp_entries.remove(agent, run.world.environment)
    close_open(ADDED, mcp_entries.servers_file(agent, run.world.environment), run.home)


@command.command("status", short_help="Say whether the entries are there and trusted.")
@_AGENT
@_JSON
def status_command(agent: str, as_machine: bool) -> None:
    """Say whether the entries are there, as this version of Coffer writes them, and whether Codex trusts them.

    Exit code 1 where something is wrong with those that are there. None at all is no error.
    """
    run = _Run(World.now(), yes=False, dry_run=True, as_machine=as_machine)
    said, broken = [], False
    for name in run.chosen(agent):
        found = hook_status(name, run.world.environment, run.world.places, run.home)
        broken |= found.broken
        if as_machine:
            said.append(picture.status_json(found))
        else:
            picture.show_status(found)
    if as_machine:
        click.echo(json.dumps({"agents": said}, indent=2))
    sys.exit(_BROKEN if broken else 0)


class _Run:
    """One call of install or uninstall: what is planned, what was done, what went wrong first."""

    def __init__(self, world: World, *, yes: bool, dry_run: bool, as_machine: bool) -> None:
        self.world, self.home = world, Home.of(world.environment)
        self.yes, self.dry_run, self.as_machine = yes, dry_run, as_machine
        self.terminal = sys.stdin.isatty() and sys.stdout.isatty()
        self.plans: list[InstallPlan] = []
        self.allowing: InstallPlan | None = None
        self.first_allowing = False
        self.memories: list[InstallPlan] = []
        self.trust: codex_trust.Trust | None = None
        self.receipts: dict[str, Receipt] = {}
        self.first: CofferError | None = None
        self.acts = False

    @property
    def ground(self) -> Ground:
        """The same, for what is written by the agents' own commands."""
        return Ground(self.world.environment, self.world.places, self.home)

    def chosen(self, agent: str) -> list[str]:
        """The agents that are meant: with `all` those that are on this machine."""
        if agent != "all":
            return [agent]
        here = [
            name
            for name in HOOK_AGENTS
            if getattr(self.world.places, name).is_dir() or find_client(name, self.world.environment)
        ]
        if not here:
            self.say("Neither Claude Code nor Codex is on this machine: no folder of theirs, no command.")
        return here

    def say(self, sentence: str) -> None:
        """A sentence for a person."""
        if not self.as_machine:
            picture.say(sentence)

    def go(self, question: str, act: Callable[[InstallPlan, Home], Receipt | None], *, more: bool) -> None:
        """Show the plans, ask, carry them out. more: there is something to do even where no plan writes.

        Raises OnlyThePerson where nobody is there who could decide.
        """
        every = list(self._every())
        if not self.as_machine:
            for one in every:
                picture.show_plan(one)
        self.first = next((one.problems[0] for one in every if one.problems), None)
        sound = [one for one in every if not one.problems]
        wants = bool(sound) and (more or any(one.changed for one in sound))
        if self.dry_run or not wants or (self.as_machine and not self.yes):
            if wants:
                self.say("Nothing was written: this was only a look.")
            return
        decision = may(self.world.environment, terminal=self.terminal, yes=self.yes)
        if isinstance(decision, Propose):
            raise OnlyThePerson(decision.reason)
        changes = any(one.changed for one in sound)
        if changes and not (self.yes or click.confirm(question)):
            self.say("Nothing was changed.")
            return
        self.acts = True
        for one in sound:
            self.attempt(partial(self._keep, one, act))

    def _every(self) -> Iterator[InstallPlan]:
        """All plans; what was written last is taken out first, so that the file becomes what it was."""
        allowing = [self.allowing] if self.allowing is not None else []
        backwards = [*self.memories, *allowing, *self.plans]
        yield from backwards if self.first_allowing else [*self.plans, *allowing]

    def _keep(self, one: InstallPlan, act: Callable[[InstallPlan, Home], Receipt | None]) -> None:
        if one.kind == RESTORED:
            act = native_memory.restore
        elif one is self.allowing:
            one, act = _again(one, self), write
        elif self.first_allowing:
            one = plan_removal(
                one.agent, self.world.places, self.home
            )  # the file may have changed a moment ago
        receipt = act(one, self.home)
        if receipt is not None:
            self.receipts[one.kind + one.agent] = receipt
            self.say(picture.written(receipt))

    def stands(self, one: InstallPlan) -> bool:
        """Whether the entries are in the file by now."""
        return not one.problems and (not one.changed or one.kind + one.agent in self.receipts)

    def attempt(self, step: Callable[[], Any]) -> None:
        """Do a step; one that fails must not keep the other agent's from being done."""
        try:
            step()
        except CofferError as error:
            if self.first is None:
                self.first = error
            else:
                self.say(str(error))

    def finish(self) -> None:
        """Say the rest, and raise what went wrong first."""
        if self.as_machine:
            said = [picture.plan_json(one, self.receipts.get(one.kind + one.agent)) for one in self._every()]
            trust = None if self.trust is None else picture.trust_json(self.trust)
            click.echo(json.dumps({"written": self.acts, "plans": said, "trust": trust}, indent=2))
        if self.first is not None:
            raise self.first


def _again(one: InstallPlan, run: _Run) -> InstallPlan:
    """The permission's plan anew: the hooks were written into the same file a moment ago."""
    if one.kind == PERMITTED:
        return mcp_entries.plan_permission(run.world.places)
    return mcp_entries.plan_no_permission(run.world.places, run.home)


def _trust(run: _Run, *, wanted: bool) -> codex_trust.Trust | None:
    """What Codex says of the entries, after they were trusted if the person wants that."""
    environment, places = run.world.environment, run.world.places
    try:
        found = codex_trust.ask(environment, places)
        if not found.trusted and run.acts:
            asks = run.terminal and not run.yes and not run.as_machine
            if wanted or (
                asks and click.confirm("Codex runs a hook only once you trust it. Trust these now?")
            ):
                found, _ = grant(run.ground)
    except (ClientMissing, ClientRefused) as error:
        if wanted:
            run.first = run.first or error
        else:
            run.say(str(error))
        found = None
    if not run.as_machine:
        picture.show_trust(found)
    return found


def _add_servers(run: _Run) -> None:
    names: Sequence[str] = [one.agent for one in run.plans]
    for name in names:
        run.attempt(partial(add_server, name, run.ground))
