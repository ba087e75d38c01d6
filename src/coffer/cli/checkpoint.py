"""`coffer checkpoint`: save what a compaction would lose of a session, and show it."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime

import click

from coffer.cli.plain import visible, visible_line, visible_path
from coffer.cli.session import World, session_argument
from coffer.core.session_state import SessionState
from coffer.core.state_text import clock
from coffer.store.home import Home
from coffer.work.guarding.instant import from_disk
from coffer.work.guarding.keep import BY_HAND, NAMED, keep, state_of
from coffer.work.memory.handoff_draft import draft
from coffer.work.rules.effective import user_home
from coffer.work.sessions.find import find

_WIDEST = 200


@click.command()
@session_argument
@click.option("--dry-run", is_flag=True, help="Only show it; save nothing.")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
def command(session: str, dry_run: bool, as_machine: bool) -> None:
    """Save what a compaction would lose of a session: its team, its list of tasks, what runs in the background.

    It also drafts the handoff of the session's branch, where nobody wrote a later one.

    Before each compaction of Claude Code the daemon does it by itself, and gives the model back what is open behind it.
    """
    world = World.now()
    home = Home.of(world.environment)
    transcript = find(session, world.places, world.environment, world.folder)
    receipt = trouble = handoff = ""
    if dry_run:
        state = state_of(from_disk(transcript, world.places, home))
    else:
        saved = keep(home, transcript, world.places, BY_HAND, datetime.now(UTC))
        state, trouble = saved.state, saved.trouble
        receipt = saved.checkpoint.id if saved.checkpoint is not None else ""
        drafted = draft(home, user_home(world.environment), transcript, world.environment)
        handoff = str(drafted.path) if drafted.path is not None and drafted.outcome in NAMED else ""
    if as_machine:
        told = {"session": transcript.stem, "receipt": receipt, "handoff": handoff, "trouble": trouble}
        click.echo(json.dumps({**told, **asdict(state)}, indent=2))
        return
    if trouble:
        click.echo(f"coffer: {visible(trouble)}; it is left out, and this takes its place.", err=True)
    if state.empty:
        click.echo("There is nothing to save: no team, no tasks, nothing in the background.")
    else:
        _draw(state)
        done = f"Saved with receipt {receipt}." if receipt else "Nothing was saved (--dry-run)."
        click.echo(f"That is session {visible_line(transcript.stem)} as it stands. {done}")
    if handoff:
        click.echo(f"The branch's handoff: {visible_path(handoff)}.")


def _draw(state: SessionState) -> None:
    from coffer.cli.screen import cell, console, table, text, wrapped  # noqa: PLC0415  (rich is imported when something is drawn)

    screen = console()
    if state.team:
        rows = table("Team", "name", "kind", "status", "last wrote", "what")
        for mate in state.team:
            rows.add_row(
                cell(mate.name), cell(mate.type), mate.status, clock(mate.wrote), cell(mate.said, _WIDEST)
            )
        screen.print(wrapped(rows))
    if state.tasks:
        rows = table("Tasks", "id", "status", "owner", "what")
        for task in state.tasks:
            rows.add_row(
                cell(task.id),
                text(task.status.replace("_", " ")),
                cell(task.owner),
                cell(task.subject, _WIDEST),
            )
        screen.print(wrapped(rows))
    if state.jobs:
        rows = table("Running in the background", "kind", "id", "since", "what")
        for job in state.jobs:
            rows.add_row(job.kind, cell(job.id), clock(job.since), cell(job.what, _WIDEST))
        screen.print(wrapped(rows))
