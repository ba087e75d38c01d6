"""What can go wrong with a handoff; each with its exit code, as in `errors`."""

from __future__ import annotations

from coffer.errors import CofferError


class HandoffRefused(CofferError):
    """A handoff that says nothing, or too much."""

    exit_code = 77

    def __init__(self, reason: str) -> None:
        super().__init__(f"This handoff was not written: {reason}. The one before it is as it was.")


class NoHandoff(CofferError):
    """A branch that has none."""

    exit_code = 78

    def __init__(self, what: str, others: list[str]) -> None:
        more = f" There are some of {', '.join(others)}: name one with --branch." if others else ""
        super().__init__(f"There is no handoff of {what}.{more} Nothing was changed.")


class HandoffChangedSince(CofferError):
    """A handoff that was written again since a receipt, so that undoing would lose that."""

    exit_code = 20

    def __init__(self, receipt: str, path: str) -> None:
        super().__init__(
            f"{path} was changed since receipt {receipt}: undoing would lose that. Nothing was written. "
            "`coffer handoff history` has what was there before."
        )
