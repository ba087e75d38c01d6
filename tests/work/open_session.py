"""An open session of Claude Code, played by this process: its file, its place in the registry, its hooks, its memory.

It appends as the client does (open, append, close), keeps its place in memory and reads the file only when it is
reloaded. `Typed` is the way to reload it; its faults can be switched on.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coffer.core.settings import Guard
from coffer.disk.live import start_mark
from coffer.disk.places import Places
from coffer.store.home import Home
from coffer.store.hook_events import keep
from coffer.work.guarding.gate import Gate
from coffer.work.guarding.guard import Hands
from coffer.work.guarding.guarded import Guarded
from coffer.work.guarding.means import DONE, REFUSED, MeansName, Reloaded
from coffer.work.sessions.read import opened
from tests.prune.generate import words
from tests.transcripts import SESSION, Claude, call, result, text, usage

_BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()
WINDOW = 200_000
PERSONS = {"origin": {"kind": "human"}, "promptSource": "typed", "entrypoint": "cli", "userType": "external"}


class Client:
    """One client and its session. session: its id, which names its file. pid: the process that it is."""

    def __init__(self, root: Path, session: str = SESSION, pid: int = 0) -> None:
        self.root, self.session, self.pid = root, session, pid or os.getpid()
        self.places = Places(root / ".claude", root / ".codex")
        self.home = Home(root / ".coffer")
        self.folder = root / "work"
        self.transcript = self.places.claude / "projects" / "-x" / f"{session}.jsonl"
        self.registry = self.places.claude / "sessions" / f"{self.pid}.json"
        for folder in (self.folder, self.transcript.parent, self.registry.parent):
            folder.mkdir(parents=True, exist_ok=True)
        self.made = Claude()
        self.turns = 0
        self.loads = 0
        self.back = 0.0
        self._written = 0
        self.says("idle")
        self.hook("SessionStart", source="startup")

    # --- what others see of it

    def says(self, status: str, **more: Any) -> None:
        """Write the registry's file."""
        now = time.time()
        said = {
            "pid": self.pid,
            "procStart": start_mark(self.pid),
            "sessionId": self.session,
            "cwd": str(self.folder),
            "startedAt": int((now - 3600) * 1000),
            "version": "2.1.197",
            "kind": "interactive",
            "entrypoint": "cli",
            "status": status,
            "statusUpdatedAt": int(now * 1000) + 1,  # later than what was told in this millisecond
        }
        self.registry.write_text(json.dumps(said | more))

    def hook(self, event: str, **said: Any) -> None:
        """Tell Coffer of an event."""
        keep(self.home, event, {"session_id": self.session, "hook_event_name": event, **said}, time.time())

    def write(self) -> None:
        """Append what is new, and let it be old enough to be quiet."""
        with self.transcript.open("ab") as file:
            file.write(b"".join(line + b"\n" for line in self.made.lines[self._written :]))
        self._written = len(self.made.lines)
        self.age(3_600)

    def age(self, seconds: float) -> None:
        then = time.time() - seconds
        os.utime(self.transcript, (then, then))

    def now(self) -> None:
        """The next record is of this moment, or of `back` seconds ago."""
        self.made.clock = time.time() - _BEGIN - 60 - self.back

    # --- what it does

    def turn(self, used: int, size: int = 0, said: str = "go on", polls: int = 0) -> None:
        """A prompt, a call with a result of `size` characters where there is one, an answer that counts `used`."""
        self.turns += 1
        mark = f"t{self.turns}"
        self.says("busy")
        self.hook("UserPromptSubmit")
        self.now()
        self.made.user(f"{said} {mark}", f"u{mark}", cwd=str(self.folder), **PERSONS)
        for poll in range(polls):
            self.now()
            self.made.answer(call(f"call_{mark}p{poll}", command="git status"), name=f"c{mark}p{poll}")
            self.now()
            self.made.result(f"call_{mark}p{poll}", f"clean {poll}", f"r{mark}p{poll}")
        if size:
            self.now()
            self.made.answer(
                call(f"call_{mark}", command=f"make {mark}"), name=f"c{mark}", counts=usage(used - size // 4)
            )
            self.now()
            block = result(f"call_{mark}", words(size, mark))
            self.made.user([block], f"r{mark}", toolUseResult={"stdout": "ok"})
        self.now()
        answer = f"answered {mark}"
        self.made.answer(text(answer), name=f"a{mark}", counts=usage(used))
        self.write()
        self.hook("Stop", last_assistant_message=answer, background_tasks=[], session_crons=[])
        self.says("idle")

    def refused(self, words: str) -> None:
        """The API refuses a prompt: the client writes it down in the model's place."""
        self.says("busy")
        self.hook("UserPromptSubmit")
        self.now()
        self.made.user("and this", f"v{self.turns}", cwd=str(self.folder), **PERSONS)
        self.now()
        said: dict[str, Any] = {"model": "<synthetic>", "isApiErrorMessage": True, "error": "invalid_request"}
        self.made.answer(text(words), name=f"e{self.turns}", **said)
        self.write()
        self.hook("StopFailure")
        self.says("idle")

    def grow(self, turns: int = 12, size: int = 30_000, first: int = 20_000) -> int:
        """Turns with large results; the tokens at the end."""
        used = first
        for _ in range(turns):
            used += size // 4
            self.turn(used, size)
        return used

    def reload(self) -> None:
        """Read the file anew, as `/resume` does: the next record hangs on its end."""
        self.loads += 1
        with opened(self.transcript) as session:
            leaf = session.agent.view(session.transcript, "").branch.leaf
        assert leaf is not None
        self.made.leaf = leaf.uuid
        self.hook("SessionStart", source="resume")
        self.says("idle")

    # --- what a test asks

    @property
    def guarded(self) -> Guarded:
        environment = {"HOME": str(self.root), "COFFER_HOME": str(self.home.root)}
        return Guarded(self.transcript, self.home, self.places, environment)

    def hands(self, means: Typed | None, **more: Any) -> Hands:
        gate = Gate(self.transcript, self.places, self.home)
        return Hands(lambda: gate.verdict().write, means, seen=0.2, wait=0.0, **more)

    def view(self) -> list[str]:
        """The uuids that a reload would show, in order."""
        with opened(self.transcript) as session:
            found = session.agent.view(session.transcript, "")
        return [item.record.uuid for item in found.items if item.record is not None]

    @property
    def data(self) -> bytes:
        return self.transcript.read_bytes()


@dataclass
class Typed:
    """A way to reload a client. obstacle: what is in the way; refuses: nothing is sent; deaf: nothing comes of it."""

    client: Client
    obstacle: str = ""
    refuses: str = ""
    deaf: bool = False
    asked: list[float] = field(default_factory=list)

    @property
    def name(self) -> MeansName:
        return "typed"

    def obstacles(self) -> list[str]:
        return [self.obstacle] if self.obstacle else []

    def reload(self, wait: float) -> Reloaded:  # noqa: ARG002  (nothing is waited for)
        if self.refuses:
            return Reloaded(REFUSED, self.refuses)
        self.asked.append(time.time())
        if not self.deaf:
            self.client.reload()
        return Reloaded(DONE, seconds=0.1)


GUARD = Guard()
