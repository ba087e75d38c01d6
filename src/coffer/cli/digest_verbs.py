"""`coffer digest add`, `edit`, `promote`, `demote`, `upvote`, `downvote`, `remove`, `merge`."""

from __future__ import annotations

import click

from coffer.cli.counter import Counter, json_option, only_by_person, report, rule_argument, where_of

_GLOBAL = click.option("--global", "-g", "everywhere", is_flag=True, help="For all your projects.")
_YES = click.option(
    "--yes", "-y", is_flag=True, help="Do it without a terminal to ask on (never under an agent)."
)


@click.command("add")
@click.argument("text")
@click.option("--hard", is_flag=True, help="Zero tolerance: first in every session, last to be left out.")
@_GLOBAL
@_YES
@json_option
def add(text: str, hard: bool, everywhere: bool, yes: bool, as_machine: bool) -> None:
    """Add TEXT as a rule of this project, or of all with --global. It is active at once.

    Prohibitions are followed best: "Do not X; Y instead."
    """
    counter = Counter.now()
    where = where_of(everywhere)
    arguments = {"text": text, "hard": hard, "where": where or ""}
    only_by_person(counter, "add", arguments, yes=yes, creates=True, as_machine=as_machine)
    done = counter.desk.add(text, hard=hard, where=where)
    if not counter.desk.project and not everywhere and not as_machine:
        click.echo("This folder belongs to no project, so the rule holds in all of them.")
    report(done, f"Added{', hard' if done.rule.priority == 'hard' else ''}:", as_machine=as_machine)


@click.command("edit")
@rule_argument()
@click.argument("text", required=False)
@_YES
@json_option
def edit(rule: str, text: str | None, yes: bool, as_machine: bool) -> None:
    """Give RULE the wording TEXT; without TEXT your editor opens."""
    counter = Counter.now()
    _, found = counter.desk.named(rule)
    if text is None:
        written = click.edit(found.text + "\n")
        if written is None:
            raise click.Abort
        text = written
    arguments = {"rule": rule, "text": text}
    only_by_person(counter, "edit", arguments, yes=yes, creates=True, as_machine=as_machine)
    report(counter.desk.edit(rule, text), "Worded anew:", as_machine=as_machine)


@click.command("promote")
@rule_argument()
@click.option("--hard", is_flag=True, help="And make it hard.")
@_YES
@json_option
def promote(rule: str, hard: bool, yes: bool, as_machine: bool) -> None:
    """Make RULE active at once, whatever it has counted."""
    counter = Counter.now()
    arguments = {"rule": rule, "hard": hard}
    only_by_person(counter, "promote", arguments, yes=yes, creates=True, as_machine=as_machine)
    done = counter.desk.promote(rule, hard=hard)
    report(done, "Hard now:" if done.rule.priority == "hard" else "Active now:", as_machine=as_machine)


@click.command("demote")
@rule_argument()
@_YES
@json_option
def demote(rule: str, yes: bool, as_machine: bool) -> None:
    """Take RULE out of delivery. It waits in pending and keeps what it has counted."""
    counter = Counter.now()
    only_by_person(counter, "demote", {"rule": rule}, yes=yes, creates=False, as_machine=as_machine)
    report(counter.desk.demote(rule), "No longer delivered:", as_machine=as_machine)


@click.command("upvote")
@rule_argument()
@_YES
@json_option
def upvote(rule: str, yes: bool, as_machine: bool) -> None:
    """Count one more for RULE."""
    counter = Counter.now()
    only_by_person(counter, "upvote", {"rule": rule}, yes=yes, creates=False, as_machine=as_machine)
    done = counter.desk.upvote(rule)
    report(done, f"Importance {done.rule.importance}:", as_machine=as_machine)


@click.command("downvote")
@rule_argument()
@_YES
@json_option
def downvote(rule: str, yes: bool, as_machine: bool) -> None:
    """Count one less for RULE; at an importance of nought it is deleted."""
    counter = Counter.now()
    only_by_person(counter, "downvote", {"rule": rule}, yes=yes, creates=False, as_machine=as_machine)
    done = counter.desk.downvote(rule)
    gone = counter.desk.gone(done)
    report(done, "Deleted:" if gone else f"Importance {done.rule.importance}:", as_machine=as_machine)


@click.command("remove")
@rule_argument()
@_YES
@json_option
def remove(rule: str, yes: bool, as_machine: bool) -> None:
    """Delete RULE from its file."""
    counter = Counter.now()
    only_by_person(counter, "remove", {"rule": rule}, yes=yes, creates=False, as_machine=as_machine)
    report(counter.desk.remove(rule), "Deleted:", as_machine=as_machine)


@click.command("merge")
@rule_argument()
@rule_argument("into")
@_YES
@json_option
def merge(rule: str, into: str, yes: bool, as_machine: bool) -> None:
    """Let the rule INTO take over all that RULE has counted; RULE is deleted."""
    counter = Counter.now()
    arguments = {"rule": rule, "into": into}
    only_by_person(counter, "merge", arguments, yes=yes, creates=False, as_machine=as_machine)
    report(counter.desk.merge(rule, into), "Merged into:", as_machine=as_machine)
