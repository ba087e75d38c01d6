"""Which sessions the guard may move at all: a person's own of Claude Code, unless the person said otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from coffer.core.loads import loads
from coffer.core.markers import key, rows
from coffer.core.settings import Guard
from coffer.disk.live import start_mark
from coffer.disk.places import Places
from coffer.store.guard_state import mode_of, state_path
from coffer.store.home import Home
from coffer.work.guarding.means import Means
from coffer.work.rules.effective import guard_at
from coffer.work.settings import load

By = Literal["guard", "person"]


@dataclass(frozen=True, slots=True)
class Guarded:
    """A session with its surroundings. environment: the session's own, for its window, its rules and its project."""

    transcript: Path
    home: Home
    places: Places
    environment: Mapping[str, str]

    @property
    def id(self) -> str:
        """The session's id: Claude Code names its file by it."""
        return self.transcript.stem

    def entries(self) -> list[Mapping[str, object]]:
        """What the client's registry says of it, a living process each."""
        found: list[Mapping[str, object]] = []
        for path in sorted((self.places.claude / "sessions").glob("*.json")):
            try:
                said = loads(path.read_bytes().decode("utf-8", "replace"))
            except (OSError, ValueError):
                continue  # being rewritten: the gate looks again
            if not isinstance(said, dict) or said.get(key("registry", "sessionId")) != self.id:
                continue
            pid, start = said.get("pid"), said.get("procStart")
            if isinstance(pid, int) and start is not None and start == start_mark(pid):
                found.append(said)
        return found

    def folder(self) -> str:
        """Where it works, by the registry; "" where no client has it open."""
        return next((str(said["cwd"]) for said in self.entries() if isinstance(said.get("cwd"), str)), "")

    def settings(self) -> Guard:
        """What the guard does in its project. Raises SettingsBroken."""
        return guard_at(load(self.home), self.folder(), self.environment)


def why_not(session: Guarded, by: By, settings: Guard, means: Means | None) -> str:
    """Why the guard leaves a session alone, as a phrase; "" where it may move it."""
    if not is_main(session) or state_path(session.home, session.id) is None:
        return "it is no main session of Claude Code"
    for said in session.entries():
        for field in ("kind", "entrypoint"):
            value = said.get(key("registry", field))
            row = rows(field).get(value) if isinstance(value, str) else None
            if row is None or row.effect != "clears":
                return f"it is a program's session ({field} {value})"
    if by == "person":
        return ""
    mode = mode_of(session.home, session.id)
    if mode != "on":
        return "it was switched off by you" if mode == "off" else "it was paused by you"
    if not settings.act:
        return "`[guard] act` is false"
    if means is None and settings.write != "idle":
        return "nothing but you can reload it"
    return ""


def is_main(session: Guarded) -> bool:
    """Whether it is the main conversation of a Claude Code session: no subagent, and nothing of Codex."""
    path = session.transcript
    projects = session.places.claude / "projects"
    return (
        path.suffix == ".jsonl"
        and not path.stem.startswith("agent-")
        and path.parent.parent.resolve() == projects.resolve()
    )
