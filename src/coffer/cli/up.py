"""`coffer up`: what is on this machine, then Coffer set up for its agents, after one question."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import click

from coffer.agents.codex_hooks import TRUST_STEPS
from coffer.agents.hook_table import HOOK_AGENTS
from coffer.cli import setup_picture as picture
from coffer.cli.counter import on_terminal
from coffer.cli.daemon import picture as daemon_picture
from coffer.cli.fullest import show_fullest
from coffer.cli.hooks_picture import say
from coffer.cli.session import World
from coffer.cli.version import version
from coffer.core.bundle import Bundle
from coffer.core.effective import UNTRUSTED
from coffer.daemon import life
from coffer.errors import CofferError
from coffer.store.home import Home
from coffer.work.delivery.bundles import bundle_for
from coffer.work.delivery.rehearse import Rehearsal, both_forms, rehearse
from coffer.work.rules.privilege import Propose, may
from coffer.work.setup.setup import (
    HOOKS,
    AgentSetup,
    Ground,
    Outcome,
    agents_here,
    files_wanting,
    first_bundle,
    is_set_up_since,
    set_up,
    setting_up,
    survey,
    write_files,
)

_LOOKED_AT = 20
_NO_RULES = (
    "A first rule: `coffer digest add 'Do not …; … instead.'`. "
    "What you said in your sessions so far: `coffer digest inbox`."
)


@click.command()
@click.option(
    "-n",
    "rows",
    default=_LOOKED_AT,
    show_default=True,
    type=click.IntRange(1),
    help="Newest sessions to look at.",
)
@click.option("--agent", type=click.Choice([*HOOK_AGENTS]), help="Set up only this one.")
@click.option("--no-mcp", is_flag=True, help="Without Coffer's MCP server and the permission for its tools.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, line by line, and do nothing.")
@click.option("--brief", is_flag=True, help="A line for each of your agents' files instead of the diff.")
@click.option("--yes", "-y", is_flag=True, help="Do it without asking.")
@click.option(
    "--json", "as_machine", is_flag=True, help="Print JSON for programs; without --yes only a look."
)
def command(
    rows: int,
    agent: str | None,
    no_mcp: bool,
    dry_run: bool,
    brief: bool,
    yes: bool,
    as_machine: bool,
) -> None:
    """Find agents and sessions, show what fills the fullest, then set Coffer up for your agents.

    Shows first what it would write: hooks, an MCP server, Codex's trust in the hooks. Asks once. Then it starts the
    daemon and runs the installed hook as your agent would, so that you see what a session is given. `coffer down` takes
    all of it out again.

    On a machine without agents it shows a sample session that ships with Coffer, and writes nothing.
    """
    world = World.now()
    if not as_machine:
        show_fullest(world, rows)
    run = _Up.of(world, agent, mcp=not no_mcp)
    if not run.plans:
        if as_machine:
            click.echo(json.dumps(run.as_json(), indent=2))
        else:
            click.echo("\nNothing was changed. Once you have used an agent: coffer up, coffer sessions.")
        return
    if not as_machine:
        run.show(whole=not brief)
    if run.wants:
        run.decide(yes=yes, dry_run=dry_run, as_machine=as_machine)
    if run.acted or (not run.wants and not run.problems):
        run.rehearse()
    run.report(as_machine=as_machine)


@dataclass(slots=True)
class _Up:
    """One call: what is planned, what was done. refused: why nothing was, "" where it was or need not be."""

    ground: Ground
    world: World
    plans: list[AgentSetup]
    files: tuple[str, ...]
    daemon: dict[str, Any]
    bundle: Bundle
    acted: bool = False
    refused: str = ""
    done: dict[str, Outcome] = field(default_factory=dict)
    problems: list[CofferError] = field(default_factory=list)
    ran: dict[str, list[Rehearsal]] = field(default_factory=dict)
    mcp: bool = True
    by_another: bool = False

    @classmethod
    def of(cls, world: World, agent: str | None, *, mcp: bool) -> _Up:
        """What there is to do. Writes nothing."""
        home = Home.of(world.environment)
        ground = Ground(world.environment, world.places, home)
        plans = [survey(name, ground, mcp=mcp) for name in ([agent] if agent else agents_here(ground))]
        made = bundle_for(world.folder, home, world.environment)
        if not plans:
            return cls(ground, world, [], (), {"state": "stopped"}, made)
        run = cls(ground, world, plans, files_wanting(home), daemon_picture(home), made, mcp=mcp)
        run.problems = [problem for one in plans for problem in one.problems]
        return run

    @property
    def renewed(self) -> bool:
        """Whether the daemon is to be started, or replaced by one of what is installed here by now."""
        return self.daemon["state"] != "running" or bool(self.daemon["outdated"])

    @property
    def wants(self) -> bool:
        """Whether there is anything to do: not where no agent can be set up."""
        sound = [one for one in self.plans if not one.problems]
        return bool(sound) and (any(one.wants for one in sound) or bool(self.files) or self.renewed)

    def show(self, *, whole: bool) -> None:
        """In short what would be done, then the changes to files that are not Coffer's own; the question comes next."""
        click.echo("\nSetting Coffer up\n")
        for one in self.plans:
            picture.show_setup(one)
        say("Coffer")
        picture.line("files", f"in {self.ground.home.root}" if self.files else "there")
        why = self.daemon.get("outdated")
        state = "to be started" if self.daemon["state"] != "running" else f"to be renewed: {why}"
        picture.line("daemon", state if self.renewed else "runs")
        rules = len(self.bundle.persons)
        picture.line(
            "rules",
            f"{rules} for sessions in this folder" if rules else "none yet for sessions in this folder",
        )
        picture.show_changes([plan for one in self.plans for plan in one.plans], whole=whole)

    def decide(self, *, yes: bool, dry_run: bool, as_machine: bool) -> None:
        """Ask, and do it; or say why not."""
        terminal = on_terminal()
        decision = may(self.ground.environment, terminal=terminal, yes=yes)
        if dry_run or (as_machine and not yes):
            self.refused = "This was only a look."
        elif isinstance(decision, Propose):
            how = " or say `coffer up --yes`" if decision.by == "a program" else ""
            self.refused = f"Only shown: {decision.reason}. Run `coffer up` in a terminal of your own{how}."
        elif not (yes or click.confirm("\nDo this?")):
            self.refused = "As you wish."
        else:
            self.act()

    def act(self) -> None:
        """Do what is still to do: another `coffer up` may have been quicker. Raises Busy, WriteFailed."""
        with setting_up(self.ground.home):
            if is_set_up_since(self.plans, self.ground):
                names = [one.agent for one in self.plans]
                self.plans = [survey(name, self.ground, mcp=self.mcp) for name in names]
                self.files, self.daemon = files_wanting(self.ground.home), daemon_picture(self.ground.home)
                self.problems = [problem for one in self.plans for problem in one.problems]
                self.by_another = not self.wants
            if not self.by_another:
                self._act()

    def _act(self) -> None:
        """Files first, which the entries call, then each agent, then the daemon."""
        self.acted = True
        write_files(self.ground.home)
        for one in self.plans:
            if not one.problems:
                self.done[one.agent] = set_up(one, self.ground)
                self.problems += self.done[one.agent].problems
        for step in (self._publish, self._start):
            try:
                step()
            except CofferError as error:
                self.problems.append(error)

    def _publish(self) -> None:
        first_bundle(self.ground, self.world.folder)

    def _start(self) -> None:
        life.start(self.ground.home, self.ground.environment, version())
        self.daemon = daemon_picture(self.ground.home)

    def rehearse(self) -> None:
        """Run the installed command as each agent would."""
        self.bundle = bundle_for(self.world.folder, self.ground.home, self.ground.environment)
        for one in self.plans:
            if not one.problems and HOOKS not in self._failed(one.agent):
                calls = both_forms(one.agent, self.ground.home)
                self.ran[one.agent] = [
                    rehearse(one.agent, call, self.world.folder, self.ground.environment) for call in calls
                ]

    def _failed(self, agent: str) -> list[str]:
        return self.done[agent].failed if agent in self.done else []

    def _untrusted(self) -> bool:
        """Whether Codex would run the entries only once the person trusts them."""
        mine = [one for one in self.plans if one.agent == "codex" and "codex" in self.ran]
        done = self.done.get("codex")
        return any(one.trust != "there" and not (done is not None and done.trusted) for one in mine)

    def report(self, *, as_machine: bool) -> None:
        """Say what was done, and raise what went wrong first."""
        if as_machine:
            click.echo(json.dumps(self.as_json(), indent=2))
        else:
            self._tell()
        if self.problems:
            for problem in self.problems[1:]:
                if not as_machine:
                    say(str(problem))
            raise self.problems[0]

    def _tell(self) -> None:
        click.echo()
        for outcome in self.done.values():
            picture.show_outcome(outcome)
        if self.refused:
            say(f"{self.refused} Nothing was changed.")
            return
        if not self.ran:
            say("Nothing was changed." if not self.done else "No agent was set up.")
            return
        if self.daemon["state"] == "running":
            say(f"The daemon runs, process {self.daemon['pid']}.")
        click.echo("\nA first delivery, by the command that your agents run:\n")
        titles = {one.agent: one.title for one in self.plans}
        good = [picture.show_delivery(titles[name], ran, self.bundle) for name, ran in self.ran.items()]
        if self.bundle.text:
            picture.show_context(self.bundle.text)
        kept = sum(out.reason == UNTRUSTED for out in self.bundle.left_out)
        if kept:
            one = kept == 1
            click.echo(
                f"\n{kept} rule{' is' if one else 's are'} not delivered: nobody trusted {'it' if one else 'them'} "
                "on this machine. `coffer trust` shows what and asks you."
            )
        elif not self.bundle.persons:
            click.echo(f"\n{_NO_RULES}")
        if self.daemon.get("problem"):
            say(f"\nThe daemon can't do all of its work: {self.daemon['problem']}")
        elif self.by_another and not self.problems and all(good):
            click.echo("\nAnother `coffer up` did it a moment ago. Everything stands.")
        elif not self.acted and not self.problems and all(good):
            click.echo("\nEverything stands. Nothing was changed.")
        elif all(good) and not self.problems:
            click.echo(
                "\nSessions that begin from now on are given this. `coffer down` takes it all out again."
            )
        else:
            click.echo(
                "\nNot all of it stands. `coffer up` does what is left, `coffer down` takes it all out again."
            )
        for each in self.plans:
            if self._failed(each.agent):
                say(f"{each.title}: what could not be set up: {', '.join(self._failed(each.agent))}.")
        if self._untrusted():
            say(TRUST_STEPS)

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "written": self.acted,
            "wants": bool(self.plans) and self.wants,
            "refused": self.refused,
            "agents": [picture.setup_json(one, self.done.get(one.agent)) for one in self.plans],
            "files": list(self.files),
            "daemon": {"state": self.daemon["state"], "pid": self.daemon.get("pid")},
            "bundle": {"bytes": self.bundle.bytes, "rules": list(self.bundle.rules)},
            "delivery": [picture.delivery_json(one) for ran in self.ran.values() for one in ran],
            "problems": [str(problem) for problem in self.problems],
        }
