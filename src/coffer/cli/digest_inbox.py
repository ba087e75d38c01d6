"""`coffer digest inbox`: decide what was noticed, one key each; with verbs and --json for scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

import click

from coffer.cli import plain
from coffer.cli.counter import Counter, json_option, on_terminal, report, where_of
from coffer.errors import CofferError
from coffer.work.rules.desk import Desk, Done
from coffer.work.rules.inbox import Inbox, Item
from coffer.work.rules.privilege import Propose, may
from coffer.work.rules.rule_errors import ItemNotFound, OnlyThePerson
from coffer.work.rules.shelf import Shelf

_MOST_SHOWN = 20
_KEYS = "[a]ccept  accept as [h]ard  [e]dit  [m]erge  [r]eject  [s]kip  [q]uit"
_YES = click.option(
    "--yes", "-y", is_flag=True, help="Do it without a terminal to ask on (never under an agent)."
)


@click.group(invoke_without_command=True)
@click.option("--everywhere", is_flag=True, help="Also what was noticed in other projects.")
@click.option("--all", "-a", "old", is_flag=True, help="Also what was noticed more than 60 days ago.")
@click.option("--most", type=click.IntRange(min=1), metavar="N", help="Only the N surest.")
@json_option
@click.pass_context
def command(context: click.Context, everywhere: bool, old: bool, most: int | None, as_machine: bool) -> None:
    """Decide what was noticed and only you can word, what waits as pending, and what agents propose.

    On a terminal each item is shown and one key decides; nothing is lost by skipping. For scripts: --json lists the
    items, and the verbs below take an item's id.
    """
    if context.invoked_subcommand:
        return
    counter = Counter.now()
    box = Inbox(counter.desk, everywhere)
    if as_machine:
        click.echo(json.dumps([item.as_json() for item in islice(box.each(old=old), most)], indent=2))
        return
    count = box.count(old=old)
    for problem in counter.desk.shelf.problems:
        click.echo(f"coffer: {plain.visible(problem)}", err=True)
    if not count:
        click.echo("The inbox is empty. `coffer digest learn --all` looks through your sessions.")
        return
    if on_terminal() and not isinstance(_allowed(counter, yes=False), Propose):
        shown = count if most is None else min(count, most)
        _Session(counter, everywhere).go(islice(box.each(old=old), most), shown)
        return
    most = _MOST_SHOWN if most is None else most
    for item in islice(box.each(old=old), most):
        _draw(item)
    if count > most:
        click.echo(f"and {count - most} more (--most shows more, --json has them all)")


def _allowed(counter: Counter, *, yes: bool) -> object:
    return may(counter.world.environment, terminal=on_terminal(), yes=yes)


def _box(*, yes: bool) -> tuple[Counter, Inbox]:
    """The inbox for a verb. Raises OnlyThePerson where this process may not decide."""
    counter = Counter.now()
    allowed = _allowed(counter, yes=yes)
    if isinstance(allowed, Propose):
        raise OnlyThePerson(allowed.reason)
    return counter, Inbox(counter.desk, everywhere=True)


@command.command("accept")
@click.argument("item")
@click.option("--text", default="", metavar="RULE", help="The rule in your words.")
@click.option("--hard", is_flag=True, help="Make it a hard rule.")
@click.option("--global", "-g", "everywhere", is_flag=True, help="For all your projects.")
@click.option("--project", "-p", "here", is_flag=True, help="For the project in which it was said.")
@_YES
@json_option
def accept(
    item: str, text: str, hard: bool, everywhere: bool, here: bool, yes: bool, as_machine: bool
) -> None:
    """Make ITEM an active rule."""
    _, box = _box(yes=yes)
    done = box.accept(item, text, hard=hard, where=where_of(everywhere, here))
    report(done, _became(done), as_machine=as_machine)


@command.command("edit")
@click.argument("item")
@click.argument("text")
@_YES
@json_option
def edit(item: str, text: str, yes: bool, as_machine: bool) -> None:
    """Make ITEM an active rule in the words TEXT."""
    _, box = _box(yes=yes)
    done = box.accept(item, text)
    report(done, _became(done), as_machine=as_machine)


@command.command("merge")
@click.argument("item")
@click.argument("rule")
@_YES
@json_option
def merge(item: str, rule: str, yes: bool, as_machine: bool) -> None:
    """Count ITEM for RULE, which there is already."""
    _, box = _box(yes=yes)
    report(box.merge(item, rule), "Counted for:", as_machine=as_machine)


@command.command("reject", short_help="ITEMs are nothing: not shown again.")
@click.argument("items", metavar="ITEM...", nargs=-1, required=True)
@_YES
@json_option
def reject(items: tuple[str, ...], yes: bool, as_machine: bool) -> None:
    """ITEMs are nothing: they are not shown again, and pending rules are removed."""
    said = []
    try:
        for name in items:
            _, box = _box(yes=yes)
            gone, receipt = box.reject(name)
            said.append({"rejected": gone.id, "kind": gone.kind, "receipt": receipt.id if receipt else None})
            if not as_machine:
                click.echo(plain.visible(f"Rejected {gone.id}: {gone.rule or gone.quote[:80]}"))
                if receipt:
                    click.echo(f"Undo: coffer undo {receipt.id}")
    finally:
        if as_machine and said:  # what was rejected before one that could not be is told too
            click.echo(json.dumps(said if len(items) > 1 else said[0], indent=2))


def _became(done: Done) -> str:
    """How a report of an accepted item begins: a proposal may have asked for anything."""
    verb = done.receipt.data["verb"]
    if verb in ("add", "edit", "promote"):
        return {"active": "Active now:", "pending": "Waits in pending:"}.get(done.rule.state, "Done:")
    return f"Done, {verb}:"


def _draw(item: Item, place: str = "") -> None:
    said = f"{item.kind} {item.id}"
    when = f", {plain.moment(item.time)}" if item.time else ""
    where = f", session {item.session[:8]}" if item.session else ""
    sure = f", {item.certainty} ({item.confidence:.2f})" if item.certainty else ""
    often = f", said {item.seen} times" if item.kind == "noticed" and item.seen > 1 else ""
    click.echo(plain.visible_line(f"{place}{said}{when}{where}{sure}{often}: {item.why}"))
    if item.before:
        who = "    was" if item.kind == "proposal" else "  agent"
        click.echo(f"{who}: {_line('…' + item.before[-200:] if len(item.before) > 200 else item.before)}")
    if item.quote:
        click.echo(f"    you: {_line(item.quote)}")
    missing = "(only you can word it)" if item.kind == "noticed" else "(it asks for no rule)"
    click.echo(f"   rule: {_line(item.rule) if item.rule else missing}")
    if item.like:
        click.echo(f"   like: {plain.visible_line(', '.join(item.like))}")


def _line(text: str) -> str:
    shown = plain.visible_line(text)
    return shown if len(shown) <= 400 else shown[:399] + "…"


@dataclass(slots=True)
class _Session:
    """A person going through the inbox, one key an item."""

    counter: Counter
    everywhere: bool
    done: dict[str, int] = field(default_factory=dict)

    def go(self, items: Iterable[Item], count: int) -> None:
        """Show one item after the other until there are none or the person stops."""
        click.echo(f"{_KEYS}\n")
        for number, each in enumerate(items, 1):
            item = self._by_now(each)
            if item is None:
                continue
            _draw(item, f"{number} of {count} · ")
            if not self._decided(item):
                break
            click.echo("")
        said = ", ".join(f"{count} {what}" for what, count in self.done.items()) or "nothing decided"
        click.echo(f"{said}. What you skipped stays.")

    def _by_now(self, item: Item) -> Item | None:
        """The item with what was decided before it: a rule that it resembles; None: it is decided elsewhere."""
        if not self.done:
            return item
        try:
            return self._fresh().named(item.id)
        except ItemNotFound:
            return None

    def _decided(self, item: Item) -> bool:
        """Let the person decide one item; False: they want to stop."""
        while True:
            click.echo("  ? ", nl=False)
            try:
                key = click.getchar().lower()
            except (KeyboardInterrupt, EOFError):
                key = "q"  # what was decided stands: no reason to end as a failure
            click.echo(key if key.isprintable() else "")
            if key in ("q", "\x1b"):
                return False
            if key in ("s", " ", "\r", "\n"):
                return True
            try:
                if self._act(key, item):
                    return True
            except CofferError as error:
                click.echo(plain.visible(f"  {error}"))

    def _act(self, key: str, item: Item) -> bool:
        """Do what a key means; whether the item is decided."""
        box = self._fresh()
        match key:
            case "a" | "h":
                text = "" if item.rule else self._asked(item)
                self._told("accepted", box.accept(item.id, text, hard=key == "h"))
            case "e":
                self._told("edited", box.accept(item.id, self._asked(item)))
            case "m":
                if not item.like:
                    click.echo("  There is no rule that it resembles.")
                    return False
                default = item.like[0]
                rule = default if len(item.like) == 1 else click.prompt("  merge with", default=default)
                self._told("merged", box.merge(item.id, rule))
            case "r":
                _, receipt = box.reject(item.id)
                self.done["rejected"] = self.done.get("rejected", 0) + 1
                if receipt:
                    click.echo(f"  undo: coffer undo {receipt.id}")
            case _:
                click.echo(f"  {_KEYS}")
                return False
        return True

    def _fresh(self) -> Inbox:
        """An inbox that reads the files anew: each decision is written by itself."""
        old = self.counter.desk.shelf
        shelf = Shelf(old.home, old.user, old.settings, old.now)
        return Inbox(Desk(shelf, self.counter.desk.project), self.everywhere)

    def _asked(self, item: Item) -> str:
        suggested = item.rule or None
        return str(click.prompt("  rule", default=suggested, show_default=bool(suggested)))

    def _told(self, what: str, done: Done) -> None:
        self.done[what] = self.done.get(what, 0) + 1
        click.echo(plain.visible(f"  {done.rule.id} {done.rule.state}: {done.rule.text}"))
        for note in done.notes:
            click.echo(plain.visible(f"  {note}"))
        click.echo(f"  undo: coffer undo {done.receipt.id}")
