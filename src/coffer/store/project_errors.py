"""What can go wrong with a project's page in the vault; each with its exit code, as in `errors`."""

from __future__ import annotations

from coffer.errors import CofferError


class ProjectBroken(CofferError):
    """A project.toml that can't be understood; it is never overwritten."""

    exit_code = 74

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} can't be read: {reason}. It is left alone. Mend it or move it away.")


class ProjectNotFound(CofferError):
    """A folder that belongs to no project, or a name that is none."""

    exit_code = 75

    def __init__(self, sentence: str) -> None:
        super().__init__(f"{sentence} Nothing was changed. `coffer project list` shows those with a memory.")


class MergeRefused(CofferError):
    """A merge that would overwrite something, or that can't be meant."""

    exit_code = 76

    def __init__(self, sentence: str) -> None:
        super().__init__(f"{sentence} Nothing was changed.")


class MergedSince(CofferError):
    """A merge whose files were changed since, so that undoing would lose that."""

    exit_code = 20

    def __init__(self, receipt: str, path: str) -> None:
        super().__init__(
            f"{path} was changed since the merge of receipt {receipt}, or something else is in its place: undoing "
            "would lose that. Nothing was moved."
        )
