"""A machine with projects and sessions in which a person corrects the agent, for tests of learning."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from coffer.core.events import Settings
from coffer.core.rule import Rule
from coffer.core.settings import Settings as Everything
from coffer.disk.places import Places
from coffer.disk.sessions import find_sessions
from coffer.store.home import Home
from coffer.work.rules.ask import Asker
from coffer.work.rules.desk import Desk
from coffer.work.rules.inbox import Inbox
from coffer.work.rules.learn import Learned, Learning
from coffer.work.rules.shelf import Shelf
from tests.transcripts import Claude, call, text

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@dataclass(slots=True)
class Desktop:
    """Home, projects (below it unless `projects` says otherwise), and the present moment of the tests."""

    root: Path
    projects: Path | None = None
    now: datetime = NOW
    settings: Everything = field(default_factory=Everything)

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.root)}

    @property
    def home(self) -> Home:
        return Home.of(self.environment)

    @property
    def places(self) -> Places:
        return Places.of(self.environment)

    def project(self, name: str) -> Path:
        """A git repository."""
        folder = (self.projects or self.root) / name
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        return folder

    def session(
        self,
        project: Path,
        turns: Sequence[str],
        name: str,
        *,
        days_ago: float = 1,
        before: str = "I committed it with a co-author line.",
        delivered: str = "",
    ) -> Path:
        """A session of Claude Code in which these things were said, each after the agent's words."""
        made = Claude()
        start = self.now - timedelta(days=days_ago)
        made.clock = (start - datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)).total_seconds()
        made.user("fix the parser", f"{name}-p", **self._typed(project))
        if delivered:
            made.add("attachment", f"{name}-b", attachment=_hook_context(delivered))
        for number, said in enumerate(turns):
            made.answer(
                text(before), call(f"{name}{number}", command="git commit -m x"), name=f"{name}-a{number}"
            )
            made.result(f"{name}{number}", "ok", f"{name}-r{number}")
            made.answer(text(before), name=f"{name}-e{number}")
            made.user(said, f"{name}-u{number}", **self._typed(project))
        return self.store(made, name)

    def _typed(self, project: Path) -> dict[str, object]:
        return {
            "cwd": str(project),
            "origin": {"kind": "human"},
            "promptSource": "typed",
            "entrypoint": "cli",
            "userType": "external",
        }

    def store(self, made: Claude, name: str) -> Path:
        folder = self.places.claude / "projects" / "-x"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.jsonl"
        path.write_bytes(made.data)
        return path

    def learn(self, *, dry_run: bool = False) -> Learned:
        """Learn from all sessions."""
        asker = Asker(self.settings, self.home, self.environment, sleep=lambda _: None, now=lambda: self.now)
        learning = Learning(
            self.home, self.places, self.environment, self.settings.digest, asker, self.now, dry_run
        )
        return learning.run(find_sessions(self.places))

    def shelf(self) -> Shelf:
        return Shelf(self.home, self.root, self.settings.digest, self.now)

    def desk(self, project: Path | None) -> Desk:
        shelf = self.shelf()
        return Desk(shelf, shelf.project(str(project)) if project else "")

    def inbox(self, project: Path | None) -> Inbox:
        return Inbox(self.desk(project))

    def rules(self, project: Path | None) -> tuple[Rule, ...]:
        """The rules of a project's digest, or of the person's, with their evidence."""
        return self.desk(project).target(None if project else "user").rules.all

    def every_text(self) -> str:
        """All bytes below the home but the transcripts, as text."""
        kept: list[str] = []
        for folder, _, files in os.walk(self.root):
            if "/.claude/" not in folder + "/" and "/.codex/" not in folder + "/":
                kept += [(Path(folder) / name).read_bytes().decode("utf-8", "replace") for name in files]
        return "\n".join(kept)


def _hook_context(said: str) -> dict[str, object]:
    return {
        "type": "hook_additional_context",
        "content": [said],
        "hookName": "SessionStart",
        "toolUseID": "t",
        "hookEvent": "SessionStart",
    }


__all__ = ["NOW", "Desktop", "Settings"]
