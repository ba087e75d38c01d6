"""What can go wrong with a journal entry; each with its exit code, as in `errors`."""

from __future__ import annotations

from coffer.errors import CofferError


class EntryChangedSince(CofferError):
    """An entry that was edited or taken away since a receipt, so that undoing would lose that."""

    exit_code = 20

    def __init__(self, receipt: str, path: str) -> None:
        super().__init__(
            f"The entry of receipt {receipt} in {path} was changed since: undoing would lose that. Nothing was "
            "written. Edit the file itself."
        )
