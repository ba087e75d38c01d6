"""`coffer journal distil` and `status`: write sessions down, and see what waits."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter as Tally
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import click

from coffer.cli import plain
from coffer.cli.counter import json_option
from coffer.cli.daemon import picture
from coffer.cli.session import World, complete_sessions
from coffer.disk.sessions import Found, find_sessions
from coffer.errors import CofferError, ModelUnavailable, SessionNotFound, TranscriptUnreadable
from coffer.store.home import Home
from coffer.work.memory.distil import Distiller
from coffer.work.memory.distil_due import Standing, due, standings
from coffer.work.memory.distil_result import (
    ALREADY,
    DISTILLED,
    FAILED,
    NO_MODEL,
    NOT_FOUND,
    NOTHING,
    Result,
)
from coffer.work.sessions.find import find
from coffer.work.settings import load

_SHOWN = {
    DISTILLED: "written",
    ALREADY: "nothing new",
    NO_MODEL: "no model",
    NOT_FOUND: "not found",
    NOTHING: "passed over",
    FAILED: "failed",
}
_CODES = {
    NOT_FOUND: SessionNotFound.exit_code,
    NO_MODEL: ModelUnavailable.exit_code,
    FAILED: TranscriptUnreadable.exit_code,
}
_MOST_SHOWN = 40


@click.command()
@click.argument("sessions", metavar="[SESSION]...", nargs=-1, shell_complete=complete_sessions)
@click.option("--all", "-a", "everything", is_flag=True, help="Every closed session that is not told yet.")
@click.option("--dry-run", "-n", is_flag=True, help="Print what would be written.")
@click.option("--model", is_flag=True, help="Have the configured model word it; without one, do nothing.")
@json_option
def distil(sessions: tuple[str, ...], everything: bool, dry_run: bool, model: bool, as_machine: bool) -> None:
    """Write SESSIONs (an id, the start of one, a path, `current`), or --all closed ones, into the journal.

    Each session has one entry a day; what came since is added, and nothing is told twice. An entry that you edited
    stays as you left it. Secrets are redacted. Without --model and `[journal] model`, nothing is sent anywhere.
    """
    if everything == bool(sessions):
        raise click.UsageError("Name SESSIONs, or say --all.")
    world = World.now()
    home = Home.of(world.environment)
    settings = load(home)
    every = find_sessions(world.places)
    chosen, results = _chosen(sessions, every, world)
    if everything:
        chosen = due(home, world.places, every, time.time(), quiet=False)
    distiller = Distiller(home, world.environment, settings, demanded=model, dry_run=dry_run)
    from coffer.cli.screen import counting  # noqa: PLC0415  (rich is imported when something is drawn)

    with counting(len(chosen), "Writing the journal") as tell:
        results += distiller.run(chosen, lambda _found: tell())
    if as_machine:
        click.echo(json.dumps(as_json(results, dry_run=dry_run), indent=2))
    else:
        _draw(results, dry_run=dry_run)
    sys.exit(next((_CODES[one.outcome] for one in results if one.outcome in _CODES and not everything), 0))


def _chosen(names: Sequence[str], every: list[Found], world: World) -> tuple[list[Found], list[Result]]:
    """The sessions that are meant, and a result for each name that means none."""
    found: dict[str, Found] = {}
    missing = []
    for name in names:
        try:
            path = find(name, world.places, world.environment, world.folder)
        except CofferError as error:
            if len(names) == 1:
                raise
            missing.append(Result("", name, "", NOT_FOUND, str(error)))
            continue
        one = next((known for known in every if known.path == path), None)
        if one is None:
            why = "it does not lie where an agent keeps its sessions"
            missing.append(Result("", name, str(path), NOT_FOUND, why))
        else:
            found[str(path)] = one
    return list(found.values()), missing


def as_json(results: list[Result], *, dry_run: bool) -> dict[str, Any]:
    """All that a run came to."""
    outcomes = dict(Tally(one.outcome for one in results))
    names = [one.name for one in fields(Result) if one.name != "story"]  # which is the whole session
    sessions = [{name: getattr(one, name) for name in names} for one in results]
    return {"dry_run": dry_run, "outcomes": outcomes, "sessions": sessions}


def _draw(results: list[Result], *, dry_run: bool) -> None:
    if not results:
        click.echo("Every closed session is told already. Those that wait: coffer journal status")
        return
    shown = [one for one in results if one.outcome != ALREADY or len(results) <= _MOST_SHOWN]
    for one in shown[-_MOST_SHOWN:]:
        name = plain.visible_line(f"{one.agent} {one.session}".strip())[:48]
        what = "would be written" if dry_run and one.outcome == DISTILLED else _SHOWN[one.outcome]
        more = one.title or (f": {one.why}" if one.why else "")
        click.echo(f"{name}: {what}{'. ' if one.title else ''}{plain.visible_line(more)[:160]}")
        if one.text:
            click.echo(f"\n{plain.visible(one.text)}\n")
        if one.note:
            click.echo(f"coffer: {plain.visible(one.note)}", err=True)
        if one.receipt:
            click.echo(f"  {plain.visible_path(one.file)}   Undo: coffer undo {one.receipt}")
    tally = Tally(one.outcome for one in results)
    click.echo(", ".join(f"{count} {_SHOWN[name]}" for name, count in tally.most_common()) + ".")
    if dry_run:
        click.echo("Nothing was written. Without --dry-run it is.")


@click.command()
@json_option
def status(as_machine: bool) -> None:
    """Tell which sessions are not in the journal yet and why: open, just written to, failing, or due."""
    world = World.now()
    home = Home.of(world.environment)
    settings = load(home)
    now = time.time()
    found = standings(home, world.places, find_sessions(world.places), now)
    if as_machine:
        click.echo(json.dumps(_status_json(found, now, auto=settings.journal.auto), indent=2))
        return
    daemon = picture(home)
    runs = "on." if daemon["state"] == "running" else "on, but no daemon runs: `coffer daemon start`."
    click.echo(f"By itself: {runs if settings.journal.auto else 'off (`[journal] auto`).'}")
    _draw_status(found, now)
    problem = (daemon.get("journal") or {}).get("problem")
    if problem:
        click.echo(plain.visible(f"The daemon: {problem}"))


def _status_json(found: list[Standing], now: float, *, auto: bool) -> dict[str, Any]:
    return {
        "auto": auto,
        "states": dict(Tally(one.state for one in found)),
        "sessions": [
            {
                "agent": one.found.agent,
                "session": one.found.id,
                "path": str(one.found.path),
                "state": one.state,
                "why": one.row.why if one.state == "failing" else "",
                "tries": one.row.tries,
                "again_in_seconds": max(0, round(one.row.next_try - now)) if one.state == "failing" else 0,
            }
            for one in found
        ],
    }


_STATES = {
    "due": "closed, to be written at the next look",
    "open": "open in a client",
    "quiet": "just written to",
    "claimed": "being written down now",
    "failing": "failing",
}


def _draw_status(found: list[Standing], now: float) -> None:
    if not found:
        click.echo("Every session is told.")
        return
    for state, count in Tally(one.state for one in found).most_common():
        click.echo(f"{count} {_STATES[state]}")
    for one in [one for one in found if one.state == "failing"][:_MOST_SHOWN]:
        again = plain.age(max(60.0, one.row.next_try - now))
        said = f"  {one.found.agent} {one.found.id}: {one.row.why} ({one.row.tries} tries, again in {again})"
        click.echo(plain.visible_line(said))
    if any(one.state == "due" for one in found):
        click.echo("At once: coffer journal distil --all")
