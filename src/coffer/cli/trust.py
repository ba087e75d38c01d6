"""`coffer trust`: let the rule texts of a digest be delivered."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from coffer.cli import plain
from coffer.cli.session import World
from coffer.store.db import Receipt
from coffer.store.home import Home
from coffer.work.rules.privilege import Propose, may
from coffer.work.rules.rule_errors import OnlyThePerson
from coffer.work.rules.trust import (
    PendingTrust,
    give_trust,
    pending_trust,
    propose_trust,
    revoke_trust,
    targets,
)


@click.command()
@click.argument("path", required=False)
@click.option("--yes", "-y", is_flag=True, help="Do it without asking.")
@click.option("--revoke", is_flag=True, help="Take trust back: nothing is delivered from there any more.")
@click.option(
    "--json", "as_machine", is_flag=True, help="Print JSON for programs; without --yes only a look."
)
def command(path: str | None, yes: bool, revoke: bool, as_machine: bool) -> None:
    """Show which rule texts of a digest are not delivered yet, and trust them.

    A text that Coffer did not write is inactive until you trust it, whoever put it there: a repository that was
    cloned, an agent, an editor. PATH is a project's folder, a digest, or the home folder for your own digest;
    without it all digests that count here. Under an agent this only makes a proposal.
    """
    world = World.now()
    home = Home.of(world.environment)
    found = [
        pending_trust(file, origin, home, world.places)
        for file, origin in targets(path, world.folder, world.environment)
    ]
    waiting = [one for one in found if (one.trusted or one.vanished if revoke else not one.empty)]
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    asks = yes or (terminal and not as_machine)
    if not as_machine:
        _show(found, revoke=revoke)
    decided: list[Receipt] = []
    if waiting and (asks or not as_machine):
        decision = may(world.environment, terminal=terminal, yes=yes)
        if isinstance(decision, Propose):
            _propose(waiting, decision, home, revoke=revoke)
        if yes or click.confirm(_question(waiting, revoke=revoke)):
            decided = [revoke_trust(one, home) if revoke else give_trust(one, home) for one in waiting]
    if as_machine:
        click.echo(
            json.dumps({"files": [_as_json(one) for one in found], "receipts": _ids(decided)}, indent=2)
        )
    elif waiting:
        click.echo(f"Done. Receipt {', '.join(_ids(decided))}." if decided else "Nothing was changed.")


def _propose(waiting: list[PendingTrust], decision: Propose, home: Home, *, revoke: bool) -> None:
    made = propose_trust(waiting, "revoke" if revoke else "trust", decision.by, home)
    names = ", ".join(one.id for one in made)
    raise OnlyThePerson(f"{decision.reason}: it waits in the inbox as proposal {names}")


def _question(waiting: list[PendingTrust], *, revoke: bool) -> str:
    if revoke:
        return f"Deliver none of these {sum(one.trusted for one in waiting)} rules any more?"
    new = sum(len(one.new) for one in waiting)
    if not new:
        return "Forget the texts that are gone?"
    what = "this text" if new == 1 else f"these {new} texts"
    return f"Trust {what}? Your agents will be given {'it' if new == 1 else 'them'} as your own words"


def _show(found: list[PendingTrust], *, revoke: bool) -> None:
    from rich.text import Text  # noqa: PLC0415  (rich is imported when something is drawn)

    from coffer.cli.screen import console, text  # noqa: PLC0415  (see above)

    screen = console()
    lines: list[Text] = []
    for one in found:
        own = "your own digest" if one.origin == "user" else "the project's digest"
        lines.append(text(f"{one.path} ({own}): {one.trusted} delivered", "bold"))
        if revoke:
            continue
        for rule, line in one.new:
            head = Text("  + ", "green") + text(f"{rule.id}, {rule.priority}, line {line}: ", "dim")
            lines.append(head + text(plain.visible_line(rule.text), "green"))
        for refused in one.refused:
            said = f"  ! {refused.rule}, line {refused.line}: never delivered, {refused.reason}"
            lines.append(text(said, "yellow"))
        if one.vanished:
            lines.append(text(f"  - {len(one.vanished)} trusted before and gone from the file", "red"))
        if one.empty:
            lines.append(text("  nothing to decide", "dim"))
    if not found:
        lines.append(text("No digest counts here."))
    for shown in lines:
        screen.print(shown, soft_wrap=True)


def _as_json(one: PendingTrust) -> dict[str, Any]:
    return {
        "path": str(one.path),
        "origin": one.origin,
        "trusted": one.trusted,
        "new": [{"id": r.id, "text": r.text, "priority": r.priority, "line": line} for r, line in one.new],
        "refused": [{"id": r.rule, "line": r.line, "reason": r.reason} for r in one.refused],
        "vanished": len(one.vanished),
    }


def _ids(decided: list[Receipt]) -> list[str]:
    return [receipt.id for receipt in decided]
