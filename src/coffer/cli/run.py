"""`coffer run AGENT [ARGS…]`: the agent, so that Coffer can reload its session in place."""

from __future__ import annotations

import sys

import click

from coffer.cli.session import World

_ALIASES = {
    "bash": "alias claude='coffer run claude'",
    "zsh": "alias claude='coffer run claude'",
    "fish": "alias claude 'coffer run claude'",
}


def _print_alias(ctx: click.Context, _parameter: click.Parameter, shell: str | None) -> None:
    if shell is None or ctx.resilient_parsing:
        return
    click.echo(_ALIASES[shell])
    ctx.exit()


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Everything behind AGENT goes to it as it is: `coffer run claude --model opus -c`.",
)
@click.option(
    "--print-alias",
    type=click.Choice(sorted(_ALIASES)),
    is_flag=False,
    flag_value="bash",
    default=None,
    is_eager=True,
    expose_value=False,
    callback=_print_alias,
    help="Print the line for a shell's start file with which `claude` means this.",
)
@click.argument("agent", metavar="AGENT")
@click.argument("arguments", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)
def command(agent: str, arguments: tuple[str, ...]) -> None:
    """Run claude or codex here, unchanged to see and to use.

    Under it a Claude Code session can be reloaded in place, after a prune, when it is idle and its input line is empty.
    """
    from coffer.launch.run import run  # noqa: PLC0415  (the emulator is loaded for no other command)

    world = World.now()
    sys.exit(run(agent, arguments, world.environment, world.folder))
