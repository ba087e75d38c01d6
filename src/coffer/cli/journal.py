"""`coffer journal`: what was done in which session."""

from __future__ import annotations

import click

from coffer.cli.lazy import LazyGroup

COMMANDS: dict[str, tuple[str, str]] = {
    "show": ("coffer.cli.journal_show", "Read the entries of a project, of a day, or of all."),
    "distil": ("coffer.cli.journal_distil:distil", "Write closed sessions down now."),
    "status": ("coffer.cli.journal_distil:status", "Tell what waits to be written down, and why."),
}


@click.group(cls=LazyGroup, table=COMMANDS, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """The work of each day, from your sessions, without your writing it: goal, decisions, results, what is open.

    A closed session becomes one entry in its project's journal, a Markdown file a day, which you may edit. By itself
    it does with a running daemon (`[journal] auto`); `coffer journal distil` does it at once. Without a subcommand it
    shows this project's last days.
    """
    if ctx.invoked_subcommand is None:
        from coffer.cli.journal_show import command as show  # noqa: PLC0415  (`--help` pays for none of it)

        ctx.invoke(show)
