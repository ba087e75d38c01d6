"""What the commands about rules share: the desk of the person, and who may do what."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from coffer.cli import plain
from coffer.cli.session import World
from coffer.core.settings import Settings
from coffer.disk.replace import refusals
from coffer.errors import CofferError
from coffer.store import proposals
from coffer.store.db import database
from coffer.store.home import Home
from coffer.work.rules.desk import Desk, Done, Where, checked
from coffer.work.rules.privilege import Propose, may
from coffer.work.rules.rule_errors import OnlyThePerson
from coffer.work.rules.shelf import Shelf
from coffer.work.settings import load


@dataclass(frozen=True, slots=True)
class Counter:
    """Where a command about rules stands: the world, Coffer's home, the settings, the desk of this project."""

    world: World
    home: Home
    settings: Settings
    desk: Desk

    @classmethod
    def now(cls) -> Counter:
        """The counter of this process. Raises SettingsBroken."""
        world = World.now()
        home = Home.of(world.environment)
        settings = load(home)
        for warning in settings.warnings:
            click.echo(f"coffer: {plain.visible(warning)}", err=True)
        user = Path(world.environment.get("HOME") or Path.home())
        shelf = Shelf(home, user, settings.digest, datetime.now(UTC))
        return cls(world, home, settings, Desk(shelf, shelf.project(str(world.folder))))


def loose(lines: Sequence[int]) -> str:
    """What is said of lines in a digest that belong to no rule."""
    shown = ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")
    one = len(lines) == 1
    return (
        f"{'line' if one else 'lines'} {shown}: not part of a rule, so never delivered; "
        f"`coffer digest add` makes {'it one' if one else 'rules of them'}"
    )


def on_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout is not None and sys.stdout.isatty()


def only_by_person(
    counter: Counter, verb: str, arguments: dict[str, Any], *, yes: bool, creates: bool, as_machine: bool
) -> None:
    """Keep a proposal where this process may not act for the person, say so, and end with its exit code.

    creates: the verb makes, activates or words a rule; others only need that no agent asks for them.
    """
    allowed = may(os.environ, terminal=on_terminal() or not creates, yes=yes)
    if not isinstance(allowed, Propose):
        return
    if "text" in arguments:
        checked(arguments["text"])
    said = arguments | {"project": counter.desk.project}
    path = counter.desk.target("user" if arguments.get("where") == "user" else None).path
    if "rule" in arguments:  # what it says now: the person decides on these words, not on a number
        draft, rule = counter.desk.named(arguments["rule"])
        said, path = said | {"says": rule.text}, draft.path
    with refusals(counter.home.root), database(counter.home) as connection:
        kept = proposals.add(connection, verb, str(path), said, allowed.by)
    if as_machine:
        click.echo(json.dumps({"proposed": kept.id, "reason": allowed.reason}, indent=2))
    else:
        click.echo(
            plain.visible(
                f"Proposed, not done: {allowed.reason}. It waits as {kept.id} in `coffer digest inbox`."
            )
        )
    sys.exit(OnlyThePerson.exit_code)


def report(done: Done, sentence: str, *, as_machine: bool) -> None:
    """Say what a verb did, and how it is undone."""
    rule = done.rule
    if as_machine:
        said = {"rule": rule.id, "where": done.where, "state": rule.state, "priority": rule.priority}
        said |= {"text": rule.text, "receipt": done.receipt.id, "path": done.receipt.path}
        click.echo(json.dumps(said | {"notes": list(done.notes)}, indent=2))
        return
    place = "this project" if done.where == "project" else "all your projects"
    click.echo(plain.visible(f"{sentence} [{rule.id}, {place}]\n  {rule.text}"))
    for note in done.notes:
        click.echo(plain.visible(note))
    click.echo(f"Undo: coffer undo {done.receipt.id}")


def where_of(everywhere: bool, here: bool = False) -> Where | None:  # noqa: FBT002
    """Which digest two flags mean."""
    if everywhere and here:
        raise click.UsageError("--global and --project exclude each other.")
    return "user" if everywhere else "project" if here else None


def complete_rules(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Ids of the rules of this place, with what they say."""
    try:
        reach = Counter.now().desk
        rules = [rule for each in (reach.project, "") for rule in reach.shelf.of(each).rules.all]
    except CofferError:
        return []  # a file that can't be read completes nothing; the command says why
    return [
        CompletionItem(rule.id, help=plain.visible_line(rule.title))
        for rule in rules
        if rule.id.startswith(incomplete.upper())
    ]


Command = Callable[..., Any]


def rule_argument(name: str = "rule") -> Callable[[Command], Command]:
    """A RULE argument, with completion: R001, or project:R001 and user:R001 where both files have one."""
    return click.argument(name, metavar=name.upper(), shell_complete=complete_rules)


def json_option(command: Command) -> Command:
    """The --json option."""
    return click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")(command)
