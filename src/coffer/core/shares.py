"""What the bytes of a transcript file are, and which of them reach the model."""

from __future__ import annotations

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
    sums = dict.fromkeys((SENT, SIDECARS, ENVELOPE), 0)
    sent = view.records()
    last = -1
    for record in transcript.records:
        start = record.start
        if start == last:
            continue  # records of one line: a compaction's history
        last, size, sidecar = start, record.end - start, record.sidecar
        sums[SIDECARS] += sidecar
        if start in sent:
            content = min(_content(record), size - sidecar)
            sums[SENT] += content
            sums[ENVELOPE] += size - sidecar - content
        else:
            name = _unsent(record)
            sums[name] = sums.get(name, 0) + size - sidecar
    broken = sum(oddity.end - oddity.start for oddity in transcript.oddities)
    if broken:
        sums[BROKEN] = broken
    return dict(sorted(((name, size) for name, size in sums.items() if size), key=lambda item: -item[1]))


def _content(record: Record) -> int:
    if isinstance(record.detail, Attached):
        return record.detail.size
    return sum([block.size + block.media for block in record.blocks])


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
