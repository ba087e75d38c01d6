"""A new transcript for an old one, with a receipt: what a prune, a repair and an undo do alike.

Order, so that nothing is lost whatever happens in between: the lock; the proof; the verb writes the new file beside
the old one and judges it; the receipt, prepared; the backup; the proof again, right before the swap; the receipt,
done. What is refused before the swap makes the receipt a failed one, and the transcript is as it was. Behind the
swap the backup stays, whatever happens.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from coffer.core.transcript import About
from coffer.disk.anchor import beginning
from coffer.disk.places import Places
from coffer.disk.replace import Late, Ticket, back_up, refusals, swap
from coffer.errors import AgentNotPrunable, NotAFile
from coffer.store.db import DONE, FAILED, PREPARED, UNDONE, Receipt, database, record, save
from coffer.store.home import Home
from coffer.work.sessions.read import Opened
from coffer.work.sessions.rest import Proof, at_rest


def ticket_of(session: Opened) -> Ticket:
    """The ticket of a transcript that Coffer writes. Raises AgentNotPrunable, NotAFile, FileMoved."""
    if session.agent.name != "claude":
        raise AgentNotPrunable(session.agent.title)
    ticket = Ticket.of_source(session.source)
    if ticket.path.suffix == ".zst" or ticket.size != session.source.size:
        raise NotAFile(str(ticket.path), "a compressed file, which Coffer only reads")
    ticket.check()
    return ticket


@dataclass(frozen=True, slots=True)
class Exchange:
    """A transcript that is to be replaced, while it is held.

    ticket, about: as it was read. proof: that it may be written though a client has it open; else it must be at rest.
    """

    home: Home
    ticket: Ticket
    about: About
    places: Places
    proof: Proof | None

    def prove(self) -> None:
        """Raise what the proof raises unless the transcript may be written now."""
        (self.proof or at_rest(self.places))(self.about, self.ticket)

    def carry_out(
        self,
        receipt: Receipt,
        new: tuple[Path, IO[bytes]],
        keep: Callable[[sqlite3.Connection], None] = lambda _: None,
        *,
        explain: bool = False,
    ) -> Late:
        """Put the new file (of `replace.beside`) in place; what a client appended meanwhile.

        keep: what is put away with the receipt, both or neither. explain: a failed receipt says why. Raises what the
        proof raises, FileMoved, WriteFailed, StoreFailed; then the transcript is as it was.
        """
        backup = self.home.backups / receipt.id / self.ticket.path.name
        receipt.data["backup"] = str(backup)
        with refusals(self.home.root):
            self.home.make(self.home.backups)
        with refusals(self.home.root), database(self.home) as connection:
            save(connection, receipt)
            keep(connection)
        try:
            back_up(self.ticket, backup)
            self.prove()
            return swap(self.ticket, *new, backup, in_use=self.proof is not None)
        except Exception as error:
            if not new[0].exists():  # behind the rename the backup is the only way back
                raise
            receipt.status = FAILED
            if explain:
                receipt.data["why"] = str(error)
            record(self.home, receipt)
            backup.unlink(missing_ok=True)
            raise

    def close(self, receipt: Receipt, late: Late, *undone: Receipt) -> None:
        """Say that it is done, and which receipts it takes back. Raises LateLinesKept, StoreFailed, WriteFailed."""
        receipt.status, receipt.data["carried"] = DONE, late.carried
        for one in undone:
            one.status = UNDONE
        try:
            record(self.home, *undone, receipt)
        finally:  # lines that stand in the backup only are told whatever the store has to say
            late.check(Path(receipt.data["backup"]), self.ticket.size, "" if undone else receipt.id)


def is_in_place(path: Path, receipt: Receipt) -> bool:
    """Whether the file is the one that was written by what a receipt tells of: begun or done, and not undone since.

    A crash may have come before the swap, or behind that of an undo. The old inode, which is the backup, is never the
    new file, also where the new bytes are the beginning of the old ones. Raises OSError.
    """
    backup, data = Path(str(receipt.data.get("backup", ""))), receipt.data
    if receipt.status == PREPARED and (not backup.exists() or backup.samefile(path)):
        return False
    of = ("original_bytes", "original_digest") if receipt.kind == "undo" else ("bytes_after", "digest_after")
    return beginning(path, int(data[of[0]])) == str(data[of[1]])
