"""`coffer sessions`: the sessions of both agents."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import click

from coffer.cli import plain
from coffer.cli.session import World
from coffer.disk.places import Places
from coffer.disk.sessions import SUBAGENT, WORKFLOW, Found, find_sessions
from coffer.work.sessions.listing import Listed, as_json, listing

_DEFAULT_ROWS = 20


@click.command()
@click.option("--all", "-a", "everything", is_flag=True, help="List all sessions, not only the newest.")
@click.option(
    "-n", "rows", default=_DEFAULT_ROWS, show_default=True, type=click.IntRange(1), help="How many to list."
)
@click.option("--agent", type=click.Choice(["claude", "codex"]), help="Only one agent's sessions.")
@click.option(
    "--project",
    type=click.Path(path_type=Path),
    help="Only sessions of this folder and the folders below it.",
)
@click.option("--subagents", is_flag=True, help="List the files of subagents and workflows too.")
@click.option("--paths", is_flag=True, help="Print only the paths, without reading the sessions.")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(
    everything: bool,
    rows: int,
    agent: str | None,
    project: Path | None,
    subagents: bool,
    paths: bool,
    as_machine: bool,
) -> None:
    """List sessions: agent, project, title, age, tokens, how full, and whether a client has them open."""
    world = World.now()
    all_found = find_sessions(world.places)
    found = [
        item
        for item in all_found
        if (agent is None or item.agent == agent) and (subagents or item.kind not in (SUBAGENT, WORKFLOW))
    ]
    if paths:
        for item in found if everything else found[:rows]:
            # a program needs the exact bytes, a terminal must not obey them
            click.echo(plain.visible_line(str(item.path)) if sys.stdout.isatty() else os.fsencode(item.path))
        return
    listed = _of_project(found, all_found, world, project, None if everything else rows)
    if as_machine:
        click.echo(json.dumps([as_json(item) for item in listed], indent=2))
    elif listed:
        from coffer.cli import list_picture  # noqa: PLC0415  (rich is imported when something is drawn)

        more = 0 if everything or project is not None else len(found) - len(listed)
        list_picture.draw(listed, [item.id for item in all_found], time.time(), more=more)
    elif project is not None and found:
        click.echo(
            plain.visible(f"No session of {project} or a folder below it; {len(found)} of other folders.")
        )
    else:
        click.echo(nothing_found(world.places))


def nothing_found(places: Places) -> str:
    """The sentence for a machine without sessions."""
    return (
        f"No sessions found. Looked for Claude Code in {places.claude} and for Codex in {places.codex}; "
        "CLAUDE_CONFIG_DIR and CODEX_HOME say where else to look."
    )


def _of_project(
    found: list[Found], all_found: list[Found], world: World, project: Path | None, most: int | None
) -> list[Listed]:
    wanted = project.expanduser().resolve() if project is not None else None
    sessions: Iterable[Found] = found if most is None or wanted is not None else found[:most]
    listed: list[Listed] = []
    total = min(len(found), most) if most is not None and wanted is None else len(found)
    from coffer.cli.screen import counting  # noqa: PLC0415  (rich is imported when something is drawn)

    with counting(total, "Reading sessions") as step:
        for item in listing(sessions, world.places, world.environment, all_found):
            step()
            if wanted is None or (item.folder and Path(item.folder).is_relative_to(wanted)):
                listed.append(item)
                if most is not None and len(listed) >= most:
                    break
    return listed
