"""`coffer down`: everything that `coffer up` did taken out again."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import click

from coffer.agents.hook_table import HOOK_AGENTS
from coffer.cli import plain
from coffer.cli import setup_picture as picture
from coffer.cli.counter import on_terminal
from coffer.cli.hooks_picture import say
from coffer.cli.session import World
from coffer.daemon import life, listen
from coffer.daemon.errors import DaemonSilent
from coffer.errors import CofferError
from coffer.store.home import Home
from coffer.work.agent_settings.hook_files import is_silent
from coffer.work.agent_settings.install import hook_path
from coffer.work.rules.privilege import Propose, may
from coffer.work.rules.rule_errors import OnlyThePerson
from coffer.work.setup.setup import Ground, Outcome
from coffer.work.setup.takedown import (
    KEPT,
    RUNNING,
    AgentTakedown,
    Removed,
    client_gone,
    open_sessions,
    remove,
    remove_programs,
    running_parts,
    survey_removal,
    take_down,
)


@click.command()
@click.option("--dry-run", is_flag=True, help="Show what would be done, line by line, and do nothing.")
@click.option("--brief", is_flag=True, help="A line for each of your agents' files instead of the diff.")
@click.option("--yes", "-y", is_flag=True, help="Do it without asking.")
@click.option(
    "--purge",
    is_flag=True,
    help="Also delete Coffer's own folder: receipts, backups, memory, settings. Never a digest.",
)
@click.option(
    "--json", "as_machine", is_flag=True, help="Print JSON for programs; without --yes only a look."
)
def command(dry_run: bool, brief: bool, yes: bool, purge: bool, as_machine: bool) -> None:
    """Take Coffer out of your agents: hooks, MCP server, permission, Codex's trust; end the daemon; remove its files.

    Shows first what would change, and asks once. Where nobody wrote to an agent's settings since `coffer up`, they are
    as they were before it, byte for byte; else exactly what is ours goes. Your digests stay.
    """
    run = _Down.of(World.now(), purge=purge)
    if not as_machine:
        run.show(whole=not brief)
    if run.wants and not dry_run and (yes or not as_machine):
        decision = may(run.ground.environment, terminal=on_terminal(), yes=yes)
        if isinstance(decision, Propose):
            raise OnlyThePerson(decision.reason)
        if yes or click.confirm(_question(purge=purge)):
            run.act()
    run.report(dry_run=dry_run, as_machine=as_machine)


def _question(*, purge: bool) -> str:
    return "\nDo this, and delete what Coffer kept for good?" if purge else "\nDo this?"


@dataclass(slots=True)
class _Down:
    """One call: what is there, what was done."""

    ground: Ground
    purge: bool
    plans: list[AgentTakedown]
    daemon: life.Known | None
    open: int = 0
    acted: bool = False
    done: dict[str, Outcome] = field(default_factory=dict)
    problems: list[CofferError] = field(default_factory=list)
    ended: int | None = None
    removed: Removed = field(default_factory=Removed)

    @classmethod
    def of(cls, world: World, *, purge: bool) -> _Down:
        """What there is to take out: of every agent, also of one that has gone. Raises StoreFailed."""
        ground = Ground(world.environment, world.places, Home.of(world.environment))
        plans = [survey_removal(name, ground) for name in HOOK_AGENTS]
        run = cls(ground, purge, plans, life.running(ground.home), open_sessions(ground.places))
        run.problems = [problem for one in plans for problem in one.problems]
        return run

    @property
    def names(self) -> tuple[str, ...]:
        """What goes of Coffer's own folder."""
        every = (*RUNNING, *KEPT) if self.purge else RUNNING
        return tuple(name for name in every if name != "bin" or not self.open)

    @property
    def parts(self) -> list[str]:
        """What is there of it; a silent stub stays for as long as a session is open."""
        stays = self.open and is_silent(self.ground.home)
        return [name for name in running_parts(self.ground.home) if name != "bin" or not stays]

    @property
    def wants(self) -> bool:
        """Whether there is anything to do."""
        home = self.ground.home
        parts = self.parts or (self.purge and any((home.root / name).exists() for name in KEPT))
        return bool(parts or self.daemon or any(one.wants for one in self.plans))

    def show(self, *, whole: bool) -> None:
        """In short what would be done, then the changes to files that are not Coffer's own; the question comes next."""
        home = self.ground.home
        click.echo("\nTaking Coffer out\n")
        for one in self.plans:
            picture.show_takedown(one, gone=client_gone(one, self.ground))
        say("Coffer")
        picture.line("daemon", f"process {self.daemon.pid} is to end" if self.daemon else "does not run")
        picture.line("files", ", ".join(self.parts))
        if self.purge:
            kept = [name for name in KEPT if (home.root / name).exists()]
            picture.line("for good", f"{', '.join(kept)} in {home.root}" if kept else "nothing is kept")
            if kept:
                picture.line("", "your trust in your digests' rules goes with it: `coffer trust` asks anew")
        picture.show_changes([plan for one in self.plans for plan in one.plans], whole=whole)

    def act(self) -> None:
        """Do it: the entries first, then what could start the daemon again, then the daemon, then its files."""
        self.acted = True
        for one in self.plans:
            self.done[one.agent] = take_down(one, self.ground)
            self.problems += self.done[one.agent].problems
        self.problems = list({str(problem): problem for problem in self.problems}.values())
        first = Removed()
        try:
            first = remove_programs(self.ground.home, silent=bool(self.open))
            ended = life.stop(self.ground.home)
            self.ended = ended.pid if ended else None
            if (
                listen.who_listens(self.ground.home) == listen.NAME
            ):  # its daemon.json is gone: not ours to kill
                raise DaemonSilent(
                    "one listens that is in no daemon.json, so it can't be told which process it is"
                )
        except CofferError as error:
            self.problems.append(error)
        self.removed = remove(self.ground.home, self.names)
        self.removed.names = [*first.names, *self.removed.names]
        self.removed.root |= first.root

    def report(self, *, dry_run: bool, as_machine: bool) -> None:
        """Say what was done, and raise what went wrong first."""
        if as_machine:
            click.echo(json.dumps(self._as_json(), indent=2))
        else:
            self._tell(dry_run=dry_run)
        for problem in self.problems[1:]:
            if not as_machine:
                say(str(problem))
        if self.problems:
            raise self.problems[0]

    def _tell(self, *, dry_run: bool) -> None:
        click.echo()
        if not self.acted:
            nothing = "This was only a look. " if dry_run and self.wants else ""
            say(
                f"{nothing}Nothing was changed."
                if self.wants
                else "Coffer is not set up here. Nothing was changed."
            )
            return
        for outcome in self.done.values():
            picture.show_outcome(outcome)
        if self.ended is not None:
            say(f"The daemon, process {self.ended}, has ended.")
        home = self.ground.home
        if self.removed.names:
            say(f"Removed from {home.root}: {', '.join(self.removed.names)}.")
        if self.removed.root:
            say("Nothing of Coffer's own folder is left.")
        elif self.removed.left:
            purge = "" if self.purge else " `coffer down --purge` deletes that too."
            say(f"What stays in {home.root}: {', '.join(self.removed.left)}.{purge}")
        if self.open and is_silent(home):
            some = (
                "A session is open and calls" if self.open == 1 else f"{self.open} sessions are open and call"
            )
            say(
                f"{some} {hook_path(home)} until the end; it does nothing any more. "
                "`coffer down` removes it once no session is open."
            )
        say("Your digests (`.cozempic/behavioral-digest.md`) stay as they are.")

    def _as_json(self) -> dict[str, Any]:
        return {
            "written": self.acted,
            "wants": self.wants and not self.acted,
            "agents": [picture.takedown_json(one, self.done.get(one.agent)) for one in self.plans],
            "daemon": {"pid": self.daemon.pid if self.daemon else None, "ended": self.ended is not None},
            "open": self.open,
            "removed": self.removed.names,
            "left": [plain.visible_line(name) for name in self.removed.left],
            "problems": [str(problem) for problem in self.problems],
        }
