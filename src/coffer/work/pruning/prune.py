"""Prune a session: plan it, prove it, write it, and leave a receipt that can be undone."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
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
from coffer.disk.replace import Ticket, beside, refusals
from coffer.disk.sync import sync_file
from coffer.errors import LawBroken
from coffer.store.db import Receipt, begun
from coffer.store.held import held
from coffer.store.home import Home
from coffer.store.pruned import Content, put
from coffer.work.pruning.copying import Copying
from coffer.work.pruning.exchange import Exchange, ticket_of
from coffer.work.pruning.tail import at_the_end
from coffer.work.sessions.inspect import Report, inspect
from coffer.work.sessions.read import Opened, opened
from coffer.work.sessions.rest import Proof


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
    ticket, chosen = ticket_of(session), PRESCRIPTIONS[prescription]
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
    exchange = Exchange(home, ticket, about, places, proof)
    with held(home, ticket.path):
        exchange.prove()
        receipt = begun("prune", proposal.session.agent.name, about.session, ticket.path, now)
        with beside(ticket) as (path, file):
            written = write_checked(proposal, path, file)
            if proposal.plan.is_empty:
                return None, written
            with refusals(path):
                file.flush()
                sync_file(path)
            exchange.prove()
            receipt.data |= {**_summary(proposal, written), **(more or {})}

            def put_away(connection: sqlite3.Connection) -> None:
                pieces = [Content(piece.id, piece.content, piece.note) for piece in written.rewrite.pieces]
                receipt.data["stored"] = put(connection, home, receipt.id, proposal.report.folder, pieces)

            late = exchange.carry_out(receipt, (path, file), put_away, explain=True)
        exchange.close(receipt, late)
    return receipt, written


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
    work, source = rewrite(proposal.session.transcript, proposal.plan), proposal.session.source
    way, tail = Copying(source, file), proposal.plan.tail
    with refusals(proposal.ticket.path):
        for record in _touched(proposal.session.transcript.records, work):
            way.take(record.start)
            if tail is not None and record.start == tail.before:
                way.put(tail.line + b"\n")
            new = work.line(record, way.leave(record.end))
            if new is None:
                way.leave(_behind_newline(source.read(record.end, record.end + 2), record.end))
            else:
                way.put(new)
        way.take(source.size)
        if not way.ends_with_newline:
            way.put(b"\n")
        if tail is not None and tail.before < 0:
            way.put(tail.line + b"\n")
    return Written(way.size, way.digest_after, way.digest_before, work)


def _touched(records: Sequence[Record], work: Rewrite) -> Iterator[Record]:
    return (record for record in records if work.touches(record))


def _behind_newline(following: bytes, end: int) -> int:
    if following.startswith(b"\r\n"):
        return end + 2
    return end + 1 if following.startswith(b"\n") else end
