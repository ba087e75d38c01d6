"""Prune a session: plan it, prove it, write it, and leave a receipt that can be undone."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import IO

from coffer.core.chain import seconds
from coffer.core.dialect import THINKING
from coffer.core.items import Item
from coffer.core.laws import Breach, Side, breaches, plan_breaches
from coffer.core.plan import Cut, Drop, Plan, settle
from coffer.core.record import ALWAYS, Record
from coffer.core.rewrite import Rewrite, rewrite
from coffer.core.scene import Care, Pair, Scene, scene
from coffer.core.strategies.table import DISK, PRESCRIPTIONS, SAVES, Prescription, proposals
from coffer.core.tail import STRATEGY
from coffer.core.view import View
from coffer.disk.places import Places
from coffer.disk.replace import Ticket, back_up, beside, locked, refusals, swap
from coffer.disk.sync import sync_file
from coffer.errors import AgentNotPrunable, FileMoved, LawBroken, NotAFile
from coffer.store.db import DONE, FAILED, Receipt, begun, database, save
from coffer.store.home import Home
from coffer.store.pruned import Content, put
from coffer.work.pruning.tail import at_the_end
from coffer.work.sessions.inspect import Report, inspect
from coffer.work.sessions.read import Opened, opened
from coffer.work.sessions.rest import Proof, at_rest

_CHUNK = 1 << 20


@dataclass(slots=True)
class Proposal:
    """A plan for an opened session, with what it was made from."""

    session: Opened
    report: Report
    scene: Scene
    prescription: Prescription
    plan: Plan
    ticket: Ticket

    @property
    def tokens_after(self) -> int:
        """Estimated tokens in the context after the prune."""
        return max(0, round(self.report.tokens - self.plan.tokens()))


@dataclass(slots=True)
class Written:
    """A new file that holds the pruned transcript, checked, not yet in place. digests: sha256, of old and new."""

    size: int
    digest: str
    digest_before: str
    rewrite: Rewrite
    breaches: list[Breach] = field(default_factory=list)


def propose(
    session: Opened, environment: Mapping[str, str], prescription: str, protect: Sequence[str] = ()
) -> Proposal:
    """The plan of a prescription. Raises AgentNotPrunable for an agent whose transcripts are only read."""
    if session.agent.name != "claude":
        raise AgentNotPrunable(session.agent.title)
    chosen = PRESCRIPTIONS[prescription]
    ticket = Ticket.of_source(session.source)
    if ticket.path.suffix == ".zst" or ticket.size != session.source.size:
        raise NotAFile(str(ticket.path), "a compressed file, which Coffer only reads")
    ticket.check()
    view = session.agent.view(session.transcript, "")
    report = inspect(session, environment, top=0, view=view)
    looked = scene(
        session.transcript,
        view,
        report.composition.parts,
        Care(chosen.keep_turns, protect, _unchanged),
    )
    names = chosen.strategies | {"thinking"} if looked.bound else chosen.strategies
    plan = settle(
        (p for p in proposals(looked, names) if p.action.record.read == ALWAYS),
        looked.nameable,
        _limit(report, chosen),
    )
    plan = at_the_end(session, looked, plan, environment)
    if looked.bound:
        plan = _bound(plan, looked)
    return Proposal(session, report, looked, chosen, plan, ticket)


def _bound(plan: Plan, looked: Scene) -> Plan:
    """The plan for a model whose thinking is bound to all that stands before it: all thinking goes, or nothing.

    Behind a change the API refuses it, and the client asks again without any, at each request from then on.
    """
    if all(item.strategy == "thinking" or SAVES[item.strategy] == DISK for item in plan.actions):
        kept = [item for item in plan.actions if item.strategy != "thinking"]
        return replace(plan, actions=kept)
    gone = {
        (item.action.record.start, item.action.index if isinstance(item.action, Cut) else -1)
        for item in plan.actions
        if isinstance(item.action, Drop | Cut)
    }
    for entry in looked.entries:
        item = entry.item
        if isinstance(item, Item) and item.kind in THINKING and item.record is not None:
            start = item.record.start
            if not {(start, item.index), (start, -1)} & gone:
                why = "this model's thinking is bound to what stands before it, and not all of it may go yet"
                kept = [item for item in plan.actions if SAVES[item.strategy] == DISK]
                left_out = {**plan.left_out, **dict.fromkeys(_changing(plan), why)}
                return Plan(kept, left_out, wanted=plan.wanted)
    return plan


def _changing(plan: Plan) -> list[str]:
    return [name for name in plan.strategies() if SAVES[name] != DISK]


def _limit(report: Report, chosen: Prescription) -> float:
    return chosen.limit * sum(tokens for _, tokens in report.composition.parts)


def _unchanged(pair: Pair) -> bool:
    """Whether the file that a call read was not written since: reading it again gives the same."""
    read = seconds(pair.result.record.time) if pair.result.record is not None else None
    if not pair.path or read is None:
        return False
    try:
        return os.stat(pair.path).st_mtime < read  # noqa: PTH116  (a path of a transcript, looked at, never opened)
    except (OSError, ValueError):
        return False


def apply(  # noqa: PLR0913  (the world comes in as arguments)
    proposal: Proposal,
    home: Home,
    places: Places,
    now: datetime | None = None,
    *,
    proof: Proof | None = None,
    more: Mapping[str, object] | None = None,
) -> tuple[Receipt | None, Written]:
    """Carry the plan out. No receipt: the laws left nothing of the plan.

    proof: that the file may be written; without one the session must be at rest. more: what the receipt is to say
    besides. Raises what the proof raises, Busy, FileMoved, LawBroken, WriteFailed; then the transcript is as it was.
    Raises LateLinesKept where it was pruned, and what a client wrote meanwhile could not be appended.
    """
    about, ticket = proposal.session.transcript.about, proposal.ticket
    proven = proof or at_rest(places)
    with refusals(home.root):
        home.make(home.locks)
    with locked(home.locks, ticket.path):
        proven(about, ticket)
        receipt = begun("prune", proposal.session.agent.name, about.session, ticket.path, now)
        with beside(ticket) as (path, file):
            written = write_checked(proposal, path, file)
            if proposal.plan.is_empty:
                return None, written
            with refusals(path):
                file.flush()
                sync_file(path)
            proven(about, ticket)
            receipt.data |= {**_summary(proposal, written), **(more or {})}
            _keep(receipt, proposal, written, home)
            backup = Path(receipt.data["backup"])
            try:
                back_up(ticket, backup)
                proven(about, ticket)
                late = swap(ticket, path, file, backup, in_use=proof is not None)
            except Exception as error:
                receipt.data["why"] = str(error)
                _finish(receipt, home, FAILED)
                backup.unlink(missing_ok=True)
                raise
        receipt.data["carried"] = late.carried
        try:
            _finish(receipt, home, DONE)
        finally:
            late.check(backup, ticket.size, receipt.id)
    return receipt, written


def _keep(receipt: Receipt, proposal: Proposal, written: Written, home: Home) -> None:
    """Put away what goes, before anything is replaced."""
    with refusals(home.root):
        home.make(home.backups)
    receipt.data["backup"] = str(home.backups / receipt.id / proposal.ticket.path.name)
    pieces = [Content(piece.id, piece.content, piece.note) for piece in written.rewrite.pieces]
    with refusals(home.root), database(home) as connection:
        save(connection, receipt)
        receipt.data["stored"] = put(connection, home, receipt.id, proposal.report.folder, pieces)


def _finish(receipt: Receipt, home: Home, status: str) -> None:
    receipt.status = status
    with refusals(home.root), database(home) as connection:
        save(connection, receipt)


def _summary(proposal: Proposal, written: Written) -> dict[str, object]:
    return {
        "prescription": proposal.prescription.name,
        "strategies": proposal.plan.strategies(),
        "tokens_before": proposal.report.tokens,
        "tokens_after": proposal.tokens_after,
        "forecast": proposal.report.tokens - proposal.tokens_after,
        "left_out": proposal.plan.left_out,
        "base": proposal.report.composition.base,
        "bytes_before": proposal.ticket.size,
        "bytes_after": written.size,
        "digest_before": written.digest_before,
        "digest_after": written.digest,
        "pieces": len(written.rewrite.pieces),
        "removed": written.rewrite.removed,
        "tail": proposal.plan.tail.form if proposal.plan.tail is not None else "",
        "tail_uuid": proposal.plan.tail.uuid if proposal.plan.tail is not None else "",
    }


def write_checked(proposal: Proposal, path: Path, file: IO[bytes]) -> Written:
    """Write the pruned transcript and prove it; strategies whose actions break a law are left out.

    Raises LawBroken where no plan is left that holds.
    """
    before = proposal.scene.view
    while True:
        found = _plan_breaches(proposal)
        if not found:
            written = _write(proposal, file)
            with refusals(path):
                file.flush()
            with _reopened(proposal, path) as (after, other):
                found = breaches(Side(before, proposal.session.line), Side(after, other.line), proposal.plan)
            if not found:
                return written
        strategy = next((breach.strategy for breach in found if breach.strategy), "")
        if proposal.plan.tail is not None and strategy in ("", STRATEGY):
            proposal.plan = proposal.plan.without_tail()  # the rules come by the hook then, as ever
            file.seek(0)
            file.truncate()
            continue
        if not strategy or strategy not in proposal.plan.strategies():
            raise LawBroken(found[0].law, found[0].found)
        proposal.plan = proposal.plan.without(strategy, f"{found[0].law}: {found[0].found}")
        if proposal.scene.bound:
            proposal.plan = _bound(proposal.plan, proposal.scene)
        file.seek(0)
        file.truncate()


@contextmanager
def _reopened(proposal: Proposal, path: Path) -> Iterator[tuple[View, Opened]]:
    with opened(path) as other:
        yield proposal.session.agent.view(other.transcript, proposal.scene.view.model), other


def _plan_breaches(proposal: Proposal) -> list[Breach]:
    entries = proposal.scene.entries
    tail = {e.item.record.start for e in entries if e.item.record and e.turn >= proposal.scene.tail}
    latest = {e.item.record.start for e in entries if e.item.record and e.turn >= proposal.scene.last}
    limit = _limit(proposal.report, proposal.prescription)
    return plan_breaches(proposal.plan, limit, tail, latest, bound=proposal.scene.bound)


def _write(proposal: Proposal, file: IO[bytes]) -> Written:
    """Write the new bytes: stretches that nothing happens to are copied as they are."""
    work = rewrite(proposal.session.transcript, proposal.plan)
    out, tail = _Out(file), proposal.plan.tail
    source, position = _Hashed(proposal.session.source.read), 0
    size = proposal.session.source.size
    with refusals(proposal.ticket.path):
        for record in _touched(proposal.session.transcript.records, work):
            out.copy(source.read, position, record.start)
            if tail is not None and record.start == tail.before:
                out.put(tail.line + b"\n")
            new = work.line(record, source.read(record.start, record.end))
            position = record.end
            if new is None:
                end = _behind_newline(proposal.session.source.read(record.end, record.end + 2), record.end)
                source.read(position, end)
                position = end
            else:
                out.put(new)
        out.copy(source.read, position, size)
        if not out.ends_with_newline:
            out.put(b"\n")
        if tail is not None and tail.before < 0:
            out.put(tail.line + b"\n")
    return Written(out.size, out.digest.hexdigest(), source.digest.hexdigest(), work)


def _touched(records: Sequence[Record], work: Rewrite) -> Iterator[Record]:
    return (record for record in records if work.touches(record))


def _behind_newline(following: bytes, end: int) -> int:
    if following.startswith(b"\r\n"):
        return end + 2
    return end + 1 if following.startswith(b"\n") else end


_Read = Callable[[int, int], bytes]


class _Hashed:
    """The original, read once from its beginning to its end, with its digest: an undo proves its backup by it."""

    def __init__(self, read: _Read) -> None:
        self._read = read
        self.digest = hashlib.sha256()

    def read(self, start: int, end: int) -> bytes:
        data = self._read(start, end)
        self.digest.update(data)
        return data


class _Out:
    """The new file, with its size and digest as it grows."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.size = 0
        self.digest = hashlib.sha256()
        self.ends_with_newline = True

    def put(self, data: bytes) -> None:
        if data:
            self._file.write(data)
            self.digest.update(data)
            self.size += len(data)
            self.ends_with_newline = data.endswith(b"\n")

    def copy(self, read: _Read, start: int, end: int) -> None:
        while start < end:
            data = read(start, min(end, start + _CHUNK))
            if not data:
                raise FileMoved(self._file.name)
            self.put(data)
            start += len(data)
