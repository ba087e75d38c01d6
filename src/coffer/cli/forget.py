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
}


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]…")
@click.option(
    "--text", "phrase", default="", help="Forget these words, to the letter, wherever Coffer keeps them."
)
@click.option(
    "--apply", "write", is_flag=True, help="Forget, after a question. Without this nothing is changed."
)
@click.option("--yes", "-y", is_flag=True, help="With --apply: without asking.")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(ids: tuple[str, ...], phrase: str, write: bool, yes: bool, as_machine: bool) -> None:
    """Take entries (by their ids) or words out of everything that Coffer keeps, for good: there is no undo.

    Lanes, handoffs and their history, the journal, the index, backups, pruned content, the database, logs. Of an entry
    the smallest piece goes that makes sense without the words: a bullet, a paragraph, a heading.

    The agents' own transcripts are theirs: they stay, and so do your digests, which are only named.
    """
    if bool(ids) == bool(phrase):
        raise click.UsageError("Give the ids of entries, or --text WORDS.")
    world = World.now()
    home = Home.of(world.environment)
    found = [look(home, world.environment, entry=one) for one in ids] or [
        look(home, world.environment, phrase=phrase)
    ]
    goes = [place for one in found for place in one.goes]
    if not as_machine:
        _show(found, home)
    left: list[Place] | None = None
    if write and goes:
        decision = may(world.environment, terminal=sys.stdin.isatty() and sys.stdout.isatty(), yes=yes)
        if isinstance(decision, Propose):
            raise OnlyThePerson(decision.reason)
        if yes or click.confirm("Forget this for good? It can't be undone."):
            left = _forget(home, world, found)
    if as_machine:
        click.echo(json.dumps(_as_json(found, left), indent=2))
    elif left is None:
        click.echo("Nothing was changed." + (" --apply forgets it." if goes and not write else ""))
    else:
        click.echo("Forgotten. A session that still holds it may tell it again." if not left else "")
    for place in left or ():
        click.echo(plain.visible(f"{place.path}: {place.what}"), err=True)
    if left:
        raise NotAllForgotten(len(left))


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
    for place in places:
        where = place.path.relative_to(home.root) if place.path.is_relative_to(home.root) else place.path
        times = "" if place.count == 1 else f", {place.count} ×"
        click.echo(plain.visible(f"{_LABELS[place.kind]:<15} {where}: {place.what}{times}"))


def _as_json(found: list[Found], left: list[Place] | None) -> dict[str, Any]:
    def said(place: Place) -> dict[str, Any]:
        return {"kind": place.kind, "path": str(place.path), "what": place.what, "count": place.count}

    return {
        "forgotten": left is not None and not left,
        "places": [said(place) for one in found for place in one.places],
        "left": [said(place) for place in left or ()],
    }
