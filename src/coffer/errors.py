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


class SessionLive(CofferError):
    """A session that a client has open, or may have open."""

    exit_code = 10

    def __init__(self, session: str, holder: str) -> None:
        super().__init__(
            f"Session {session} is in use, or may be: {holder}. Nothing was written; a running client would lose "
            "track of its own file. Close it (or wait until it has been quiet for 10 minutes), then try again."
        )


class AgentNotPrunable(CofferError):
    """An agent whose transcripts Coffer only reads."""

    exit_code = 11

    def __init__(self, agent: str) -> None:
        super().__init__(
            f"{agent} sessions can be shown but not pruned: their forks read the parent's file by byte offsets, "
            "so a shorter parent would change other sessions. Nothing was written."
        )


class FileMoved(CofferError):
    """A file that changed between reading and writing."""

    exit_code = 12

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} changed while it was being worked on. Nothing was written. Try again.")


class LawBroken(CofferError):
    """A plan whose result would not be what it says."""

    exit_code = 13

    def __init__(self, law: str, found: str) -> None:
        super().__init__(
            f"The prune would break a law, so nothing was written. Law: {law}. Found: {found}. "
            "This is a fault of Coffer's; a milder prescription (-rx gentle) may do."
        )


class ReceiptNotFound(CofferError):
    """No receipt of that id, or none that can be undone."""

    exit_code = 14

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} Nothing was changed. `coffer receipts` lists them.")


class ReceiptForeign(CofferError):
    """A receipt that another machine wrote."""

    exit_code = 15

    def __init__(self, receipt: str) -> None:
        super().__init__(
            f"Receipt {receipt} was written on another machine; its backup lies there. Nothing was changed."
        )


class PrunedContentMissing(CofferError):
    """Pruned content or a backup that is not where it was put."""

    exit_code = 16

    def __init__(self, what: str, path: str, reason: str) -> None:
        super().__init__(
            f"{what} can't be brought back: {path} is missing or damaged ({reason}). Nothing was changed."
        )


class RestoreNotFound(CofferError):
    """No pruned content of that id."""

    exit_code = 17

    def __init__(self, name: str) -> None:
        super().__init__(f"No pruned content has an id that starts with “{name}”. The id stands in the stub.")


class RestoreAmbiguous(CofferError):
    """An id that fits several pieces of pruned content."""

    exit_code = 4

    def __init__(self, name: str, candidates: list[str]) -> None:
        super().__init__(f"“{name}” fits {len(candidates)} pieces of pruned content. Give more of the id.")


class WriteFailed(CofferError):
    """A write that the system refused: a full disk, a folder that may not be written."""

    exit_code = 18

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} can't be written: {reason}. The file is as it was.")


class LateLinesKept(CofferError):
    """A file that was replaced, while lines that a client wrote meanwhile could not be appended to it."""

    exit_code = 18

    def __init__(self, backup: str, since: int, reason: str, undoable: str, *, kept: bool = True) -> None:
        bring = f" Make room, then `coffer undo {undoable}` brings it back." if undoable else ""
        super().__init__(
            f"The file was replaced, but what its client wrote meanwhile could not be appended: {reason}. "
            + (
                f"Nothing is lost: it stands in {backup} from byte {since} on.{bring}"
                if kept
                else f"It could not all be kept in {backup} either. The rest of the original is there.{bring}"
            )
        )


class StoreFailed(CofferError):
    """Coffer's own database can't be read or written."""

    exit_code = 18

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"{path}, in which Coffer keeps its receipts, can't be used: {reason}. Transcripts whose change was "
            "not recorded there can still be brought back with `coffer undo`."
        )


class LineUnreadable(CofferError):
    """A line of a file that a program handed over."""

    exit_code = 7

    def __init__(self, path: str, line: int, reason: str) -> None:
        super().__init__(f"{path}, line {line}: {reason}. The lines before it were answered.")


class DigestBroken(CofferError):
    """A digest that can't be understood; it is never overwritten."""

    exit_code = 7

    def __init__(self, path: str, line: int, reason: str) -> None:
        super().__init__(
            f"{path}, line {line}: {reason}. The file is left alone. Mend that line, then try again."
        )


class Busy(CofferError):
    """Another Coffer that works on the same file."""

    exit_code = 19

    def __init__(self, path: str) -> None:
        super().__init__(
            f"Another coffer is working on {path}. Nothing was written. Try again when it is done."
        )


class ChangedSince(CofferError):
    """A file whose pruned part was changed by somebody else, so that undoing would lose that."""

    exit_code = 20

    def __init__(self, path: str, backup: str) -> None:
        super().__init__(
            f"{path} was rewritten since, not only appended to: undoing would lose what was changed. "
            f"Nothing was written. The original lies at {backup}."
        )


class DigestElsewhere(CofferError):
    """A digest behind a link that leads out of its project, or out of the home folder."""

    exit_code = 23

    def __init__(self, path: str, target: str) -> None:
        super().__init__(
            f"{path} leads out of its project, to {target}. It is neither read nor written. "
            "Put the digest itself there, or a link that stays in the project."
        )


class DigestForeign(CofferError):
    """Something that is no file of a digest's kind, where a digest should be."""

    exit_code = 24

    def __init__(self, path: str, what: str) -> None:
        super().__init__(f"{path} can't be a digest: it is {what}. It is left alone.")


class SettingsBroken(CofferError):
    """A config.toml that can't be understood or says what can't be meant; it is never written."""

    exit_code = 21

    def __init__(self, path: str, line: int, reason: str) -> None:
        """line: from 1, 0 where no single one is at fault. reason: one or more sentences."""
        where = f"{path}, line {line}" if line else path
        super().__init__(
            f"{where}: {reason} The file is left alone. Mend it, or move it away to go on with the defaults, "
            "then try again."
        )


class ModelUnavailable(CofferError):
    """A configured model that can't be asked, or whose answer can't be taken.

    final: asking again in this run would fail alike. wait: seconds after which the same request may do better, None
    where it never will. The sentence holds neither the key nor what was asked.
    """

    exit_code = 22

    def __init__(
        self, model: str, reason: str, advice: str, *, final: bool = True, wait: float | None = None
    ) -> None:
        super().__init__(
            f"The model {model} gave no answer: {reason}. Nothing was changed; what it would have judged is left "
            f"to the built-in classifier. {advice}"
        )
        self.final = final
        self.wait = wait
