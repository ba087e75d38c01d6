"""Situations of the agents' own settings and commands. Exit codes: 40 and up (docs/formats.md)."""

from __future__ import annotations

from coffer.errors import CofferError


class ConfigBroken(CofferError):
    """A settings file of an agent that can't be understood; it is never written."""

    exit_code = 40

    def __init__(self, path: str, line: int, reason: str) -> None:
        """line: from 1, 0 where no single one is at fault."""
        where = f"{path}, line {line}" if line else path
        super().__init__(f"{where}: {reason}. The file is left alone. Mend it, then try again.")


class ClientMissing(CofferError):
    """An agent's own command that is not on the PATH."""

    exit_code = 41

    def __init__(self, title: str, command: str) -> None:
        super().__init__(
            f"{title} can't be asked: there is no `{command}` on the PATH. Install it, or put it on the PATH, "
            "then try again."
        )


class ClientRefused(CofferError):
    """An agent's own command that failed, or gave no answer in time."""

    exit_code = 42

    def __init__(self, command: str, reason: str) -> None:
        super().__init__(f"`{command}` did not do what it was asked for: {reason}.")


class ServerMissing(CofferError):
    """The MCP server's command is not in Coffer's folder."""

    exit_code = 43

    def __init__(self, path: str) -> None:
        super().__init__(f"There is no MCP server at {path} yet, so no entry was made for it.")


class PathUnusable(CofferError):
    """A home whose path no agent could call."""

    exit_code = 44

    def __init__(self, path: str) -> None:
        super().__init__(
            f"The path {path} holds bytes that are no UTF-8, so it can't stand in a settings file. "
            "Nothing was changed. Set COFFER_HOME to another folder."
        )
