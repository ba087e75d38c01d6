"""What a client's process brings into a session: teammates and schedules of the session that it had before.

`/clear`, `/branch` and `/resume` of another session change the session, not the process. Its teammates live on, after
`/clear` its schedules too (the instants `cleared-over-teammate`, `cleared-over-cron`), while the registry says idle and
the session's own events and transcript show neither. Until the first Stop of the new session says what there is, the
last Stop of the session before speaks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coffer.core.evidence import Entry, Hook, moment
from coffer.core.markers import key, rows


def began_since(time: float | None, registry: Sequence[Entry]) -> bool:
    """Whether every process of the session began after this time: what lived inside an earlier one is gone.

    A process that says it began after its own last change of status is not believed.
    """
    return time is not None and bool(registry) and all(_began_after(time, entry) for entry in registry)


def _began_after(time: float, entry: Entry) -> bool:
    said = entry.said or {}
    began = moment(said.get(key("registry", "startedAt")))
    changed = moment(said.get(key("registry", "statusUpdatedAt")))
    return began is not None and changed is not None and time < began <= changed


def loads_file(hook: Hook) -> bool:
    """Whether an event is a SessionStart that read the file anew; that of a compaction comes in mid-turn."""
    row = rows("load").get(_word(hook, "source"))
    return hook.event == key("event", "SessionStart") and row is not None and row.effect == "clears"


def stays() -> frozenset[str]:
    """The sources of a SessionStart before which its process had no other session than this."""
    return frozenset((key("load", "startup"), key("load", "compact")))


def stops_before(hooks: Iterable[Hook], session: str) -> list[Hook]:
    """The last Stop of each session that the process had before this one, until this one has its own.

    hooks: in order of time, of this session and of others. Stops of sessions in earlier processes are among them.
    """
    came = said = 0.0
    last: dict[str, Hook] = {}
    for hook in hooks:
        time, named = hook.time or 0.0, _word(hook, "session_id")
        if named == session:
            if hook.event == key("event", "Stop"):
                said = time
            elif hook.event == key("event", "SessionStart") and _word(hook, "source") not in stays():
                came = time
        elif hook.event == key("event", "Stop"):
            last[named] = hook
    return [hook for hook in last.values() if said < (hook.time or 0.0) <= came]


def _word(hook: Hook, name: str) -> str:
    value = (hook.said or {}).get(key("stdin", name))
    return value if isinstance(value, str) else ""
