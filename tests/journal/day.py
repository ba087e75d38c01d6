"""A machine with sessions whose end is told in the journal, for tests of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coffer.core.entry import Entry
from coffer.core.settings import Settings
from coffer.disk.places import Places
from coffer.disk.sessions import Found, find_sessions
from coffer.store.home import Home
from coffer.work.memory.distil import Distiller
from coffer.work.memory.distil_result import Result
from coffer.work.memory.journal_list import all_lanes, pages
from tests.models.server import OPENAI, Handler, ScriptedServer, serving
from tests.transcripts import Claude, call, result, text

LATER = datetime(2027, 2, 1, tzinfo=UTC).timestamp()
"""What a run takes for the present: after all that these tests tell of."""
PROMPT = "Make the retry of the webhook sender wait longer each time, since the server answers 429."
ANSWER = (
    "The sender waits twice as long after each 429 now.\n\n"
    "I used exponential backoff instead of a fixed wait because the server doubles its own limit.\n"
    "The jitter is not tested yet."
)
PATCH = {"structuredPatch": [{"lines": [" a", "-b", "+c", "+d"]}], "type": "update"}


@dataclass(slots=True)
class Day:
    """Home, projects, sessions. clock: seconds since the epoch that a run sees."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    clock: Callable[[], float] = lambda: LATER

    def __post_init__(self) -> None:
        self.environment = {"HOME": str(self.root), **self.environment}

    @property
    def home(self) -> Home:
        return Home.of(self.environment)

    @property
    def places(self) -> Places:
        return Places.of(self.environment)

    def project(self, name: str = "tide") -> Path:
        folder = self.root / name
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        return folder

    def typed(self, project: Path) -> dict[str, Any]:
        return {
            "cwd": str(project),
            "origin": {"kind": "human"},
            "promptSource": "typed",
            "entrypoint": "cli",
            "gitBranch": "retry",
        }

    def started(self, project: Path, at: datetime, name: str = "s") -> Claude:
        """A session of some work: a prompt, a failing test, an edit, a passing one, a commit, an answer."""
        made = Claude()
        made.clock = (at.astimezone(UTC) - datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)).total_seconds()
        here = self.typed(project)
        made.user(PROMPT, f"{name}p", **here)
        made.answer(call(f"{name}1", command="pytest -q tests"), name=f"{name}a", **_at(project))
        failed = result(f"{name}1", "Exit code 1\n1 failed, 7 passed in 0.3s", is_error=True)
        made.user([failed], f"{name}b", toolUseResult="Error: Exit code 1", **_at(project))
        path = str(project / "src" / "sender.py")
        made.answer(
            call(f"{name}2", "Edit", file_path=path, old_string="b", new_string="c\nd"), name=f"{name}c"
        )
        made.result(f"{name}2", "ok", f"{name}d", toolUseResult=PATCH, **_at(project))
        made.answer(call(f"{name}3", command="pytest -q tests 2>&1 | tail -3"), name=f"{name}e")
        made.result(f"{name}3", "8 passed in 0.3s", f"{name}f", **_at(project))
        made.answer(call(f"{name}4", command="git commit -qam x"), name=f"{name}g")
        made.result(f"{name}4", "[retry 1a2b3c4] Wait longer after each 429\n 1 file changed", f"{name}h")
        made.answer(text(ANSWER), name=f"{name}z", **here)
        return made

    def store(self, made: Claude, name: str) -> Path:
        folder = self.places.claude / "projects" / "-x"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.jsonl"
        path.write_bytes(made.data)
        return path

    def session(self, name: str = "one", project: str = "tide", at: datetime | None = None) -> Path:
        moment = at or datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
        return self.store(self.started(self.project(project), moment, name), name)

    def found(self, *names: str) -> list[Found]:
        every = find_sessions(self.places)
        return [one for one in every if one.id in names] if names else every

    def distil(self, *names: str, **more: Any) -> list[Result]:
        """One run over these sessions, or all."""
        return Distiller(self.home, self.environment, self.settings, self.clock, **more).run(
            self.found(*names)
        )

    def entries(self) -> list[Entry]:
        return [page.entry for page in pages(all_lanes(self.home))]


def _at(project: Path) -> dict[str, Any]:
    return {"cwd": str(project), "gitBranch": "retry"}


def answering(said: str | Callable[[str], str]) -> AbstractContextManager[ScriptedServer]:
    """A model that says this to every prompt."""

    def step(handler: Handler) -> None:
        prompt = handler.server.requests[-1].prompt
        handler.send(200, OPENAI.reply(said if isinstance(said, str) else said(prompt)))

    return serving(step)
