"""What a move has really saved: the first answer after the reload tells, and closes the receipt.

The client's count before (request and answer of the last answer before the prune), plus what was said since by the
person, tools and model (estimated from its bytes, by the session's own scale), is what the request would have had. Less
what the first answer after the reload counts as its request: that is the saving. What the client puts in by itself, as
its list of skills again, is thereby a cost of the move.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from coffer.agents.table import CLAUDE
from coffer.core.composition import Part
from coffer.core.dialect import SYNTHETIC
from coffer.core.evidence import moment
from coffer.core.record import Attached, Boundary, Record
from coffer.disk.tail_lines import TailLines
from coffer.store.db import DONE, Receipt, database, save
from coffer.store.guard_moves import keep_moves
from coffer.work.guarding.guarded import Guarded
from coffer.work.guarding.move_story import RELOADED, moves_made, outcome

MOST = 64 << 20
"""New bytes that are read; a move behind which more came without an answer stays unmeasured."""


def measure(session: Guarded, now: float) -> Receipt | None:
    """Close the newest move whose reload was seen; the receipt, None where there is nothing to measure yet.

    `data.measured`: tokens that it saved, of any sign; None where a compaction came first. The session must be held
    (`one_mover`). Raises StoreFailed, WriteFailed.
    """
    receipt = next((one for one in moves_made(session.home, session.transcript) if one.status == DONE), None)
    if receipt is None or outcome(receipt) != RELOADED:
        return None
    if receipt.kind == "undo" or "measured" in receipt.data:
        keep_moves(session.home, session.id, now, open="")  # nothing of it is still to come
        return None
    start = int(receipt.data["bytes_after"]) + int(receipt.data.get("carried", 0))
    seen = float(receipt.data["reload"].get("seen_at") or 0.0)
    said = 0.0
    for record in _since(session.transcript, start):
        if isinstance(record.detail, Boundary):
            return _close(session, receipt, now, None)
        counted = record.usage is not None and record.usage.prompt and record.model != SYNTHETIC
        if counted and (moment(record.time) or 0.0) >= seen:
            assert record.usage is not None
            before = int(receipt.data["tokens_before"]) + said * float(receipt.data.get("scale", 1.0))
            return _close(session, receipt, now, round(before - record.usage.prompt))
        said += _tokens(record)
    return None


def _close(session: Guarded, receipt: Receipt, now: float, saved: int | None) -> Receipt:
    receipt.data["measured"] = saved
    with database(session.home) as connection:
        save(connection, receipt)
    keep_moves(session.home, session.id, now, open="")
    return receipt


def _since(path: Path, start: int) -> Iterator[Record]:
    """The main conversation's records behind a place in the file."""
    with path.open("rb") as file:
        size = min(os.fstat(file.fileno()).st_size, start + MOST)
        for offset, line in TailLines(file.fileno(), start, size):
            for found in CLAUDE.translate(line, offset):
                if isinstance(found, Record) and not found.sidechain:
                    yield found


def _tokens(record: Record) -> float:
    """Tokens of what was said, by the usual bytes of a token; nothing for what the client adds by itself."""
    if isinstance(record.detail, Attached):
        own = record.detail.event == "UserPromptSubmit"
        return Part("", "context", record.detail.size).guess if own else 0.0
    if record.type not in ("user", "assistant") or record.meta:
        return 0.0
    return sum(Part("", block.kind, block.size, images=block.images).guess for block in record.blocks)
