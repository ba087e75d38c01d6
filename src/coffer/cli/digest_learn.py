"""`coffer digest learn`: from sessions to rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from coffer.cli import plain
from coffer.cli.counter import Counter, json_option
from coffer.cli.session import World, complete_sessions
from coffer.core.rule_record import change_as_json
from coffer.disk.sessions import ARCHIVED, MAIN, Found, find_sessions
from coffer.errors import TranscriptMissing
from coffer.store.evidence import clean
from coffer.work.rules.ask import Asker
from coffer.work.rules.learn import Learned, Learning
from coffer.work.rules.privilege import Propose, may
from coffer.work.rules.rule_errors import OnlyThePerson
from coffer.work.sessions.find import find

_MOST_SHOWN = 30


@click.command()
@click.argument("sessions", metavar="[SESSION]...", nargs=-1, shell_complete=complete_sessions)
@click.option("--all", "-a", "everything", is_flag=True, help="All sessions of both agents.")
@click.option("--dry-run", "-n", is_flag=True, help="Only show what would be learned.")
@click.option("--turns", is_flag=True, help="List each turn that was counted or noticed.")
@json_option
def command(
    sessions: tuple[str, ...], everything: bool, dry_run: bool, turns: bool, as_machine: bool
) -> None:
    """Learn from what you said in SESSIONs: an id, the start of one, a path, or `current`; or from --all.

    Each turn counts once, however often it is read. A plain correction becomes a rule under observation, which is
    active after three of them; what can't be decided or worded safely waits in `coffer digest inbox`. Nothing is
    sent anywhere unless you configured a model.
    """
    if everything == bool(sessions):
        raise click.UsageError("Name SESSIONs, or say --all.")
    counter = Counter.now()
    chosen = _chosen(sessions, counter.world)
    if not dry_run and any(not found.agent for found in chosen):
        _only_by_person(counter)
    learning = Learning(
        counter.home,
        counter.world.places,
        counter.world.environment,
        counter.settings.digest,
        Asker(counter.settings, counter.home, counter.world.environment, only_kept=dry_run),
        datetime.now(UTC),
        dry_run,
    )
    from coffer.cli.screen import counting  # noqa: PLC0415  (rich is imported when something is drawn)

    with counting(len(chosen), "Reading sessions") as tell:
        learned = learning.run(chosen, tell)
    if as_machine:
        click.echo(json.dumps(as_json(learned, len(chosen), dry_run=dry_run), indent=2))
        return
    _draw(learned, len(chosen), dry_run=dry_run, turns=turns)


def _chosen(names: Sequence[str], world: World) -> list[Found]:
    every = find_sessions(world.places)
    if not names:
        return [found for found in every if found.kind in (MAIN, ARCHIVED)]
    chosen = []
    for name in names:
        path = find(name, world.places, world.environment, world.folder)
        known = next((found for found in every if found.path == path), None)
        chosen.append(known or _handed(path))
    return chosen


def _only_by_person(counter: Counter) -> None:
    """A file that lies where no agent keeps its sessions could have been written to speak in the person's name."""
    allowed = may(counter.world.environment, terminal=True, yes=False)
    if isinstance(allowed, Propose):
        raise OnlyThePerson(
            f"{allowed.reason}: a transcript outside of the agents' own folders (--dry-run shows it)"
        )


def _handed(path: Path) -> Found:
    """A file that lies where no agent keeps its sessions. Raises TranscriptMissing."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise TranscriptMissing(str(path)) from error
    return Found("", path.stem, path, MAIN, status.st_size, status.st_mtime)


def as_json(learned: Learned, looked_at: int, *, dry_run: bool) -> dict[str, Any]:
    """Everything that a run came to; turns that are worth nothing are only counted."""
    turns = [clean(turn) for turn in learned.turns]
    return {
        "dry_run": dry_run,
        "sessions": looked_at,
        "sessions_with_new_turns": learned.sessions,
        "turns": len(turns),
        "labels": dict(learned.labels()),
        "states": dict(learned.states()),
        "kept": [
            {name: getattr(turn, name) for name in turn.__dataclass_fields__}
            for turn in turns
            if turn.state != "nothing"
        ],
        "changes": {
            path: [change_as_json(change) for change in changes] for path, changes in learned.changes.items()
        },
        "receipts": [receipt.id for receipt in learned.receipts],
        "problems": learned.problems,
    }


def _draw(learned: Learned, looked_at: int, *, dry_run: bool, turns: bool) -> None:
    states, labels = learned.states(), learned.labels()
    click.echo(
        f"{_count(looked_at, 'session')} looked at, {_count(len(learned.turns), 'new turn')} of yours."
    )
    if learned.turns:
        said = ", ".join(
            f"{count} {label.lower().replace('_', ' ')}" for label, count in labels.most_common()
        )
        click.echo(f"They are: {said}.")
    elif looked_at and not learned.problems:
        click.echo(
            "Coffer looked at all that you said in them before: coffer digest show, coffer digest inbox."
        )
    verb = "would be counted" if dry_run else "counted"
    click.echo(f"{states['counted']} {verb} for a rule, {states['noticed']} for the inbox.")
    for turn in map(clean, learned.turns if turns else ()):
        if turn.state != "nothing":
            kind = f"{turn.state}, {turn.label.lower().replace('_', ' ')}, {turn.certainty}"
            click.echo(f"  {kind}: {plain.visible_line(turn.text)[:300]}")
    for path, changes in learned.changes.items():
        if not changes:
            continue
        click.echo(f"\n{plain.visible_path(path)}{' (nothing is written)' if dry_run else ''}")
        for change in changes[:_MOST_SHOWN]:
            rule = change.after or change.before
            said = f"{change.kind} {change.rule}: {rule.text if rule else ''} ({change.why})"
            click.echo(f"  {plain.visible_line(said)}")
        if len(changes) > _MOST_SHOWN:
            click.echo(f"and {len(changes) - _MOST_SHOWN} more (--json has them all)")
    for problem in learned.problems:
        click.echo(f"coffer: {plain.visible(problem)}", err=True)
    for receipt in learned.receipts:
        click.echo(f"Undo: coffer undo {receipt.id}")
    if states["noticed"] and not dry_run:
        click.echo("Decide what was noticed: coffer digest inbox")
    elif dry_run and learned.turns:
        click.echo("Nothing was written. Without --dry-run it is.")


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
