"""The gate: may a live session's file be written now, and may a reload be typed now.

Deny by default. Each answer lists *every* blocker with the evidence for it and what will clear it. The theory, which
source covers what and which word speaks for what, stands in `core.markers`; this module applies it:

1. The client's registry says *idle since T* in every file of the session, by a living process and a known client.
2. Nothing that the registry covers began after T: no hook, no record of the model, no subagent's record.
3. Teammates and schedules, for which the registry is blind: the last Stop lists none, nothing began one since, the
   project keeps none.
4. The last Stop's message is in the file, the file ends in a whole record, no call waits for its result, and a reload
   would end at the newest message.
5. The input line, where somebody sees it, is visibly empty: a prompt that was put back must not be lost or sent.

A write needs 1 to 5, without a screen 1 to 4. Typing needs the screen, and an editor that takes plain keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from coffer.core import prompt_row
from coffer.core.evidence import Call, Entry, Evidence, Hook, moment
from coffer.core.flushed import is_flushed
from coffer.core.inherited import began_since, loads_file, stops_before
from coffer.core.loads import loads
from coffer.core.markers import EVENTS, VERSIONS, key, rows

WARM = 0.15
"""Seconds after an append in which more may follow: the client flushes every 0.1 s (facts §2)."""
LAG = 0.5
"""Seconds by which a record may be dated after T and still belong to what ended at T: an interruption's last result
was seen 0.03 s before it. Work that goes on would have changed the status within 0.1 s (facts §10)."""
NEXT_STATUS = "the client's next change of status"
NEXT_STOP = "a Stop that lists none"


@dataclass(frozen=True, slots=True)
class Blocker:
    """One reason against. kind: its type. evidence: a sentence. clears: what ends it. id: for `guard clear`."""

    kind: str
    evidence: str
    clears: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question, with every blocker."""

    blockers: tuple[Blocker, ...] = ()

    @property
    def safe(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.blockers


@dataclass(frozen=True, slots=True)
class Verdict:
    """Both answers: write the file, type a reload."""

    write: Answer
    type: Answer


def judge(evidence: Evidence) -> Verdict:
    """Judge one instant."""
    evidence = evidence.without_ended()
    since = _since(evidence.registry)
    own = [hook for hook in evidence.hooks or () if is_own(hook, evidence.session)]
    stop = next((hook for hook in reversed(own) if hook.event == "Stop"), None)
    found = [
        *_registry(evidence.registry, evidence.session),
        *_hooks(evidence, own, since),
        *_stopped(stop, evidence),
        *_transcript(evidence, own, stop, since),
        *_helpers(evidence, since),
        *_project(evidence.scheduled),
    ]
    write = [*found, *_screen(evidence.screen)]
    typing = [*write, *_typing(evidence)]
    return Verdict(_answer(write, evidence.cleared), _answer(typing, evidence.cleared))


def _answer(found: Sequence[Blocker], cleared: frozenset[str]) -> Answer:
    kept = [each for each in found if not (each.id and each.id in cleared)]
    return Answer(tuple(dict.fromkeys(kept)))


# --- 1. the registry


def _at(time: float | None, word: str = "since") -> str:
    """A time of the day behind a sentence; "" for none."""
    return "" if time is None else f" {word} {datetime.fromtimestamp(time, UTC):%H:%M:%S} UTC"


def _since(registry: Sequence[Entry]) -> float | None:
    """T: since when the client's processes have been in their status; None where one does not say."""
    times = [moment((entry.said or {}).get(key("registry", "statusUpdatedAt"))) for entry in registry]
    known = [time for time in times if time is not None]
    return max(known) if known and len(known) == len(times) else None


def _registry(registry: Sequence[Entry], session: str) -> Iterator[Blocker]:
    if not registry:
        yield Blocker("process", "no registry file names this session", "the session is opened in a client")
    living = any(entry.alive for entry in registry)
    for entry in registry:
        if entry.said is None:
            yield Blocker("unknown", "a registry file can't be read", NEXT_STATUS)
            continue
        if not (entry.alive or (entry.alive is None and living)):
            what = "is gone" if entry.alive is False else "was not looked for"
            # a living client removes the file of one that was killed, but not before its next turn
            ends = "the living client's next turn" if living else "the session is opened in a living client"
            cleared = f"process:{entry.pid}" if living else ""
            yield Blocker("process", f"process {entry.pid} {what}", ends, cleared)
        named = entry.said.get(key("registry", "sessionId"))
        if named != session:
            yield Blocker("unknown", f"a registry file names session {named!r}", NEXT_STATUS)
        yield from _status(entry, entry.said)


def _status(entry: Entry, said: Mapping[str, object]) -> Iterator[Blocker]:
    who = f"process {entry.pid}"
    version = said.get(key("registry", "version"))
    if version not in VERSIONS:
        yield Blocker("unknown", f"{who}: client version {version!r} is not known", "a Coffer that knows it")
    for field, kinds in (("kind", rows("kind")), ("entrypoint", rows("entrypoint"))):
        value = said.get(key("registry", field))
        row = kinds.get(value) if isinstance(value, str) else None
        if row is None:
            yield Blocker("unknown", f"{who}: {field} {value!r} is not known", "a Coffer that knows it")
        elif row.effect != "clears":
            yield Blocker(row.kind, f"{who}: {field} {value}, {row.shows}", "nothing: it is never touched")
    if moment(said.get(key("registry", "statusUpdatedAt"))) is None:
        yield Blocker("unknown", f"{who} does not say since when it has its status", NEXT_STATUS)
    value = said.get(key("registry", "status"))
    row = rows("status").get(value) if isinstance(value, str) else None
    waiting = said.get(key("registry", "waitingFor"))
    if row is None:
        yield Blocker("unknown", f"{who}: status {value!r} is not known", NEXT_STATUS)
    elif row.effect != "clears":
        on, at = f" ({waiting})" if waiting else "", _at(moment(said.get(key("registry", "statusUpdatedAt"))))
        yield Blocker(row.kind, f"{who} says {value}{on}{at}, which is: {row.shows}", "status idle")
    elif waiting:
        yield Blocker("dialog", f"{who} is idle and waits for {waiting}", "an answer to it")


# --- 2. hooks


def is_own(hook: Hook, session: str) -> bool:
    """Whether an event is the session's, and not one of another that its process had before."""
    return (hook.said or {}).get(key("stdin", "session_id")) == session


def _hooks(evidence: Evidence, own: Sequence[Hook], since: float | None) -> Iterator[Blocker]:
    anchored = any(
        hook.event in rows("event") and rows("event")[hook.event].effect == "clears" for hook in own
    )
    if not anchored:
        yield Blocker(
            "hooks", "no hook evidence: no end of a turn and no start was told", "the next turn's end"
        )
    for hook in evidence.hooks or ():
        yield from _readable(hook)
    for hook in own:
        row = rows("event").get(hook.event)
        if row is None or row.effect == "clears" or row.kind == "teammate":
            continue
        if since is not None and hook.time is not None and hook.time > since:
            yield Blocker(
                row.kind,
                f"hook {hook.event} came{_at(hook.time, 'at')}, after the registry's last status",
                NEXT_STATUS,
            )
    yield from _notified(own, since)


def _readable(hook: Hook) -> Iterator[Blocker]:
    said = hook.said or {}
    named = said.get(key("stdin", "hook_event_name"))
    if hook.said is None or hook.time is None:
        yield Blocker(
            "hooks", f"a hook event can't be read ({hook.event or 'no name'})", "the next turn's end"
        )
    elif hook.event not in EVENTS or named != hook.event:
        yield Blocker(
            "unknown", f"hook event {hook.event!r} named {named!r} is not known", "a Coffer that knows it"
        )
    elif not isinstance(said.get(key("stdin", "session_id")), str):
        yield Blocker("unknown", f"hook {hook.event} names no session", "the next turn's end")


def _notified(own: Sequence[Hook], since: float | None) -> Iterator[Blocker]:
    for hook in own:
        later = since is not None and hook.time is not None and hook.time > since
        if hook.event == "Notification" and later:
            told = (hook.said or {}).get(key("stdin", "notification_type"))
            row = rows("notification").get(told) if isinstance(told, str) else None
            if row is None or row.effect != "clears":
                yield Blocker(
                    "dialog",
                    f"notification {told!r} came{_at(hook.time, 'at')}, after the last status",
                    NEXT_STATUS,
                )


# --- 3. what the registry is blind for, and 4. what is not on disk yet


def _stopped(stop: Hook | None, evidence: Evidence) -> Iterator[Blocker]:
    for earlier in stops_before(evidence.hooks or (), evidence.session):
        if not began_since(earlier.time, evidence.registry):
            yield from _listed(earlier, evidence)
    if stop is None or stop.said is None:
        return
    yield from _listed(stop, evidence)
    if key("stdin", "last_assistant_message") not in stop.said:
        yield Blocker("unknown", "the last Stop names no last message", "a Stop that does")
    elif evidence.conversation is not None and not is_flushed(stop, evidence.conversation):
        yield Blocker("flush", "the last Stop's message is not in the file yet", "the client's next flush")
    for hook in evidence.hooks or ():
        idle_mate = (
            hook.event == key("event", "TeammateIdle") and hook.time is not None and stop.time is not None
        )
        if idle_mate and (hook.time or 0) > (stop.time or 0) and is_own(hook, evidence.session):
            yield Blocker("teammate", "a teammate went idle after the last Stop", NEXT_STOP)


def _listed(stop: Hook, evidence: Evidence) -> Iterator[Blocker]:
    """What a Stop lists: the session's own, or that of the session which its process had before."""
    said, who = stop.said or {}, _whose(stop, evidence.session)
    tasks, crons = (said.get(key("stdin", name)) for name in ("background_tasks", "session_crons"))
    if not isinstance(tasks, list):
        yield Blocker("unknown", f"{who} does not list background work", "a Stop that does")
    else:
        for task in tasks:
            yield from _task(task, stop, evidence)
    if not isinstance(crons, list):
        yield Blocker("unknown", f"{who} does not list schedules", "a Stop that does")
    else:
        for cron in crons:
            name = cron.get("id") if isinstance(cron, Mapping) else cron
            yield Blocker("schedule", f"{who} lists schedule {name}", NEXT_STOP, f"schedule:{name}")


def _task(task: object, stop: Hook, evidence: Evidence) -> Iterator[Blocker]:
    kind = task.get(key("task", "type")) if isinstance(task, Mapping) else None
    row = rows("task").get(kind) if isinstance(kind, str) else None
    name, who = task.get("id") if isinstance(task, Mapping) else task, _whose(stop, evidence.session)
    if row is None:
        yield Blocker("unknown", f"{who} lists {name} of the unknown type {kind!r}", NEXT_STOP)
    elif row.kind != "teammate":
        # these go stale: they only say what an unquiet registry is unquiet about
        if not _all_idle(evidence.registry):
            yield Blocker(row.kind, f"{who} lists {kind} {name}", "status idle")
    elif not began_since(stop.time, evidence.registry):
        # by its Stop too: what a person takes for over may come back, and a teammate of the same name then blocks
        cleared = f"teammate:{name}:{stop.time or 0:.0f}"
        yield Blocker("teammate", f"{who} lists teammate {name}", NEXT_STOP, cleared)


def _whose(stop: Hook, session: str) -> str:
    return (
        "the last Stop"
        if is_own(stop, session)
        else "the last Stop of the session before, in the same process,"
    )


def _all_idle(registry: Sequence[Entry]) -> bool:
    statuses = [(entry.said or {}).get(key("registry", "status")) for entry in registry]
    return bool(statuses) and all(status == key("status", "idle") for status in statuses)


def _transcript(
    evidence: Evidence, own: Sequence[Hook], stop: Hook | None, since: float | None
) -> Iterator[Blocker]:
    found = evidence.conversation
    if found is None:
        yield Blocker("tail", "there is no transcript", "the first turn")
        return
    if found.trouble:
        yield Blocker(
            "tail", f"the transcript's end can't be trusted: {found.trouble}", "the next whole record"
        )
    if found.left_out:
        yield Blocker("branch", found.left_out, "a pointer to the newest message (`coffer check --fix`)")
    if evidence.age is None or evidence.age < WARM:
        age = "at an unknown time" if evidence.age is None else f"{evidence.age:.2f} s ago"
        yield Blocker("warm", f"the transcript was written to {age}", f"{WARM} s without an append")
    loaded = max((hook.time for hook in own if loads_file(hook) and hook.time is not None), default=None)
    for call in found.open:
        dead = began_since(call.time, evidence.registry) or _is_after(loaded, call.time)
        if not dead:
            yield Blocker(
                "tool",
                f"call {call.id} of {call.tool} waits for its result{_at(call.time)}",
                "its result",
                call.id,
            )
    yield from _begun(evidence, stop)
    late = None if since is None else since + LAG
    if _is_after(found.spoke, late):
        yield Blocker("turn", "the model wrote after the registry's last status", NEXT_STATUS)
    if _is_after(found.enqueued, late):
        yield Blocker("queue", "a prompt was queued after the registry's last status", NEXT_STATUS)


def _is_after(time: float | None, other: float | None) -> bool:
    return time is not None and other is not None and time > other


def _begun(evidence: Evidence, stop: Hook | None) -> Iterator[Blocker]:
    """Teammates and schedules that the transcript shows and no Stop has listed or left out since."""
    assert evidence.conversation is not None
    theirs = (call for each in evidence.helpers for call in each.conversation.calls)
    # what a subagent schedules outlives it; what it spawns is a subagent, which the registry covers
    for call in (*evidence.conversation.calls, *(call for call in theirs if _begins(call) == "schedule")):
        row, result, kind = rows("call").get(call.tool), rows("result").get(call.status), _begins(call)
        told = stop is not None and _is_after(stop.time, call.time)
        covered = row is not None and row.fixture and result is not None and result.kind != "teammate"
        if told or call.state == "failed" or not call.set or (kind != "schedule" and covered):
            continue
        if (kind == "teammate" or call.state == "open") and began_since(call.time, evidence.registry):
            continue
        answer = (
            f"answered {call.status!r}" if call.status else "has no result" if call.state == "open" else "ran"
        )
        yield Blocker(kind, f"{call.tool} {call.id} {answer}, and no Stop has come since", NEXT_STOP, call.id)
    for time in evidence.conversation.letters:
        told = stop is not None and not _is_after(time, stop.time)
        if not told and not began_since(time, evidence.registry):
            yield Blocker("teammate", "a teammate wrote, and no Stop has come since", NEXT_STOP)


def _begins(call: Call) -> str:
    """The kind of work that a call begins, by its tool's name or by the shape of its answer."""
    row = rows("call").get(call.tool)
    return row.kind if row is not None else call.shape


def _helpers(evidence: Evidence, since: float | None) -> Iterator[Blocker]:
    """Subagents: while the registry is not idle, their open calls; after it became idle, whatever they write."""
    quiet = _all_idle(evidence.registry)
    late = None if since is None else since + LAG
    for each in evidence.helpers:
        if _is_after(each.conversation.spoke, late) and quiet:
            yield Blocker("subagent", f"{each.name} wrote after the registry's last status", NEXT_STATUS)
        elif not quiet and each.conversation.open:
            call = each.conversation.open[0]
            yield Blocker(
                "subagent", f"{each.name} waits for its call {call.id} of {call.tool}", "status idle"
            )


def _project(scheduled: str | None) -> Iterator[Blocker]:
    if scheduled is None:
        return
    try:
        said = loads(scheduled)
    except ValueError:
        said = None
    tasks = said.get(key("file", "tasks")) if isinstance(said, Mapping) else None
    file = key("file", "scheduled_tasks.json")
    if not isinstance(tasks, list):
        yield Blocker("schedule", f"the project's {file} can't be understood", "its removal")
    for task in tasks if isinstance(tasks, list) else ():
        name = task.get("id") if isinstance(task, Mapping) else task
        yield Blocker(
            "schedule", f"the project's {file} holds schedule {name}", "its deletion", f"schedule:{name}"
        )


# --- 5. the screen


def _screen(screen: str | None) -> Iterator[Blocker]:
    if screen is None:
        return
    wrong, footer = prompt_row.look(screen)
    if wrong:
        yield Blocker("input", wrong, "an empty input line")
    if key("screen", "esc to interrupt") in footer:
        yield Blocker("turn", "the footer offers to interrupt a turn", "the turn's end")


def _typing(evidence: Evidence) -> Iterator[Blocker]:
    if evidence.screen is None:
        yield Blocker("screen", "nobody sees the screen", "`coffer run`, or tmux with the setting on")
    elif key("screen", "-- INSERT --") in prompt_row.look(evidence.screen)[1] or evidence.editor == "vim":
        yield Blocker(
            "editor", "the editor has vim's modes: keys may be commands", "nothing: the person reloads"
        )
