"""The daemon as its HTTP interface sees it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coffer.daemon.answers import Answered
from coffer.daemon.life import Known
from coffer.daemon.loop import Loop
from coffer.daemon.standing import as_json


@dataclass(frozen=True, slots=True)
class Ears:
    """What it hears goes to the loop; what it is asked, the loop knows. met: called when somebody new is there."""

    loop: Loop
    known: Known
    met: Callable[[], object] = bool

    async def event(self, agent: str, event: str, body: bytes, headers: dict[str, str]) -> Answered:
        """The answer to a hook's event."""
        if event == "SessionStart":
            self.met()
        return await self.loop.event(agent, event, body, headers)

    async def context(self, agent: str, folder: Path) -> dict[str, Any]:
        """What a session in a folder would be sent."""
        return await self.loop.context(agent, folder)

    async def ended(self, agent: str, session: str) -> bool:
        """Hear that a session is over."""
        return await self.loop.ended(agent, session)

    def status(self) -> dict[str, Any]:
        """What the daemon is doing. Times: seconds since the epoch."""
        self.met()
        loop = self.loop
        return {
            "pid": os.getpid(),
            "version": self.known.version,
            "started": self.known.started,
            "port": self.known.port,
            "memory": _resident(),
            "worker": {"pid": loop.worker.pid, "jobs": loop.worker.jobs, "failures": loop.worker.failures},
            "learned_turns": loop.parts.learning.pupil.learned,
            "problem": self._problem(),
            "journal": self._journal(),
            "unconfirmed": len(loop.contexts),
            "sessions": self._sessions(),
        }

    def _problem(self) -> str:
        """What keeps the daemon from its work, as a phrase; "" for nothing. A person can do something about it."""
        waits, journal = self.loop.parts.learning.pupil.problem, self.loop.parts.journaling
        if waits:
            return f"learning waits: {waits}"
        return self.loop.worker.problem or (journal.problem if journal is not None else "")

    def _journal(self) -> dict[str, Any]:
        part = self.loop.parts.journaling
        if part is None:
            return {}
        return {"written": part.written, "waiting": part.waiting, "problem": part.problem}

    def _sessions(self) -> list[dict[str, Any]]:
        """Those that were heard of lately or have something to learn, and all that a client has open."""
        loop, standings = self.loop, self.loop.parts.standings
        since = time.time() - 86_400
        rows: dict[Path, dict[str, Any]] = {
            one.path: {
                "agent": one.agent,
                "session": one.session or one.path.stem,
                "path": str(one.path),
                "folder": one.folder,
                "event": one.event,
                "heard": round(one.heard, 3),
                "waiting": one.changed is not None,
                "failures": one.failures,
                "standing": None,
            }
            for one in loop.sessions.values()
            if one.heard > since or one.changed is not None
        }
        for standing in standings.every():
            row = rows.get(standing.path)
            if row is None and standing.holders:
                row = rows[standing.path] = {
                    "agent": standing.agent,
                    "session": standing.session,
                    "path": str(standing.path),
                    "folder": standing.folder,
                    "event": "",
                    "heard": 0.0,
                    "waiting": False,
                    "failures": 0,
                }
            if row is not None:
                row["folder"] = row["folder"] or standing.folder
                row["standing"] = as_json(standing)
        return list(rows.values())


def _resident() -> int:
    """Bytes of memory that the process holds; 0 where the system doesn't say."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
