"""What the guard's gate judges by: one instant of a session, as its sources show it. Nothing here decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

MILLISECONDS = 1e11
"""Unix times above this are in milliseconds: as seconds it would be the year 5138."""


def moment(said: object) -> float | None:
    """Seconds since the epoch of a time in seconds, milliseconds or ISO 8601; None where it is none.

    A number that is no time of these centuries is none: as a date it would end the gate, as a limit it would open it.
    """
    if isinstance(said, bool):
        return None
    if isinstance(said, int | float):
        if not 0 <= said < MILLISECONDS * 1000:
            return None
        return said / 1000 if said > MILLISECONDS else float(said)
    if isinstance(said, str):
        try:
            return datetime.fromisoformat(said).timestamp()
        except (ValueError, OverflowError):
            return None
    return None


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the client's registry. said: its JSON; None: it can't be read.

    alive: a process of that pid lives and began when the file says; None: nobody looked.
    """

    said: Mapping[str, object] | None
    alive: bool | None = None

    @property
    def pid(self) -> str:
        """The process, for a sentence."""
        return str((self.said or {}).get("pid", "unknown"))


@dataclass(frozen=True, slots=True)
class Hook:
    """One event as it was kept. time: Unix seconds; None: unreadable. said: the hook's stdin."""

    time: float | None
    event: str
    said: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool. status: of its result, where the result is an object that has one; "" else.

    state: open (no result yet), failed, or done. set: for a schedule, whether the client set it. shape: the
    kind that its answer looks like, whatever the tool's name.
    """

    tool: str
    id: str
    time: float | None
    state: str = "open"
    status: str = ""
    set: bool = True
    shape: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a transcript shows of work in flight.

    trouble: why its tail can't be read, "". open: calls on the live branch that wait for their result. calls:
    of spawn and schedule tools, in the whole file, since a rewind ends none of what they began. letters: times
    at which teammates wrote. texts: the model's last texts. spoke: when the model or a tool last wrote.
    enqueued: when the last prompt was queued that nothing has taken since. left_out: why a reload would not end
    at the newest message, "".
    """

    trouble: str = ""
    open: tuple[Call, ...] = ()
    calls: tuple[Call, ...] = ()
    letters: tuple[float | None, ...] = ()
    texts: tuple[str, ...] = ()
    spoke: float | None = None
    enqueued: float | None = None
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Helper:
    """The transcript of a subagent, teammate or workflow agent."""

    name: str
    conversation: Conversation


@dataclass(frozen=True, slots=True)
class Evidence:
    """One instant. hooks None: no events were kept. conversation None: there is no transcript.

    scheduled: the project's `scheduled_tasks.json` as text; None: there is none. screen None: nobody sees it.
    age: seconds since the transcript was last written to. editor: `vim` where the person set it so. cleared:
    ids of blockers that a person cleared by hand.
    """

    session: str
    registry: tuple[Entry, ...] = ()
    hooks: tuple[Hook, ...] | None = None
    conversation: Conversation | None = None
    helpers: tuple[Helper, ...] = ()
    scheduled: str | None = None
    screen: str | None = None
    age: float | None = None
    editor: str = ""
    cleared: frozenset[str] = field(default_factory=frozenset)

    def without_ended(self) -> Evidence:
        """This instant without the clients that a person took for over, `process:<pid>`, where another one lives.

        A client that was killed leaves its status behind, which would block as long as its file lies there.
        """
        if not any(entry.alive for entry in self.registry):
            return self
        left = (
            entry
            for entry in self.registry
            if entry.alive is not False or f"process:{entry.pid}" not in self.cleared
        )
        return replace(self, registry=tuple(left))
