"""`coffer forget`: something that is to be nowhere any more."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from coffer.cli import plain
from coffer.cli.session import World
from coffer.cli.version import version
from coffer.daemon import life
from coffer.store.forgotten import let_again
from coffer.store.home import Home
from coffer.work.memory.forget import Found, Place, forget, look
from coffer.work.memory.forget_errors import NotAllForgotten
from coffer.work.rules.privilege import Propose, may
from coffer.work.rules.rule_errors import OnlyThePerson

_LABELS = {
    "entry": "vault",
    "backup": "backups",
    "pruned": "pruned content",
    "database": "database",
    "file": "records",
    "bundle": "bundles",
    "digest": "only named",
    "transcript": "not reached",
}
_MOST_SHOWN = 10
"""Transcripts that are named one by one."""


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]…")
@click.option(
    "--text", "phrase", default="", help="Forget these words, to the letter, wherever Coffer keeps them."
)
@click.option(
    "--apply", "write", is_flag=True, help="Forget, after a question. Without this nothing is changed."
)
@click.option(
    "--lift", is_flag=True, help="Let words that were forgotten be told again; brings nothing back."
)
@click.option("--yes", "-y", is_flag=True, help="With --apply: without asking.")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(ids: tuple[str, ...], phrase: str, write: bool, lift: bool, yes: bool, as_machine: bool) -> None:
    """Take entries (by their ids) or words out of everything that Coffer keeps, for good: there is no undo.

    Lanes, handoffs and their history, the journal, the index, backups, pruned content, the database, logs. Of an entry
    the smallest piece goes that makes sense without the words: a bullet, a paragraph, a heading.

    The agents' own transcripts are theirs: they stay, and so do your digests, which are only named. What agents say of
    it from now on, and what is told of their sessions, leaves it out; what you write yourself does not.
    """
    if bool(ids) == bool(phrase) or (lift and (ids or write)):
        raise click.UsageError("Give the ids of entries, or --text WORDS; --lift goes with --text alone.")
    world = World.now()
    home = Home.of(world.environment)
    if lift:
        _lift(home, world, phrase, yes=yes, as_machine=as_machine)
        return
    found = [look(home, world.environment, entry=one) for one in ids] or [
        look(home, world.environment, phrase=phrase)
    ]
    goes = [place for one in found for place in one.goes]
    if not as_machine:
        _show(found, home)
    left: list[Place] | None = None
    if write:
        _require_person(world, yes=yes)
        if yes or click.confirm("Forget this for good? It can't be undone."):
            left = _forget(home, world, found)
    if as_machine:
        click.echo(json.dumps(_as_json(found, left), indent=2))
    elif left is None:
        click.echo("Nothing was changed." + (" --apply forgets it." if goes and not write else ""))
    else:
        click.echo("Forgotten. What agents say of it from now on is left out." if not left else "")
        if any(place.kind == "transcript" for one in found for place in one.places):
            click.echo(_BEYOND)
    for place in left or ():
        click.echo(plain.visible(f"{place.path}: {place.what}"), err=True)
    if left:
        raise NotAllForgotten(len(left))


_BEYOND = (
    "The agents' own transcripts still hold it: a session that is open or resumed has it in its context and sends it "
    "to its model. To be rid of that too, end those sessions and delete the files named above."
)


def _require_person(world: World, *, yes: bool) -> None:
    decision = may(world.environment, terminal=sys.stdin.isatty() and sys.stdout.isatty(), yes=yes)
    if isinstance(decision, Propose):
        raise OnlyThePerson(decision.reason)


def _lift(home: Home, world: World, phrase: str, *, yes: bool, as_machine: bool) -> None:
    """Let a phrase be told again."""
    _require_person(world, yes=yes)
    lifted = let_again(home, phrase)
    if as_machine:
        click.echo(json.dumps({"lifted": lifted}, indent=2))
    else:
        click.echo(
            "It may be told again." if lifted else "It was not forgotten, to the letter. Nothing was changed."
        )


def _forget(home: Home, world: World, found: list[Found]) -> list[Place]:
    """With the daemon stopped: it writes the same files, and holds in memory what it last sent.

    Looked for again then, since what it held stands in the database by now.
    """
    ran = life.running(home) is not None
    if ran:
        life.stop(home)
    try:
        if ran:
            found = [look(home, world.environment, phrase=one.phrase, entry=one.id) for one in found]
        return [place for one in found for place in forget(home, one)]
    finally:
        if ran:
            life.start(home, world.environment, version())


def _show(found: list[Found], home: Home) -> None:
    places = [place for one in found for place in one.places]
    if not places:
        click.echo("Coffer keeps it nowhere.")
    beyond = [place for place in places if place.kind == "transcript"]
    for place in [*(one for one in places if one.kind != "transcript"), *beyond[:_MOST_SHOWN]]:
        where = place.path.relative_to(home.root) if place.path.is_relative_to(home.root) else place.path
        times = "" if place.count == 1 else f", {place.count} ×"
        click.echo(plain.visible(f"{_LABELS[place.kind]:<15} {where}: {place.what}{times}"))
    if len(beyond) > _MOST_SHOWN:
        click.echo(f"and {len(beyond) - _MOST_SHOWN} more transcripts of the agents, which stay")


def _as_json(found: list[Found], left: list[Place] | None) -> dict[str, Any]:
    def said(place: Place) -> dict[str, Any]:
        return {"kind": place.kind, "path": str(place.path), "what": place.what, "count": place.count}

    return {
        "forgotten": left is not None and not left,
        "places": [said(place) for one in found for place in one.places],
        "left": [said(place) for place in left or ()],
    }
