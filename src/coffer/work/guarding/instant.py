"""One instant of a Claude Code session, from what is on disk now or from a captured folder (docs/guard.md)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coffer.core.evidence import Conversation, Entry, Evidence, Helper, Hook, moment
from coffer.core.inflight import conversation, helper
from coffer.core.loads import object_in
from coffer.core.markers import key
from coffer.disk.live import start_mark
from coffer.disk.places import Places
from coffer.disk.project import project_of
from coffer.errors import CofferError, TranscriptEmpty, TranscriptMissing
from coffer.store.home import Home
from coffer.store.hook_events import with_those_before
from coffer.work.sessions.read import opened

TRANSCRIPT, HOOKS, SCREEN, PROCESSES = "transcript.jsonl", "hooks.jsonl", "screen.txt", "proc.json"
SUBAGENTS, TASKS, PROJECT = "subagents", "tasks", "project"


@dataclass(frozen=True, slots=True)
class Read:
    """What the transcripts of an instant say."""

    conversation: Conversation | None
    helpers: tuple[Helper, ...]


@dataclass(frozen=True, slots=True)
class Instant:
    """The sources of one instant, before anything is made of them.

    registry: each file's bytes and whether its process lives with the same start (None: not known). hooks None:
    no events were kept. age: seconds since the transcript was written to. tasks: files of the to-do list.
    written: time and size of the transcript, to see that it did not change meanwhile.
    """

    session: str
    transcript: Path
    registry: tuple[tuple[bytes, bool | None], ...] = ()
    hooks: bytes | None = None
    scheduled: str | None = None
    screen: str | None = None
    age: float | None = None
    editor: str = ""
    subagents: Path | None = None
    tasks: Path | None = None
    written: tuple[int, int] = (0, 0)
    at: float = field(default_factory=time.time)

    def read(self) -> Read:
        """The transcripts, read whole: the part that takes time."""
        return Read(_conversation(self.transcript), tuple(_helpers(self.subagents)))

    def evidence(self, read: Read | None = None, cleared: frozenset[str] = frozenset()) -> Evidence:
        """What the gate judges by; read: the transcripts, where they were read before."""
        known = read or self.read()
        return Evidence(
            session=self.session,
            registry=tuple(Entry(object_in(data), alive) for data, alive in self.registry),
            hooks=None if self.hooks is None else tuple(_hooks(self.hooks)),
            conversation=known.conversation,
            helpers=known.helpers,
            scheduled=self.scheduled,
            screen=self.screen,
            age=self.age,
            editor=self.editor,
            cleared=cleared,
        )


def from_folder(folder: Path) -> Instant:
    """The instant in a captured folder. What a file does not say stays unknown, and blocks."""
    told = object_in(_bytes(folder / PROCESSES) or b"") or {}
    files = sorted(folder.glob("registry*.json"))
    contents = [_bytes(path) or b"" for path in files]
    session = told.get("session_id")
    if not isinstance(session, str) or not session:
        session = str((object_in(contents[0]) or {}).get("sessionId", "")) if contents else ""
    screen = _bytes(folder / SCREEN)
    age = told.get("transcript_age_s")
    scheduled = next(iter(sorted(folder.rglob(key("file", "scheduled_tasks.json")))), None)
    return Instant(
        session=session,
        transcript=folder / TRANSCRIPT,
        registry=tuple((data, _told_alive(object_in(data), told)) for data in contents),
        hooks=_bytes(folder / HOOKS),
        scheduled=None if scheduled is None else _text(scheduled) or "",
        screen=None if screen is None else screen.decode("utf-8", "replace"),
        age=float(age) if isinstance(age, int | float) and not isinstance(age, bool) else None,
        editor=str(told.get("editor") or ""),
        subagents=folder / SUBAGENTS,
        tasks=folder / TASKS,
        at=moment(told.get("captured_at")) or 0.0,
    )


def _told_alive(said: Mapping[str, Any] | None, told: Mapping[str, Any]) -> bool | None:
    """What proc.json says of the process of a registry file; `processes` where there are several."""
    pid = (said or {}).get("pid")
    several = told.get("processes")
    for each in (told, *(several if isinstance(several, list) else ())):
        if isinstance(each, Mapping) and each.get("pid") == pid and pid is not None:
            return each.get("pid_alive") is True and each.get("proc_start_matches_registry") is True
    return None


def from_disk(transcript: Path, places: Places, home: Home, screen: str | None = None) -> Instant:
    """The instant of a live session, as it is now."""
    session = transcript.stem
    registry = tuple(_registry(places, session))
    age, written = None, (0, 0)
    try:
        status = transcript.stat()
        age, written = time.time() - status.st_mtime, (status.st_mtime_ns, status.st_size)
    except OSError:
        pass  # no transcript: the gate says so
    return Instant(
        session=session,
        transcript=transcript,
        registry=registry,
        hooks=with_those_before(home, session),
        scheduled=_scheduled(registry, places),
        screen=screen,
        age=age,
        editor=_editor(places),
        subagents=transcript.with_suffix("") / SUBAGENTS,
        tasks=_list_of_tasks(places, session),
        written=written,
    )


def _registry(places: Places, session: str) -> Iterator[tuple[bytes, bool | None]]:
    for path in sorted((places.claude / "sessions").glob("*.json")):
        data = _bytes(path)
        said = object_in(data or b"")
        if data is None or (said is not None and said.get("sessionId") != session):
            continue
        if said is None:
            if path.stem.isdigit() and start_mark(int(path.stem)) is not None:
                yield data, None  # half written by a living client: it may be this session's
            continue
        pid, start = said.get("pid"), said.get("procStart")
        yield data, isinstance(pid, int) and start is not None and start == start_mark(pid)


def _scheduled(registry: Sequence[tuple[bytes, bool | None]], places: Places) -> str | None:
    """The project's schedules, where each client works and in its main worktree: a file that holds some comes first."""
    said = (object_in(data) or {} for data, _ in registry)
    folders = [Path(cwd) for each in said if isinstance(cwd := each.get("cwd"), str) and cwd]
    roots = (root for folder in folders if (root := project_of(folder, places.claude.parent)) is not None)
    every = dict.fromkeys((*folders, *roots))
    texts = [_text(folder / ".claude" / key("file", "scheduled_tasks.json")) for folder in every]
    found = [text for text in texts if text is not None]
    empty = [text for text in found if (object_in(text.encode()) or {}).get(key("file", "tasks")) == []]
    return next((text for text in found if text not in empty), next(iter(empty), None))


def _list_of_tasks(places: Places, session: str) -> Path:
    """The folder of the session's list of tasks: its own, or its team's, which is named by the id's beginning."""
    own, team = places.claude / TASKS / session, places.claude / TASKS / f"session-{session[:8]}"
    told = object_in(_bytes(places.claude / "teams" / team.name / "config.json") or b"") or {}
    is_its = told.get("leadSessionId", session) == session  # another session's id may begin alike
    return max((own, team) if is_its else (own,), key=_newest)


def _newest(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


def _editor(places: Places) -> str:
    """The editor mode of the person's settings; the client keeps it in either of two files."""
    for path in (
        places.claude / "settings.json",
        places.claude.parent / ".claude.json",
        places.claude / ".claude.json",
    ):
        mode = (object_in(_bytes(path) or b"") or {}).get("editorMode")
        if isinstance(mode, str):
            return mode
    return ""


def _hooks(data: bytes) -> Iterator[Hook]:
    found = []
    for line in data.split(b"\n"):
        if not line.strip():
            continue
        told = object_in(line) or {}
        said = told.get("stdin")
        if isinstance(said, str):
            said = object_in(said.encode("utf-8", "replace"))
        event = told.get("event")
        kept = said if isinstance(said, Mapping) else None
        found.append(Hook(moment(told.get("ts")), event if isinstance(event, str) else "", kept))
    yield from sorted(found, key=lambda hook: hook.time or 0.0)


def _conversation(path: Path) -> Conversation | None:
    try:
        with opened(path) as session:
            return conversation(session.transcript, session.line)
    except (TranscriptMissing, TranscriptEmpty):
        return None
    except CofferError as error:
        return Conversation(trouble=str(error))


def _helpers(folder: Path | None) -> Iterator[Helper]:
    for path in sorted(folder.rglob("agent-*.jsonl")) if folder is not None else ():
        try:
            with opened(path) as agent:
                yield Helper(path.stem, helper(agent.transcript, agent.line))
        except CofferError as error:
            yield Helper(path.stem, Conversation(trouble=str(error)))


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None  # not there, or not ours to read: the gate takes it for unknown


def _text(path: Path) -> str | None:
    data = _bytes(path)
    return None if data is None else data.decode("utf-8", "replace")


def as_objects(data: bytes) -> Sequence[dict[str, Any]]:
    """The JSON objects of a file of lines; other lines are left out."""
    return [said for line in data.split(b"\n") if (said := object_in(line)) is not None]
