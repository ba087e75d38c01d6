"""What a compaction loses of a session: its team, its list of tasks, and what runs in the background.

Theory. All three live in the client's process and files, not on a branch: a rewind ends none of them, and the records
behind a compaction's boundary know nothing of what began before it. So the whole file is read, not the live branch.
What is said counts only where the client itself puts it: the result that is paired with a spawn tool, a letter or a
notification in a record that no person sent, a hook's event, the client's own list of tasks. What a person types, or
a page that was read, never counts.

The newest word on each thing holds. The last Stop lists what ran when the turn ended: what began before it and is not
in the list is over. What began before the process did is over too.
Seen in Claude Code 2.1.197 (tests/fixtures/harness).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from coffer.core.evidence import Entry, Evidence, Hook, moment
from coffer.core.inflight import Line
from coffer.core.markers import VERSIONS, key
from coffer.core.redact import kept
from coffer.core.session_book import (
    FINISHED,
    IDLE,
    WORKING,
    Book,
    Job,
    JobKind,
    Mate,
    Status,
    described,
    word_of,
)
from coffer.core.transcript import Transcript

_Item = TypeVar("_Item")
COMPLETED = "completed"


@dataclass(frozen=True, slots=True)
class Task:
    """An item of the client's list of tasks. seen: the file that says so."""

    id: str
    subject: str
    status: str
    owner: str
    seen: str


@dataclass(frozen=True, slots=True)
class SessionState:
    """Everything of it, in the order in which it began."""

    team: tuple[Mate, ...] = ()
    tasks: tuple[Task, ...] = ()
    jobs: tuple[Job, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to keep."""
        return not (self.team or self.tasks or self.jobs)


def session_state(
    transcript: Transcript,
    line: Line,
    evidence: Evidence,
    tasks: Sequence[tuple[str, Mapping[str, Any]]] = (),
) -> SessionState:
    """The state of a session at one instant. line: the bytes of a record. tasks: (name, JSON) of each file of the list.

    evidence: for its hooks and registry; the rest of it is not looked at.
    """
    # these clients take their file of the registry away when they end
    ended = not evidence.registry and transcript.about.version in VERSIONS
    told = _Told(evidence.session, evidence.hooks or (), evidence.registry, ended=ended)
    book = Book()
    for record in transcript.records:
        if not record.sidechain:
            book.read(record, line)
    return SessionState(
        tuple(_team(book, told)),
        tuple(_tasks(tasks)),
        tuple(_jobs(book, told)),
    )


LONGEST = 400
"""Characters of each text that is kept."""


MOST_OPEN, MOST_DONE = 400, 100
"""Items of each list that are kept: the newest."""


def redacted(state: SessionState) -> SessionState:
    """The same without secrets, with long texts and long lists cut: what agents write holds all of these."""
    state = SessionState(
        _newest(state.team, lambda mate: mate.status == FINISHED),
        _newest(state.tasks, lambda task: task.status == COMPLETED),
        state.jobs[-MOST_OPEN:],
    )
    return SessionState(
        tuple(
            replace(
                mate,
                name=_kept(mate.name),
                id=_kept(mate.id),
                type=_kept(mate.type),
                team=_kept(mate.team),
                said=_kept(mate.said),
            )
            for mate in state.team
        ),
        tuple(
            replace(
                task,
                id=_kept(task.id),
                subject=_kept(task.subject),
                status=_kept(task.status),
                owner=_kept(task.owner),
                seen=_kept(task.seen),
            )
            for task in state.tasks
        ),
        tuple(replace(job, id=_kept(job.id), what=_kept(job.what)) for job in state.jobs),
    )


def _newest(items: tuple[_Item, ...], is_done: Callable[[_Item], bool]) -> tuple[_Item, ...]:
    done = [place for place, item in enumerate(items) if is_done(item)]
    left = [place for place, item in enumerate(items) if not is_done(item)]
    return tuple(items[place] for place in sorted([*done[-MOST_DONE:], *left[-MOST_OPEN:]]))


def _kept(text: str) -> str:
    return kept(text, LONGEST)


# --- what hooks and registry say


class _Told:
    """The last Stop of the session, what came of teammates, and since when the process lives and is idle."""

    def __init__(
        self, session: str, hooks: Iterable[Hook], registry: Sequence[Entry], *, ended: bool
    ) -> None:
        self.hooks = [hook for hook in hooks if (hook.said or {}).get(key("stdin", "session_id")) == session]
        stops = [hook for hook in self.hooks if hook.event == "Stop" and hook.time is not None]
        # with two clients a Stop lists only what its own one runs
        living = [entry for entry in registry if entry.alive]
        alone = len(living) < 2
        self.stop = stops[-1] if stops and alone else None
        self.stops = stops
        self.gone = ended or (bool(registry) and not any(entry.alive is not False for entry in registry))
        begun = [moment((entry.said or {}).get(key("registry", "startedAt"))) for entry in living]
        self.began = min((time for time in begun if time is not None), default=None)
        status = {(entry.said or {}).get(key("registry", "status")) for entry in living}
        since = [moment((entry.said or {}).get(key("registry", "statusUpdatedAt"))) for entry in living]
        quiet = status == {key("status", "idle")} and None not in since
        self.idle = max((time for time in since if time is not None), default=None) if quiet else None

    def is_over(self, since: float | None) -> bool:
        """Whether what began then has ended with its process."""
        return self.gone or (since is not None and self.began is not None and since < self.began)

    def listed(self, kinds: Collection[object], stop: Hook | None = None) -> list[Mapping[str, Any]] | None:
        """What a Stop lists of these kinds, the last one's; None where none says."""
        told = ((stop or self.stop or Hook(None, "", None)).said or {}).get(key("stdin", "background_tasks"))
        if not isinstance(told, list):
            return None
        return [task for task in told if isinstance(task, Mapping) and task.get(key("task", "type")) in kinds]

    def before_stop(self, time: float | None) -> bool:
        """Whether something of this time must stand in the last Stop's list if it goes on."""
        stop = self.stop.time if self.stop is not None else None
        return time is not None and stop is not None and time < stop


# --- both together


def _team(book: Book, told: _Told) -> Iterator[Mate]:
    left = told.listed([key("task", "teammate")])
    for member in book.members.values():
        heard = [*member.heard, *_of_hooks(member.mate.name, told)]
        _, status, seen = max(heard, key=lambda one: one[0])  # of two at one time the first heard
        gone = next(
            (one for one in heard if one[1] == FINISHED and one[0] >= (member.mate.since or 0.0)), None
        )
        mate = replace(member.mate, status=status, seen=seen)
        if gone is not None:
            mate = replace(mate, status=FINISHED, seen=gone[2])
        elif told.is_over(mate.since):
            mate = replace(mate, status=FINISHED, seen="its process has ended")
        elif left is not None and told.before_stop(mate.since):
            own = next((task for task in left if _is_same(word_of(task, "description"), member.prompt)), None)
            if own is None:
                mate = replace(mate, status=FINISHED, seen="the last Stop lists it no longer")
            else:
                left.remove(own)
        yield mate


def _of_hooks(name: str, told: _Told) -> Iterator[tuple[float, Status, str]]:
    for hook in told.hooks:
        said, time = hook.said or {}, hook.time or 0.0
        mine = said.get("agent_type") == name and str(said.get("agent_id", "")).startswith(f"a{name}-")
        if hook.event == "SubagentStart" and mine:
            yield time, WORKING, "hook SubagentStart"
        elif (hook.event == "TeammateIdle" and said.get("teammate_name") == name) or (
            hook.event == "SubagentStop" and mine
        ):
            yield time, IDLE, f"hook {hook.event}"


def _is_same(description: str, prompt: str) -> bool:
    """Whether Stop's description, which the client may have cut, is of this prompt."""
    start = description.rstrip("….").rstrip()
    return bool(start) and prompt.startswith(start)


def _jobs(book: Book, told: _Told) -> Iterator[Job]:
    kinds: tuple[JobKind, ...] = ("shell", "subagent", "workflow")
    listed = told.listed(kinds)
    names = {word_of(task, "id") for task in listed or ()}
    for job in book.jobs.values():
        missing = listed is not None and told.before_stop(job.since) and job.id not in names
        if not (missing or told.is_over(job.since) or _is_quiet(told, job.since)):
            yield job
    for task in listed or ():
        name = word_of(task, "id")
        stop = told.stop.time if told.stop is not None else None
        if not name or name in book.jobs or (name in book.ended and book.ended[name] >= _since(name, told)):
            continue
        if told.is_over(stop) or _is_quiet(told, stop):
            continue
        kind = next(one for one in kinds if one == task.get(key("task", "type")))
        what = described(word_of(task, "description"), word_of(task, "command"))
        yield Job(name, kind, what, _since(name, told), "the last Stop")


def _is_quiet(told: _Told, since: float | None) -> bool:
    """Whether the registry, which covers these kinds, says that nothing runs since later than that."""
    return told.idle is not None and since is not None and told.idle > since


def _since(name: str, told: _Told) -> float:
    """When a Stop first listed it."""
    times = [
        stop.time or 0.0
        for stop in told.stops
        if any(
            word_of(task, "id") == name for task in told.listed(("shell", "subagent", "workflow"), stop) or ()
        )
    ]
    return min(times, default=0.0)


def _tasks(files: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[Task]:
    found = [
        Task(
            str(said.get("id", "")),
            word_of(said, "subject"),
            word_of(said, "status"),
            word_of(said, "owner"),
            name,
        )
        for name, said in files
    ]
    named = [task for task in found if task.subject and task.status and task.id]
    yield from sorted(named, key=lambda task: (int(task.id) if task.id.isdecimal() else 1 << 62, task.id))
