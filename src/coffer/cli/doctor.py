"""`coffer doctor`: whether all of it works, tried and not only looked at; and mending it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import click

from coffer.agents.hook_table import HOOK_AGENTS
from coffer.cli import plain
from coffer.cli.counter import on_terminal
from coffer.cli.daemon import picture as daemon_picture
from coffer.cli.hooks_picture import coloured, say, show_plan
from coffer.cli.session import World
from coffer.cli.version import version
from coffer.daemon import life
from coffer.disk.replace import refusals
from coffer.errors import CofferError
from coffer.store.home import Home
from coffer.work.agent_settings.agent_client import claude_version
from coffer.work.agent_settings.install import install, plan
from coffer.work.rules.privilege import Propose, may
from coffer.work.rules.rule_errors import OnlyThePerson
from coffer.work.setup.doctor import examine
from coffer.work.setup.doctor_home import open_to_others
from coffer.work.setup.doctor_row import Fix, Patient, Row
from coffer.work.setup.setup import Ground, add_server, first_bundle, grant, switch_memory, write_files

_COLOURS = {"ok": "green", "warning": "yellow", "fatal": "red"}
_MARKS = {"ok": "·", "warning": "!", "fatal": "✗"}
_LABEL = 14


@click.command()
@click.option("--fix", is_flag=True, help="Mend what Coffer can mend itself, after a question for each.")
@click.option("--yes", "-y", is_flag=True, help="With --fix: without asking.")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(fix: bool, yes: bool, as_machine: bool) -> None:
    """Look at everything between a rule and a session that obeys it, and say what is wrong and what helps.

    It runs the installed hook as your agent would. Ends with code 1 when something is broken that keeps rules from
    arriving; a warning does not.
    """
    world = World.now()
    ground = Ground(world.environment, world.places, Home.of(world.environment))
    rows = _examined(ground, world)
    if not as_machine:
        _show(rows)
    mended: list[str] = []
    asked: set[tuple[Fix, str]] = set()
    while fix and (
        wanted := _ills(rows) - asked
    ):  # what was mended may bring up the next: entries want trust
        asked |= wanted
        now = _mend(wanted, ground, world, yes=yes, as_machine=as_machine)
        if not now:
            break
        mended += now
        rows = _examined(ground, world)
        if not as_machine:
            click.echo("\nAnd now:\n")
            _show(rows)
    if as_machine:
        click.echo(json.dumps(_as_json(rows, mended), indent=2))
    if any(row.level == "fatal" for row in rows):
        sys.exit(1)


def _examined(ground: Ground, world: World) -> list[Row]:
    return examine(Patient(ground, world.folder, daemon_picture(ground.home), version()))


def _show(rows: list[Row]) -> None:
    agent = None
    for row in rows:
        if row.agent != agent:
            agent = row.agent
            say(HOOK_AGENTS[agent].dialect.title if agent else "Coffer")
        mark = coloured(_MARKS[row.level], _COLOURS[row.level])
        click.echo(f"  {mark} {row.check:<{_LABEL}}{plain.visible(row.found)}")
        if row.level != "ok" and row.remedy:
            click.echo(f"    {'':<{_LABEL}}→ {plain.visible(row.remedy)}")
    fatal, warnings = (sum(row.level == level for row in rows) for level in ("fatal", "warning"))
    if not fatal and not warnings:
        click.echo("\nAll is well.")
        return
    told = f"\n{fatal} broken, {warnings} to look at."
    click.echo(f"{told} `coffer doctor --fix` mends what Coffer can." if _ills(rows) else told)


def _ills(rows: list[Row]) -> set[tuple[Fix, str]]:
    """What Coffer can mend, each with its agent."""
    return {(row.fix, row.agent) for row in rows if row.fix and row.level != "ok"}


def _mend(
    ills: set[tuple[Fix, str]], ground: Ground, world: World, *, yes: bool, as_machine: bool
) -> list[str]:
    """Ask for each remedy and carry it out; what was mended. Raises OnlyThePerson."""
    decision = may(ground.environment, terminal=on_terminal() and not as_machine, yes=yes)
    if isinstance(decision, Propose):
        raise OnlyThePerson(decision.reason)
    done: list[str] = []
    for fix, agent in sorted(ills, key=lambda one: (ORDER.index(one[0]), one[1])):
        if not as_machine:
            click.echo()
        question = _QUESTIONS[fix].format(agent=HOOK_AGENTS[agent].dialect.title if agent else "")
        if fix == "hooks" and not as_machine:
            show_plan(_plan(agent, ground))
        if not (yes or click.confirm(question)):
            continue
        try:
            FIXES[fix](ground, agent, world)
        except CofferError as error:
            if not as_machine:
                say(str(error))
            continue
        done.append(f"{fix} {agent}".strip())
        if not as_machine:
            say("Done.")
    return done


def _plan(agent: str, ground: Ground) -> Any:
    asked = claude_version(ground.environment) if agent == "claude" else None
    return plan(agent, ground.places, ground.home, asked)


def _hooks(ground: Ground, agent: str, _world: World) -> None:
    install(_plan(agent, ground), ground.home)


def _files(ground: Ground, _agent: str, _world: World) -> None:
    write_files(ground.home)


def _trust(ground: Ground, _agent: str, _world: World) -> None:
    grant(ground)


def _server(ground: Ground, agent: str, _world: World) -> None:
    write_files(ground.home)
    add_server(agent, ground)


def _memory(ground: Ground, agent: str, _world: World) -> None:
    switch_memory(agent, ground)


def _daemon(ground: Ground, _agent: str, _world: World) -> None:
    if daemon_picture(ground.home)["state"] == "silent":
        life.stop(ground.home)
    life.start(ground.home, ground.environment, version())


def _bundles(ground: Ground, _agent: str, world: World) -> None:
    first_bundle(ground, world.folder)


def _modes(ground: Ground, _agent: str, _world: World) -> None:
    for path in open_to_others(ground.home):
        with refusals(path):
            os.chmod(path, path.stat().st_mode & 0o700, follow_symlinks=False)  # noqa: PTH101  (no link is followed)


FIXES: Mapping[Fix, Callable[[Ground, str, World], None]] = {
    "files": _files,
    "hooks": _hooks,
    "trust": _trust,
    "mcp": _server,
    "memory": _memory,
    "modes": _modes,
    "bundles": _bundles,
    "daemon": _daemon,
}
"""Remedy → what carries it out."""
ORDER: tuple[Fix, ...] = tuple(FIXES)
"""Entries need the files, trust needs the entries; the daemon comes last, since it writes bundles by itself."""
_QUESTIONS: Mapping[Fix, str] = {
    "files": "Write the hook's files anew, for this Python?",
    "hooks": "Write the entries of {agent}?",
    "trust": "Have Codex trust the entries?",
    "mcp": "Have {agent} add Coffer's MCP server?",
    "memory": "Switch the own memory of {agent} as the settings want it?",
    "modes": "Close Coffer's folder to other users?",
    "bundles": "Write the bundle files anew?",
    "daemon": "Start or renew the daemon?",
}


def _as_json(rows: list[Row], mended: list[str]) -> dict[str, Any]:
    return {
        "rows": [
            {
                "check": row.check,
                "agent": row.agent,
                "level": row.level,
                "found": row.found,
                "remedy": row.remedy if row.level != "ok" else "",
                "fix": row.fix if row.level != "ok" else "",
            }
            for row in rows
        ],
        "fatal": sum(row.level == "fatal" for row in rows),
        "warnings": sum(row.level == "warning" for row in rows),
        "mended": mended,
    }
