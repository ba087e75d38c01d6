"""`coffer guard`: the live view, and `pause`, `resume`, `off`, `clear`: what a person says to it."""

from __future__ import annotations

import json
import time

import click

from coffer.cli.plain import visible_line
from coffer.cli.session import World, complete_sessions
from coffer.core.tiers import GUARDED
from coffer.store.guard_state import EVERYONE, Mode, guard_state, keep_state
from coffer.store.home import Home
from coffer.work.guarding.gate import judge_session
from coffer.work.sessions.find import find

LOOK_SECONDS = 2.0

_session = click.argument("session", metavar="[SESSION]", default=EVERYONE, shell_complete=complete_sessions)


def view(*, watch: bool, as_machine: bool) -> None:
    """Print every open session, once or until Ctrl-C."""
    world = World.now()
    home = Home.of(world.environment)
    if as_machine:
        while True:
            click.echo(json.dumps(_rows(world, home), indent=None if watch else 2))
            if not watch:
                return
            time.sleep(LOOK_SECONDS)
    from coffer.cli.guard_picture import picture  # noqa: PLC0415  (rich is imported when something is drawn)
    from coffer.cli.screen import console  # noqa: PLC0415

    screen = console()
    if not watch:
        screen.print(picture(world, home, screen.width))
        return
    if not screen.is_terminal:
        while True:
            screen.print(picture(world, home, screen.width))
            time.sleep(LOOK_SECONDS)
    from rich.live import Live  # noqa: PLC0415  (only who watches needs it)

    with Live(console=screen, auto_refresh=False, screen=True) as live:
        while True:
            live.update(picture(world, home, screen.width), refresh=True)
            time.sleep(LOOK_SECONDS)


def _rows(world: World, home: Home) -> list[dict[str, object]]:
    from coffer.cli.daemon import picture, stood  # noqa: PLC0415  (as the next)
    from coffer.work.guarding.watch import as_json, watched  # noqa: PLC0415  (planning a prune imports much)

    known = stood(picture(home), world.environment)
    return [as_json(one) for one in watched(home, world.places, world.environment, known)]


@click.command()
@_session
def pause(session: str) -> None:
    """Have quiet: it goes on watching, and neither acts nor nudges. Without SESSION: in all sessions."""
    _set(session, "paused", "is only watched; `coffer guard resume{}` ends that")


@click.command()
@_session
def resume(session: str) -> None:
    """Let the guard act and nudge again. Without SESSION: in all sessions that were not paused one by one."""
    _set(session, "on", "is guarded")


@click.command()
@_session
def off(session: str) -> None:
    """Let the guard leave a session alone, and look at nothing of it. Without SESSION: all sessions."""
    _set(session, "off", "is left alone; `coffer guard resume{}` ends that")


def _set(session: str, mode: Mode, said: str) -> None:
    """said: what is true then, with a place for the session's id where a command is named."""
    world = World.now()
    name = EVERYONE
    if session != EVERYONE:
        name = find(session, world.places, world.environment, world.folder, GUARDED).stem
    keep_state(Home.of(world.environment), name, mode=mode)
    one = "" if name == EVERYONE else f" {visible_line(name)}"
    click.echo(f"{f'Session{one}' if one else 'Every session'} {said.format(one)}.")


@click.command()
@click.argument("session", shell_complete=complete_sessions)
@click.argument("blocker", metavar="ID")
def clear(session: str, blocker: str) -> None:
    """Take a blocker of the gate for over, by the id that `coffer guard why` names: for what never ends by itself."""
    world = World.now()
    home = Home.of(world.environment)
    transcript = find(session, world.places, world.environment, world.folder, GUARDED)
    verdict = judge_session(transcript, world.places, home)
    mine = [each for each in verdict.type.blockers if each.id == blocker]
    if not mine:
        known = ", ".join(dict.fromkeys(each.id for each in verdict.type.blockers if each.id)) or "none"
        raise click.UsageError(f"No blocker of this session has the id {blocker!r} (there is: {known}).")
    cleared = guard_state(home, transcript.stem).cleared
    keep_state(home, transcript.stem, cleared=(*cleared, blocker))
    for each in mine:
        click.echo(f"Taken for over: {each.kind}, {visible_line(each.evidence)}.")
