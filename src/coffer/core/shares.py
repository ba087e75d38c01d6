"""What the bytes of a transcript file are, and which of them reach the model."""

from __future__ import annotations

from collections.abc import Iterable

from coffer.core.record import Attached, Naming, Pointer, Record, Snapshot
from coffer.core.transcript import CHAINED, Transcript
from coffer.core.view import View

SENT = "sent to the model"
SIDECARS = "results kept beside messages (toolUseResult)"
ENVELOPE = "record keys and counts"
DEAD = "dead branches and dropped history"
PROGRESS = "progress of tools"
SNAPSHOTS = "file-history snapshots"
NOTES = "client's notes (titles, modes, queue, system)"
EVENTS = "events and contexts of the client"
BROKEN = "unreadable bytes"


def shares(transcript: Transcript, view: View) -> dict[str, int]:
    """Bytes by what they are, largest first; sums to the file's size but for newlines and blank lines.

    Media count as sent where their record is. A record's own size less its content and sidecar is envelope.
    """
    sums: dict[str, int] = {}
    sent = view.records()
    seen: set[int] = set()
    for record in transcript.records:
        if record.start in seen:
            continue
        seen.add(record.start)
        for name, size in _split(record, record.start in sent):
            if size > 0:
                sums[name] = sums.get(name, 0) + size
    broken = sum(oddity.end - oddity.start for oddity in transcript.oddities)
    if broken:
        sums[BROKEN] = broken
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def _split(record: Record, is_sent: bool) -> Iterable[tuple[str, int]]:  # noqa: FBT001  (a fact, not an option)
    if is_sent:
        content = sum(block.size + block.media for block in record.blocks)
        if isinstance(record.detail, Attached):
            content = record.detail.size
        content = min(content, record.size - record.sidecar)
        return (
            (SENT, content),
            (SIDECARS, record.sidecar),
            (ENVELOPE, record.size - content - record.sidecar),
        )
    return ((_unsent(record), record.size - record.sidecar), (SIDECARS, record.sidecar))


def _unsent(record: Record) -> str:
    if record.type == "progress":
        return PROGRESS
    if isinstance(record.detail, Snapshot):
        return SNAPSHOTS
    if isinstance(record.detail, Pointer | Naming) or record.type == "system":
        return NOTES
    if isinstance(record.detail, Attached) and record.detail.silent:
        return NOTES
    if record.type in ("event_msg", "turn_context", "world_state", "token_usage_record", "session_meta"):
        return EVENTS
    if record.type in CHAINED or record.type in ("response_item", "replacement", "compacted"):
        return DEAD
    return NOTES
