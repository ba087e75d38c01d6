"""Undo: the original bytes, followed by what was appended since."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO

from coffer.agents.table import CLAUDE
from coffer.disk.anchor import beginning
from coffer.disk.files import Source, open_source
from coffer.disk.places import Places
from coffer.disk.replace import Ticket, back_up, beside, locked, refusals, swap
from coffer.errors import ChangedSince, CofferError, FileMoved, PrunedContentMissing
from coffer.store.db import DONE, FAILED, PREPARED, UNDONE, Receipt, begun, database, save
from coffer.store.home import Home
from coffer.work.sessions.rest import Proof, at_rest

_CHUNK = 1 << 20


def undo(  # noqa: PLR0913  (the world comes in as arguments)
    receipt: Receipt,
    home: Home,
    places: Places,
    now: datetime | None = None,
    *,
    proof: Proof | None = None,
    more: Mapping[str, object] | None = None,
) -> Receipt:
    """Bring a transcript back; the receipt of the undo. proof: that the file may be written; else it must be at rest.

    more: what the receipt is to say besides. What was refused changed nothing. Raises what the proof raises, Busy,
    FileMoved, ChangedSince, PrunedContentMissing, WriteFailed.
    """
    path, backup = Path(receipt.path), Path(receipt.data["backup"])
    with refusals(home.root):
        home.make(home.locks)
    with locked(home.locks, path):
        ticket = _ticket(path, receipt)
        if _is_original(ticket, receipt) and (
            int(receipt.data["bytes_before"]) > int(receipt.data["bytes_after"])  # the longer match says more
            or not _is_written(ticket, receipt)
        ):
            return _close(receipt, home, "the file is as it was; nothing to bring back")
        with open_source(ticket.path) as source:
            about, proven = CLAUDE.about(source.head(), source.tail()), proof or at_rest(places)
        proven(about, ticket)
        done = begun("undo", receipt.agent, receipt.session, ticket.path, now)
        done.data |= {
            "undoes": receipt.id,
            "original_bytes": receipt.data["bytes_before"],
            "original_digest": receipt.data["digest_before"],
            **(more or {}),
        }
        with beside(ticket) as (new, file):
            done.data |= _write(receipt, ticket, backup, file)
            kept = home.backups / done.id / ticket.path.name
            done.data["backup"] = str(kept)
            with refusals(home.root), database(home) as connection:
                save(connection, done)
            try:
                back_up(ticket, kept)
                proven(about, ticket)
                late = swap(ticket, new, file, kept, in_use=proof is not None)
            except CofferError:
                done.status = FAILED
                with refusals(home.root), database(home) as connection:
                    save(connection, done)
                kept.unlink(missing_ok=True)
                raise
        receipt.status, done.status, done.data["carried"] = UNDONE, DONE, late.carried
        try:
            with refusals(home.root), database(home) as connection:
                save(connection, receipt)
                save(connection, done)
        finally:
            late.check(kept, ticket.size)  # says more than what the store may have to say
    return done


def _ticket(path: Path, receipt: Receipt) -> Ticket:
    try:
        return Ticket.of(path)
    except OSError as error:
        why = f"{(error.strerror or str(error)).lower()}; the original lies at {receipt.data['backup']}"
        raise PrunedContentMissing(f"Receipt {receipt.id}", str(path), why) from error


def _is_written(ticket: Ticket, receipt: Receipt) -> bool:
    """Whether the file is the one that was written, so that there is something to bring back.

    A crash may have come before the rename, or behind that of an undo. The old inode, which is the backup, is
    never the new file, also where the new bytes are the beginning of the old ones.
    """
    backup = Path(receipt.data["backup"])
    if receipt.status == PREPARED and (not backup.exists() or backup.samefile(ticket.path)):
        return False
    return beginning(ticket.path, int(receipt.data["bytes_after"])) == str(receipt.data["digest_after"])


def _is_original(ticket: Ticket, receipt: Receipt) -> bool:
    """Whether the file begins with the bytes that it had before."""
    size = int(receipt.data["bytes_before"])
    return ticket.size >= size and beginning(ticket.path, size) == str(receipt.data["digest_before"])


def _close(receipt: Receipt, home: Home, why: str) -> Receipt:
    receipt.status = UNDONE
    receipt.data["note"] = why
    with refusals(home.root), database(home) as connection:
        save(connection, receipt)
    return receipt


def _write(receipt: Receipt, ticket: Ticket, backup: Path, file: IO[bytes]) -> dict[str, int]:
    """The original, then what was appended since: to the new file, and late to the old one."""
    before, size = int(receipt.data["bytes_before"]), int(receipt.data["bytes_after"])
    if ticket.size < size or beginning(ticket.path, size) != receipt.data["digest_after"]:
        raise ChangedSince(str(ticket.path), str(backup))
    with _original(receipt, backup) as original, refusals(ticket.path), open_source(ticket.path) as current:
        digest = _copy(original, 0, before, file)
        if digest != receipt.data["digest_before"]:
            raise PrunedContentMissing(
                f"Receipt {receipt.id}", str(backup), "its bytes are not the original's"
            )
        carried = carried_of(receipt, original, current)
        late = original.size - before - carried
        appended = current.size - size + late
        if appended and original.read(before - 1, before) != b"\n":
            file.write(b"\n")  # a torn last line must not swallow what was appended since
        rules = _named_rules(receipt, current, size)
        file.write(rules)
        _copy(current, size, size + carried, file)
        _copy(original, before + carried, original.size, file)
        _copy(current, size + carried, current.size, file)
    return {"bytes_before": ticket.size, "bytes_after": before + len(rules) + appended, "appended": appended}


def _named_rules(receipt: Receipt, current: Source, size: int) -> bytes:
    """The line of the rules that the prune put at the end, where a record that was appended since hangs on it.

    Without it that record's parent would be nowhere, and the client would lose all that came before.
    """
    name = str(receipt.data.get("tail_uuid", "")).encode()
    if not name or (b'"parentUuid":"%s"' % name) not in current.read(size, current.size):
        return b""
    own = b'"uuid":"%s"' % name
    for much in (_CHUNK, size):  # it stands behind the last answer
        lines = current.read(max(0, size - much), size).split(b"\n")
        if (found := next((line for line in reversed(lines) if own in line), None)) is not None:
            return found + b"\n"
    return b""


@contextmanager
def _original(receipt: Receipt, backup: Path) -> Iterator[Source]:
    with ExitStack() as stack:
        try:
            source = stack.enter_context(open_source(backup))
        except CofferError as error:
            raise PrunedContentMissing(f"Receipt {receipt.id}", str(backup), str(error)) from error
        if source.size < int(receipt.data["bytes_before"]):
            raise PrunedContentMissing(f"Receipt {receipt.id}", str(backup), "it is too short")
        yield source


def carried_of(receipt: Receipt, original: Source, current: Source) -> int:
    """How many of the bytes that a client appended late to the old inode stand in the new file already."""
    before, after = int(receipt.data["bytes_before"]), int(receipt.data["bytes_after"])
    if "carried" in receipt.data:
        return min(int(receipt.data["carried"]), original.size - before)
    most = min(original.size - before, current.size - after)  # killed in between: what both begin with
    late, appended = original.read(before, before + most), current.read(after, after + most)
    same = next((at for at, pair in enumerate(zip(late, appended, strict=False)) if pair[0] != pair[1]), most)
    return same if same == most else late.rfind(b"\n", 0, same) + 1  # two lines begin alike: whole ones only


def _copy(source: Source, start: int, end: int, file: IO[bytes]) -> str:
    """Copy a stretch; its sha256."""
    digest = hashlib.sha256()
    while start < end:
        data = source.read(start, min(end, start + _CHUNK))
        if not data:
            raise FileMoved(str(source.path))
        file.write(data)
        digest.update(data)
        start += len(data)
    return digest.hexdigest()
