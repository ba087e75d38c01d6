"""Situations of the daemon. Exit codes: 50 and up (docs/formats.md)."""

from __future__ import annotations

from coffer.errors import CofferError


class DaemonNotStarted(CofferError):
    """The daemon could not begin, or did not say in time that it has."""

    exit_code = 50

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The daemon did not start: {reason} Hooks answer from their files meanwhile; "
            "`coffer daemon logs` may say more."
        )


class DaemonBlocked(CofferError):
    """What the daemon needs is in the way of it."""

    exit_code = 51

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} {reason}. Nothing was changed.")


class DaemonSilent(CofferError):
    """A daemon that is there and gives no answer, or none that is one."""

    exit_code = 52

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The daemon does not answer: {reason}. `coffer daemon stop` and `coffer daemon start` renew it."
        )


class DaemonStays(CofferError):
    """A daemon that did not end."""

    exit_code = 53

    def __init__(self, pid: int) -> None:
        super().__init__(f"The daemon (process {pid}) was asked to end and then killed, and is still there.")


class ThreadFailed(CofferError):
    """An error of our own in a thread of the daemon: one look comes to nothing, and the daemon goes on."""

    exit_code = 54

    def __init__(self, name: str) -> None:
        super().__init__(f"Something the daemon does came to nothing: {name}. Its log says more.")


class PartFailed(Exception):
    """A part of the daemon raised what nobody expected; it is in the log. The message names the part."""
