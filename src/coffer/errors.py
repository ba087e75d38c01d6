"""One class a situation: its sentence (what happened, what is untouched, what to do) and its exit code.

Exit codes are part of the interface and listed in docs/formats.md. 0: done. 1: `check` found something.
2: the command line was wrong (click). 130: interrupted.
"""

from __future__ import annotations


class CofferError(Exception):
    """Anything that a person can be told in a sentence. Every subclass has an exit code of its own."""

    exit_code = 1


class SessionNotFound(CofferError):
    """No session of that name."""

    exit_code = 3

    def __init__(self, name: str, known: int) -> None:
        looked = f"{known} sessions were looked at" if known else "there is no session on this machine"
        super().__init__(
            f"No session is named or starts with “{name}” ({looked}). Nothing was changed. "
            "`coffer sessions` lists them; a path to a transcript works too."
        )


class SessionAmbiguous(CofferError):
    """A prefix that fits several sessions."""

    exit_code = 4

    def __init__(self, name: str, candidates: list[str]) -> None:
        shown = ", ".join(candidates[:5]) + (
            f" and {len(candidates) - 5} more" if len(candidates) > 5 else ""
        )
        super().__init__(f"“{name}” fits {len(candidates)} sessions: {shown}. Give more of the id.")


class NoCurrentSession(CofferError):
    """`current` where nothing says which session that is."""

    exit_code = 3

    def __init__(self, folder: str) -> None:
        super().__init__(
            f"No session belongs to {folder}, so there is no current one. "
            "`coffer sessions` lists the sessions of all folders."
        )


class TranscriptMissing(CofferError):
    """A path where no file is."""

    exit_code = 5

    def __init__(self, path: str) -> None:
        super().__init__(f"There is no file at {path}.")


class TranscriptEmpty(CofferError):
    """A file of no bytes."""

    exit_code = 6

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is empty: its agent would find no conversation in it. Nothing was changed.")


class TranscriptUnreadable(CofferError):
    """A file that the system does not let us read."""

    exit_code = 7

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"{path} can't be read: {reason}. Nothing was changed. Check who may read it (ls -l)."
        )


class TranscriptForeign(CofferError):
    """A file that holds no record of a known agent."""

    exit_code = 8

    def __init__(self, path: str, what: str) -> None:
        super().__init__(
            f"{path} is no transcript of Claude Code or Codex: {what}. Nothing was changed. "
            "Transcripts are the .jsonl files that `coffer sessions --paths` lists."
        )


class NotAFile(CofferError):
    """A folder, a device, a pipe."""

    exit_code = 9

    def __init__(self, path: str, what: str) -> None:
        super().__init__(f"{path} is {what}, not a transcript. Name a .jsonl file or a session id.")
