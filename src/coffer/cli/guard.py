"""`coffer guard`: whether a live session may be touched, and why not."""

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
}


@click.group(cls=LazyGroup, table=COMMANDS)
def command() -> None:
    """The guard: long sessions stay lean, and nothing in flight is ever touched.

    Its gate says no unless every source says that a session is idle. A wrong verdict can be reported with the
    folder that `capture` makes.
    """
