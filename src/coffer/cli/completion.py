"""`coffer completion`: the script that completes commands and session ids in a shell."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

_SHELLS = ("bash", "zsh", "fish")
_DOCUMENTED = {
    "bash": 'eval "$(coffer completion bash)"    # in ~/.bashrc',
    "zsh": 'eval "$(coffer completion zsh)"    # in ~/.zshrc, after compinit',
    "fish": "coffer completion fish | source    # in ~/.config/fish/config.fish",
}


@click.command(epilog="\b\n" + "\n".join(_DOCUMENTED.values()))
@click.argument("shell", type=click.Choice(_SHELLS), required=False)
def command(shell: str | None) -> None:
    """Print the completion script of a shell (this one's, if it is not named)."""
    name = shell or Path(os.environ.get("SHELL", "bash")).name
    found = get_completion_class(name)
    if found is None or name not in _SHELLS:
        raise click.UsageError(f"No completion for {name}. Name one of {', '.join(_SHELLS)}.")
    from coffer.cli.main import cli  # noqa: PLC0415  (the group imports this module)

    click.echo(found(cli, {}, "coffer", "_COFFER_COMPLETE").source())
