"""Undo: the original bytes, followed by what was appended since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO

from coffer.agents.table import CLAUDE
from coffer.disk.anchor import beginning
from coffer.disk.files import Source, open_source
from coffer.disk.places import Places
from coffer.disk.replace import Ticket, beside, refusals
from coffer.errors import ChangedSince, CofferError, PrunedContentMissing
from coffer.store.db import UNDONE, Receipt, begun, record
from coffer.store.held import held
from coffer.store.home import Home
from coffer.work.pruning.copying import Copying, pieces
from coffer.work.pruning.exchange import Exchange, is_in_place
from coffer.work.sessions.rest import Proof

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
    with held(home, path):
        ticket = _ticket(path, receipt)
        if _is_original(ticket, receipt) and (
            int(receipt.data["bytes_before"]) > int(receipt.data["bytes_after"])  # the longer match says more
            or not is_in_place(ticket.path, receipt)
        ):
            return _close(receipt, home, "the file is as it was; nothing to bring back")
        with open_source(ticket.path) as source:
            about = CLAUDE.about(source.head(), source.tail())
        exchange = Exchange(home, ticket, about, places, proof)
        exchange.prove()
        done = begun("undo", receipt.agent, receipt.session, ticket.path, now)
        done.data |= {
            "undoes": receipt.id,
            "original_bytes": receipt.data["bytes_before"],
            "original_digest": receipt.data["digest_before"],
            **(more or {}),
        }
        with beside(ticket) as (new, file):
            done.data |= _write(receipt, ticket, backup, file)
            late = exchange.carry_out(done, (new, file))
        exchange.close(done, late, receipt)
    return done


def _ticket(path: Path, receipt: Receipt) -> Ticket:
    try:
        return Ticket.of(path)
    except OSError as error:
        why = f"{(error.strerror or str(error)).lower()}; the original lies at {receipt.data['backup']}"
        raise PrunedContentMissing(f"Receipt {receipt.id}", str(path), why) from error


def _is_original(ticket: Ticket, receipt: Receipt) -> bool:
    """Whether the file begins with the bytes that it had before."""
    size = int(receipt.data["bytes_before"])
    return ticket.size >= size and beginning(ticket.path, size) == str(receipt.data["digest_before"])


def _close(receipt: Receipt, home: Home, why: str) -> Receipt:
    receipt.status = UNDONE
    receipt.data["note"] = why
    record(home, receipt)
    return receipt


def _write(receipt: Receipt, ticket: Ticket, backup: Path, file: IO[bytes]) -> dict[str, int]:
    """The original, then what was appended since: to the new file, and late to the old one."""
    before, size = int(receipt.data["bytes_before"]), int(receipt.data["bytes_after"])
    if ticket.size < size or beginning(ticket.path, size) != receipt.data["digest_after"]:
        raise ChangedSince(str(ticket.path), str(backup))
    with _original(receipt, backup) as original, refusals(ticket.path), open_source(ticket.path) as current:
        way = Copying(original, file)
        way.take(before)
        if way.digest_before != receipt.data["digest_before"]:
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
        file.writelines(pieces(current, size, size + carried))
        file.writelines(pieces(original, before + carried, original.size))
        file.writelines(pieces(current, size + carried, current.size))
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
