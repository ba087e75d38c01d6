"""Groups of commands that import a command's module only when it is looked up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """table: command → (module, one line of help); the module has a click command of the name `command`.

    A module may hold several: `module:name` says which. sections: heading → the names below it; one without them.
    """

    def __init__(
        self,
        *arguments: Any,
        table: Mapping[str, tuple[str, str]],
        sections: Mapping[str, Iterable[str]] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self.table = table
        self.sections = sections or {"Commands": table}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """All commands, in the order of a person's first hour."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name."""
        if cmd_name not in self.table:
            return None
        module, _, name = self.table[cmd_name][0].partition(":")
        command = getattr(import_module(module), name or "command")
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, without importing any."""
        widest = max(map(len, self.table), default=0)
        for heading, names in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), self.table[name][1]) for name in names])


class DefaultGroup(LazyGroup):
    """A group that means one of its commands where none is named: `coffer project .` is `coffer project show .`.

    A word that is a command's name is the command; `./list` names a folder of that name. words: whether the default
    takes any; else a word that names no command is a mistake, and is said to be one.
    """

    def __init__(self, *arguments: Any, default: str, words: bool = True, **options: Any) -> None:
        super().__init__(*arguments, no_args_is_help=False, **options)
        self.default, self.words = default, words

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default in front of what names no command. Completion of nothing yet offers the commands."""
        first = args[0] if args else ""
        meant = (
            first in self.table
            or first in ("-h", "--help")
            or (first[:1] not in ("", "-") and not self.words)
        )
        if not meant and (args or not ctx.resilient_parsing):
            args = [self.default, *args]
        return super().parse_args(ctx, args)
