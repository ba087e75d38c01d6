"""Situations of `coffer run` and `coffer reload`. Exit codes: 60 and up (docs/formats.md)."""

from __future__ import annotations

from coffer.errors import CofferError


class AgentMissing(CofferError):
    """No such program on the PATH."""

    exit_code = 60

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no program “{name}” on your PATH, so nothing was started.")


class AgentUnknown(CofferError):
    """A name that is no agent of Coffer's."""

    exit_code = 61

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f"Coffer knows no agent “{name}”. It runs: {', '.join(known)}.")


class AgentNotStarted(CofferError):
    """The system refused to start it."""

    exit_code = 62

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} can't be started: {reason}.")


class ReloadRefused(CofferError):
    """It was not safe, or not to be read back."""

    exit_code = 65

    def __init__(self, why: str) -> None:
        super().__init__(f"Nothing was sent: {why}.")
