"""`coffer status`: the daemon, each agent's hooks, and what every open session has of the rules."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.text import Text

from coffer.agents.hook_table import HOOK_AGENTS
from coffer.cli import plain
from coffer.cli.daemon import picture, stood
from coffer.cli.screen import cell, console, keep_whole, stacked_bar, table, text
from coffer.cli.session import World
from coffer.errors import SettingsBroken
from coffer.store.home import Home
from coffer.work.settings import keyless, load
from coffer.work.setup.status import (
    AgentStatus,
    Clients,
    SessionStatus,
    agent_as_json,
    agents_status,
    open_sessions,
    session_as_json,
)

LOOK_SECONDS = 2.0
_GAUGE = 12
_STYLES = {"confirmed": "green", "held": "green", "sent": "", "missing": "red", "unverifiable": "dim"}


@click.command()
@click.option("--watch", "-w", is_flag=True, help="Go on looking, until Ctrl-C.")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(watch: bool, as_machine: bool) -> None:
    """Show whether the rules arrive: the daemon, the hooks of each agent, and every open session.

    confirmed: seen in the session's transcript. held: the session had it already. sent: not seen yet. missing: the
    model answered without it. unverifiable: there is no transcript to look at. Works without a daemon too.
    """
    world = World.now()
    home = Home.of(world.environment)
    clients = Clients.asked(world.environment, world.places, home)
    if as_machine:
        while True:
            click.echo(json.dumps(_everything(home, world, clients), indent=None if watch else 2))
            if not watch:
                return
            time.sleep(LOOK_SECONDS)
    screen = console()
    if not watch:
        screen.print(_picture(home, world, clients, screen.width))
        return
    from rich.live import Live  # noqa: PLC0415  (only who watches needs it)

    with Live(console=screen, auto_refresh=False, screen=screen.is_terminal) as live:
        while True:
            live.update(_picture(home, world, clients, screen.width), refresh=True)
            time.sleep(LOOK_SECONDS)


def _everything(home: Home, world: World, clients: Clients) -> dict[str, Any]:
    daemon = picture(home)
    sessions = open_sessions(home, world.places, world.environment, stood(daemon, world.environment))
    return {
        "daemon": daemon,
        "model_problem": next(iter(_model(home)), ""),
        "agents": [agent_as_json(one) for one in agents_status(home, world.places, clients)],
        "sessions": [session_as_json(one) for one in sessions],
    }


def _picture(home: Home, world: World, clients: Clients, width: int) -> RenderableType:
    now = time.time()
    agents = agents_status(home, world.places, clients)
    daemon = picture(home)
    sessions = open_sessions(home, world.places, world.environment, stood(daemon, world.environment))
    parts: list[RenderableType] = [
        _daemon(daemon, hooked=any(one.hooks.installed for one in agents)),
        _agents(agents, now, width),
    ]
    parts += [
        text(f"! {said}. `model.key_file` names a file that it can read.", "yellow") for said in _model(home)
    ]
    parts += [_alarm(one) for one in agents if one.silent]
    problems: dict[str, str] = {}
    for one in agents:  # what concerns several is of no one agent
        for said in one.hooks.problems:
            problems[said] = "" if said in problems else f"{_title(one)}: "
    parts += [text(f"! {who}{said}", "yellow") for said, who in problems.items()]
    if problems or any(one.hooks.installed and not one.hooks.current for one in agents):
        parts.append(text("`coffer doctor` says what to do; `coffer doctor --fix` asks and does it."))
    parts += _journal(daemon)
    if sessions:
        parts.append(_sessions(sessions, width))
    else:
        parts.append(Text("No session is open.", style="dim"))
    return Group(*parts)


def _model(home: Home) -> list[str]:
    """Why the daemon can't ask the model that the settings name; what else is wrong with them `coffer doctor` says."""
    try:
        said = keyless(load(home), World.now().environment)
    except SettingsBroken:
        return []
    return [said[0].upper() + said[1:]] if said else []


def _daemon(found: Mapping[str, Any], *, hooked: bool) -> Text:
    if found["state"] == "running":
        runs = f"The daemon runs, process {found['pid']}, version {found['version']}."
        if found["outdated"]:
            return text(f"{runs} `coffer daemon start` renews it: {found['outdated']}.", "yellow")
        if found["problem"]:
            return text(f"{runs} It can't do all of its work: {found['problem']}", "red")
        return text(runs, "green")
    stopped = "the next hook starts it, and answers from its files meanwhile."
    said = {
        "stopped": f"No daemon runs; {stopped if hooked else 'no agent has hooks that would start it: `coffer up`.'}",
        "silent": "The daemon does not answer: `coffer daemon stop`, then `coffer daemon start`.",
        "foreign": "Something else listens in the daemon's place; `coffer daemon start` takes it back.",
    }
    return text(said[found["state"]], "" if found["state"] == "stopped" else "red")


def _journal(found: Mapping[str, Any]) -> list[Text]:
    """What the running daemon does with closed sessions; nothing where there is nothing to tell."""
    said = found.get("journal") or {}
    if said.get("problem"):
        return [text(f"! The journal: {said['problem']}", "yellow")]
    written, waiting = said.get("written", 0), said.get("waiting", 0)
    parts = [f"{written} {'entry' if written == 1 else 'entries'} since the daemon began"] if written else []
    parts += [f"{waiting} closed {'session waits' if waiting == 1 else 'sessions wait'}"] if waiting else []
    return [text(f"Journal: {', '.join(parts)}.", "dim")] if parts else []


def _agents(agents: list[AgentStatus], now: float, width: int) -> RenderableType:
    rows = table("", "agent", "version", "hooks", "trusted", "last fired", "last confirmed")
    for one in agents:
        hooks = one.hooks
        state = "current" if hooks.current else "out of date" if hooks.installed else "none"
        sound = hooks.current and not hooks.problems
        style = "green" if sound else "red" if hooks.installed else "dim"
        rows.add_row(
            _title(one),
            cell(one.version or "?"),
            Text(state, style=style),
            _trusted(one),
            _ago(one.fired, now),
            _ago(one.confirmed, now),
        )
    keep_whole(rows, width, "agent", "hooks", "trusted", "last fired", "last confirmed")
    return rows


def _trusted(one: AgentStatus) -> Text:
    if one.hooks.agent != "codex" or not one.hooks.installed:
        return Text("")
    known = {True: ("yes", "green"), False: ("no: /hooks in Codex", "red"), None: ("unknown", "yellow")}
    return Text(*known[one.hooks.trusted])


def _alarm(one: AgentStatus) -> Text:
    said = f"! {_title(one)}: installed but silent: {one.silent}. `coffer doctor` finds out why."
    return text(said, "bold red")


def _title(one: AgentStatus) -> str:
    return HOOK_AGENTS[one.hooks.agent].dialect.title


def _ago(moment: float, now: float) -> str:
    return plain.ago(max(0.0, now - moment)) if moment else "never"


def _sessions(sessions: list[SessionStatus], width: int) -> RenderableType:
    rows = table("", "session", "agent", "project", "window", "", "rules")
    for one in sessions:
        listed = one.listed
        rows.add_row(
            cell(listed.found.id[:8] if listed.found.agent == "claude" else listed.found.id[-8:]),
            listed.found.agent,
            cell(Path(listed.folder).name if listed.folder else "", 24),
            stacked_bar([("your words", min(listed.tokens, listed.window))], listed.window or 1, _GAUGE),
            text("can't be read" if listed.problem else f"{listed.fill:.0%}"),
            _rules(one),
        )
    keep_whole(rows, width, "session", "agent", "rules")
    return rows


def _rules(one: SessionStatus) -> Text:
    """How many rules are in which state; a session that nothing was sent to is told, too."""
    said = Text()
    for state, style in _STYLES.items():
        if one.deliveries.get(state):
            said.append(f"{', ' if said else ''}{one.rules.get(state, 0)} {state}", style=style)
    return said or Text("nothing sent", style="dim")
