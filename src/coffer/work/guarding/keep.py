"""What a compaction loses of a session: saved before it, and brought back behind it, once.

The state is saved when the client says that it will compact (PreCompact), when a session comes to the last tier, and by
`coffer checkpoint`. Only what was saved for a compaction comes back, with the SessionStart `compact` that follows:
PreCompact alone says nothing, since the client may find too little to compact (facts/claude-code §5). Where the person
or a turn went on in between, there was no compaction, and nothing comes back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coffer.agents.delivered import is_answer
from coffer.agents.table import CLAUDE
from coffer.core.attachments import texts
from coffer.core.content import payload
from coffer.core.inflight import said_in
from coffer.core.record import Attached, Record
from coffer.core.session_book import FINISHED
from coffer.core.session_state import COMPLETED, SessionState, redacted, session_state
from coffer.core.state_text import told
from coffer.disk.admitted import opened_unlinked
from coffer.disk.places import Places
from coffer.disk.tail_lines import TailLines
from coffer.store.checkpoints import Checkpoint, add, checkpoints, kept_path
from coffer.store.db import DONE, Receipt, begun, database, receipt, save
from coffer.store.home import Home
from coffer.store.hook_events import kept_hooks
from coffer.work.guarding.instant import Instant, Read, as_objects, from_disk
from coffer.work.sessions.read import opened

KIND = "checkpoint"
COMPACTION, LAST_CALL, BY_HAND = "PreCompact", "last call", "by hand"
"""What a state is saved for."""
LONGEST_COMPACTION = 1_800.0
"""Seconds after which a SessionStart belongs to no PreCompact any more."""
_GOES_ON = frozenset({"UserPromptSubmit", "Stop", "StopFailure", "SessionEnd"})
"""Events that the main conversation does not fire while it is being compacted."""
_NO, _SENT, _CONFIRMED, _MISSING = "no", "sent", "confirmed", "missing"


def state_of(taken: Instant) -> SessionState:
    """The state at an instant, redacted. Raises what reading the transcript raises."""
    with opened(taken.transcript) as session:
        evidence = taken.evidence(Read(None, ()))
        found = session_state(session.transcript, session.line, evidence, list(_tasks(taken.tasks)))
    return redacted(found)


def _tasks(folder: Path | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path in sorted(folder.glob("*.json")) if folder is not None else ():
        try:
            yield f"tasks/{path.name}", said_in(path.read_bytes())
        except OSError:
            continue  # the client took it away meanwhile


@dataclass(frozen=True, slots=True)
class Saved:
    """state: what was found. checkpoint: None where that was nothing. trouble: why an earlier one can't be read."""

    state: SessionState
    checkpoint: Checkpoint | None = None
    trouble: str = ""


def keep(home: Home, transcript: Path, places: Places, why: str, now: datetime | None = None) -> Saved:
    """Save the state of a session as it is now, and leave a receipt.

    An empty state is saved only over another one, so that an old one never comes back in its place. Raises what reading
    the transcript raises, WriteFailed, StoreFailed.
    """
    moment = now or datetime.now(UTC)
    taken = from_disk(transcript, places, home)
    state = state_of(taken)
    before = checkpoints(home, taken.session)
    if state.empty and before.newest is None and not before.trouble:
        return Saved(state)
    done = begun(KIND, CLAUDE.name, taken.session, kept_path(home, taken.session) or transcript, moment)
    checkpoint = Checkpoint(done.id, moment.timestamp(), why, state)
    if add(home, taken.session, checkpoint) is None or state.empty:
        return Saved(state, None, before.trouble)
    done.status, done.data = DONE, {"verb": why, **counts(state), "returned": _NO}
    with database(home) as connection:
        save(connection, done)
    return Saved(state, checkpoint, before.trouble)


NAMED = ("written", "same", "kept")
"""Outcomes of a draft behind which the branch has a handoff that can be named."""


def name_draft(home: Home, session: str, checkpoint: str) -> None:
    """Note that a handoff lies there, so that it is named with what comes back. Raises WriteFailed."""
    saved = checkpoints(home, session).checkpoints
    one = next((one for one in saved if one.id == checkpoint and not one.given), None)
    if one is not None:
        add(home, session, replace(one, draft=True))


def counts(state: SessionState) -> dict[str, int]:
    """How much of each there is."""
    return {
        "team": sum(mate.status != FINISHED for mate in state.team),
        "tasks_open": sum(task.status != COMPLETED for task in state.tasks),
        "tasks_completed": sum(task.status == COMPLETED for task in state.tasks),
        "jobs": len(state.jobs),
    }


# --- back again


def due(home: Home, session: str, now: datetime | None = None) -> Checkpoint | None:
    """What is to come back into a session whose compaction has just ended; None for nothing."""
    moment = (now or datetime.now(UTC)).timestamp()
    saved = [one for one in checkpoints(home, session).checkpoints if one.why == COMPACTION and not one.given]
    if not saved or moment - saved[-1].time > LONGEST_COMPACTION or _went_on(home, session, saved[-1].time):
        return None
    return None if saved[-1].state.empty else saved[-1]


def _went_on(home: Home, session: str, since: float) -> bool:
    """Whether the main conversation went on after this time, so that there was no compaction."""
    try:
        events = as_objects(kept_hooks(home, session).read_bytes())
    except OSError:
        return False  # nothing was kept
    for told_of in reversed(events):
        time, said = told_of.get("ts"), told_of.get("stdin")
        if not isinstance(time, int | float) or time <= since:
            return False
        if told_of.get("event") in _GOES_ON and isinstance(said, Mapping) and not said.get("agent_id"):
            return True
    return False


def give(
    home: Home, saved: Checkpoint, transcript: Path, before: str = "", now: datetime | None = None
) -> str:
    """The words of a state for an answer with this text before them, noted before they go out: never twice.

    Raises WriteFailed; then they must not go out.
    """
    moment = (now or datetime.now(UTC)).timestamp()
    words = told(saved.state, saved.time, draft=saved.draft, beside=before)
    try:
        size = transcript.stat().st_size
    except OSError:
        size = 0
    add(
        home,
        transcript.stem,
        replace(saved, given=moment, text=words.text, left_out=words.left_out, size=size),
    )
    return words.text


def settle(home: Home, session: str, transcript: Path) -> str:
    """Look whether what was sent arrived, once the model has answered, and say so in the receipt; "" for nothing new.

    Raises WriteFailed, StoreFailed.
    """
    one = next(
        (one for one in reversed(checkpoints(home, session).checkpoints) if one.given and not one.seen), None
    )
    if one is None:
        return ""
    if not one.text:
        state, stamp = _NO, "-"  # there was no room for any of it
    else:
        state, stamp = _arrived(transcript, one)
    if state == _SENT:
        return ""
    add(home, session, replace(one, seen=stamp))
    _tell(home, one, state)
    return state


def _arrived(transcript: Path, one: Checkpoint) -> tuple[str, str]:
    """Whether the client wrote the text down behind the place where the file ended then, and when.

    All that is new is read: the client writes a context before or behind the answer to it.
    """
    answered = False
    with opened_unlinked(transcript) as descriptor:
        if descriptor is None:
            return _SENT, ""
        size = os.fstat(descriptor).st_size
        for offset, line in TailLines(descriptor, min(one.size, size), size):
            for record in CLAUDE.translate(line, offset):
                if isinstance(record, Record) and _holds(record, line, one.text):
                    return _CONFIRMED, record.time
                answered |= (
                    isinstance(record, Record) and is_answer(CLAUDE.name, record) and not record.sidechain
                )
    return (_MISSING, "-") if answered else (_SENT, "")


def _holds(record: Record, line: bytes, text: str) -> bool:
    if not isinstance(record.detail, Attached) or record.detail.kind != "hook_additional_context":
        return False
    return any(text in one for one in texts(record.detail.kind, payload(line)))


def _tell(home: Home, one: Checkpoint, state: str) -> None:
    with database(home) as connection:
        found: Receipt | None = receipt(connection, one.id)
        if found is not None:
            found.data |= {"returned": state, "left_out": one.left_out, "bytes": len(one.text.encode())}
            save(connection, found)
