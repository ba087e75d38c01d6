"""What can go wrong with an archive of the vault."""

from __future__ import annotations

from coffer.errors import CofferError


class ArchiveUnreadable(CofferError):
    """A file that is no archive of Coffer's, or holds what none may hold."""

    exit_code = 83

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} can't be taken in: {reason}. Nothing was changed.")


class ArchiveExists(CofferError):
    """A file in the way."""

    exit_code = 84

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is there already, and is left as it is. Name another file, or say --force.")
