"""`coffer guard`: the open sessions, whether each may be touched, and why not."""

from __future__ import annotations

import click

from coffer.cli.lazy import LazyGroup

COMMANDS: dict[str, tuple[str, str]] = {
    "why": (
        "coffer.cli.guard_gate:why",
        "Say whether a live session may be written to now, and what blocks it.",
    ),
    "judge": ("coffer.cli.guard_gate:judge_command", "Judge a captured folder."),
    "capture": (
        "coffer.cli.guard_gate:capture_command",
        "Keep this instant of a session as a folder, redacted.",
    ),
    "now": ("coffer.cli.guard_now:command", "Prune an open session at its next idle moment, and reload it."),
    "pause": ("coffer.cli.guard_watch:pause", "Have quiet: it watches, and neither acts nor nudges."),
    "resume": ("coffer.cli.guard_watch:resume", "Let it act and nudge again."),
    "off": ("coffer.cli.guard_watch:off", "Leave a session alone."),
    "clear": ("coffer.cli.guard_watch:clear", "Take a blocker for over that never ends by itself."),
}


@click.group(cls=LazyGroup, table=COMMANDS, invoke_without_command=True)
@click.option("--watch", "-w", is_flag=True, help="Go on looking, until Ctrl-C.")
@click.option("--json", "as_machine", is_flag=True, help="Print JSON for programs.")
@click.pass_context
def command(ctx: click.Context, watch: bool, as_machine: bool) -> None:
    """Show every open session: how full, which tier, whether it may be written to now, and what you can do.

    Under `coffer run claude` it prunes a session by itself when it is idle, and reloads it; elsewhere it names a line
    to type. Its gate says no unless every source says that a session is idle. A wrong verdict can be reported with the
    folder that `capture` makes.
    """
    if ctx.invoked_subcommand is None:
        from coffer.cli.guard_watch import view  # noqa: PLC0415  (`coffer guard --help` pays for none of it)

        view(watch=watch, as_machine=as_machine)
