"""What can keep something from being forgotten."""

from __future__ import annotations

from coffer.errors import CofferError


class NothingToForget(CofferError):
    """No entry of that id."""

    exit_code = 80

    def __init__(self, entry: str) -> None:
        super().__init__(
            f"No entry of the vault has the id “{entry}”. Nothing was changed. `coffer recall` and `coffer journal` "
            "show ids; words are forgotten by `coffer forget --text`."
        )


class PhraseTooShort(CofferError):
    """A phrase that stands in everything."""

    exit_code = 81

    def __init__(self, shortest: int) -> None:
        super().__init__(
            f"A phrase to forget needs at least {shortest} characters, else it stands everywhere. "
            "Nothing was changed."
        )


class NotAllForgotten(CofferError):
    """Some places resisted."""

    exit_code = 82

    def __init__(self, left: int) -> None:
        super().__init__(
            f"{left} of these places could not be changed, with the reason beside each. All others are done; "
            "run it again when they can be written."
        )
