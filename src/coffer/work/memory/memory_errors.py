"""What can go wrong with notes and with asking for them; each with its exit code, as in `errors`."""

from __future__ import annotations

from coffer.errors import CofferError


class NoteRefused(CofferError):
    """A text that may not be a note."""

    exit_code = 70

    def __init__(self, reason: str) -> None:
        super().__init__(f"This was not kept: {reason}.")


class KeptAlready(CofferError):
    """A text that an entry says already."""

    exit_code = 71

    def __init__(self, entry: str, where: str, day: str) -> None:
        when = f" since {day}" if day else ""
        super().__init__(f"Entry {entry} of {where} says this already{when}. Nothing was written.")


class IndexMaking(CofferError):
    """An index that another process is still making."""

    exit_code = 72

    def __init__(self) -> None:
        super().__init__(
            "The vault is being indexed: many files are new. Nothing is lost; ask again in half a minute."
        )


class EmbeddingsMissing(CofferError):
    """Embeddings that are asked for in the settings, without what makes them."""

    exit_code = 79

    def __init__(self, python: str) -> None:
        super().__init__(
            "`[recall] embeddings` is on, but what it needs is not installed, so entries are found by their words "
            f"alone. Install it: {python} -m pip install 'coffer-agent[embeddings]' (in a checkout: make embeddings)"
        )


class NoSuchNote(CofferError):
    """No entry of that id."""

    exit_code = 73

    def __init__(self, name: str) -> None:
        super().__init__(
            f"No entry has the id “{name}” here. `coffer recall` lists the newest with their ids."
        )


class NoteChangedSince(CofferError):
    """A note that was changed by hand since a receipt, so that undoing would lose that."""

    exit_code = 20

    def __init__(self, receipt: str, path: str) -> None:
        super().__init__(
            f"The note of receipt {receipt} in {path} was changed since, or is gone: undoing would lose that. "
            "Nothing was written. You can take it out of the file by hand."
        )
