"""The stage on which instants of work in flight are captured: the real client with every hook recorded.

    with Harness(root, server) as harness, harness.home.interactive() as screen:
        ...
        harness.shoot(screen, target, Truth(safe=False, kinds=("turn",), why="…"))

A shot is one folder: what the client, its hooks and its screen show at that moment (docs/guard.md). The whole
session is read first and the screen last, within milliseconds; the truth is stated by the scene, not by Coffer.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from coffer.disk.live import start_mark
from tests.lab.claude import MODEL_ARGS, ClaudeHome
from tests.lab.claude_stage import Stage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from tests.lab.anthropic_server import AnthropicServer
    from tests.lab.claude import Tmux

RECORDED = (
    *("SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "StopFailure", "Notification"),
    *("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"),
    *("SubagentStart", "SubagentStop", "TeammateIdle", "TaskCreated", "TaskCompleted"),
    *("PreCompact", "PostCompact"),
)
MORE_EVENTS = ("PostToolBatch", "UserPromptExpansion", "InstructionsLoaded", "ConfigChange", "MessageDisplay")
RECORDER = """\
import fcntl, json, os, sys, time
said = sys.stdin.buffer.read()
line = json.dumps({"ts": time.time(), "event": sys.argv[2], "stdin": json.loads(said)}) + "\\n"
descriptor = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
fcntl.flock(descriptor, fcntl.LOCK_EX)
os.write(descriptor, line.encode())
"""
ALLOWED = (
    *("Bash", "Read", "Edit", "Write", "Agent", "Workflow", "SendMessage", "TaskStop", "TaskOutput"),
    *("TaskCreate", "TaskUpdate", "TaskList", "CronCreate", "CronDelete", "CronList", "ScheduleWakeup"),
)
TEAMS = {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"}
MOST = 4_000  # bytes of one string that a fixture keeps; listings of skills and agents are far longer


@dataclass(frozen=True, slots=True)
class Truth:
    """What a person who knows the client says of an instant.

    kinds: what must be named among the blockers. typed: where the answer for typing differs, that answer.
    """

    safe: bool
    why: str
    kinds: tuple[str, ...] = ()
    typed: bool | None = None


@dataclass(slots=True)
class Harness:
    """A home whose hooks are recorded, and a folder that shots go to."""

    home: ClaudeHome
    server: AnthropicServer
    target: Path
    pairs: Sequence[tuple[str, str]]
    editor: str = "normal"
    taken: list[str] = field(default_factory=list)

    @classmethod
    def at(cls, root: Path, server: AnthropicServer, target: Path, pairs: Sequence[tuple[str, str]]) -> Self:
        """Seed the home."""
        home = ClaudeHome(root, server, model_args=MODEL_ARGS)
        harness = cls(home, server, target, pairs)
        recorder = home.root / "bin" / "record.py"
        recorder.parent.mkdir(exist_ok=True)
        recorder.write_text(RECORDER)
        harness.settings()
        return harness

    def settings(self, allow: Sequence[str] = ALLOWED, **more: Any) -> None:
        """Write the user settings: recorded hooks, these tools without a question, and more."""
        self.editor = more.get("editorMode", "normal")
        events = (*RECORDED, *more.pop("events", ()))
        hooks = {event: [{"hooks": [self._command(event)]}] for event in events}
        for event, entries in more.pop("hooks", {}).items():
            hooks[event] += entries
        self.home.set_settings({"permissions": {"allow": list(allow)}, "hooks": hooks, **more})

    def _command(self, event: str) -> dict[str, str]:
        words = (sys.executable, "-IS", str(self.home.root / "bin" / "record.py"), str(self._hooks), event)
        return {"type": "command", "command": shlex.join(words)}

    @property
    def _hooks(self) -> Path:
        return self.home.root / "hooks.jsonl"

    @property
    def stage(self) -> Stage:
        """The short ways to play a part."""
        return Stage(self.home, self.server)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.home.__exit__(kind, error, trace)

    def registry(self, session: str) -> list[dict[str, Any]]:
        """The registry files of a session, those of dead processes too."""
        return [entry for entry in self.home.registry() if entry.get("sessionId") == session]

    def shoot(
        self, screen: Tmux | None, name: str, truth: Truth, session: str = "", *, styled: bool = False
    ) -> None:
        """Write the folder of this instant. styled: the screen with its colours."""
        transcripts = self.home.transcripts()
        found = session or (transcripts[-1].stem if transcripts else "")
        shot = self.target / name
        shutil.rmtree(shot, ignore_errors=True)
        shot.mkdir(parents=True)
        transcript = self.home.transcript(found)
        data = transcript.read_bytes() if transcript.exists() else b""
        age = time.time() - transcript.stat().st_mtime if data else None
        entries = self.registry(found)
        at = time.time()
        how = ("-p", "-e") if styled else ("-p",)
        painted = screen.tmux("capture-pane", *how, "-t", "lab") if screen is not None else ""
        hooks = self._hooks.read_bytes() if self._hooks.exists() else b""
        self._put(shot / "transcript.jsonl", b"".join(map(shortened, data.splitlines(keepends=True))))
        self._put(shot / "hooks.jsonl", b"".join(map(shortened, hooks.splitlines(keepends=True))))
        self._put(shot / "screen.txt", "\n".join(line.rstrip() for line in painted.splitlines()).encode())
        for number, entry in enumerate(entries, 1):
            file = "registry.json" if number == 1 else f"registry-{number}.json"
            self._put(shot / file, json.dumps(entry, indent=1).encode())
        self._beside(transcript.with_suffix("") / "subagents", shot / "subagents")
        for folder in (found, f"session-{found[:8]}"):  # a team keeps the list under its own name
            self._beside(self.home.config / "tasks" / folder, shot / "tasks")
        self._beside(self.home.cwd / ".claude", shot / "project", only="scheduled_tasks.json")
        self._put(
            shot / "proc.json", json.dumps(proc(found, entries, at, age, self.editor), indent=1).encode()
        )
        told: dict[str, Any] = {"safe": truth.safe, "blockers": list(truth.kinds), "why": truth.why}
        if truth.typed is not None:
            told["typed"] = truth.typed
        self._put(shot / "expect.json", json.dumps(told, indent=1).encode())
        self.taken.append(name)

    def _beside(self, source: Path, target: Path, only: str = "*") -> None:
        for path in sorted(source.rglob(only)):
            if path.is_file() and path.suffix in (".json", ".jsonl"):
                copy = target / path.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                lines = path.read_bytes().splitlines(keepends=True)
                self._put(
                    copy, b"".join(map(shortened, lines)) if path.suffix == ".jsonl" else b"".join(lines)
                )

    def _put(self, path: Path, data: bytes) -> None:
        for old, new in self.pairs:
            data = data.replace(old.encode(), new.encode())
        path.write_bytes(data if data.endswith(b"\n") or not data else data + b"\n")


def proc(
    session: str, entries: Sequence[dict[str, Any]], at: float, age: float | None, editor: str
) -> dict[str, Any]:
    """What the process table says of the registry's processes."""
    marks = [(entry, start_mark(int(entry["pid"]))) for entry in entries]
    processes = [
        {
            "pid": entry["pid"],
            "pid_alive": mark is not None,
            "proc_start_matches_registry": mark is not None and mark == entry.get("procStart"),
        }
        for entry, mark in marks
    ]
    first: dict[str, Any] = processes[0] if processes else {"pid": None, "pid_alive": False}
    return {
        "captured_at": at,
        "session_id": session,
        "pid": first["pid"],
        "pid_alive": first["pid_alive"],
        "proc_start_matches_registry": first.get("proc_start_matches_registry", False),
        "registry_files": len(entries),
        "processes": processes,
        "transcript_age_s": None if age is None else round(age, 3),
        "editor": editor,
    }


def shortened(line: bytes) -> bytes:
    """A line with its long listings cut, for a small fixture; bytes that need no cut stay as they are."""
    if len(line) <= MOST or not line.endswith(b"\n"):
        return line
    return json.dumps(_cut(json.loads(line)), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= MOST else value[:200] + "…"
    if isinstance(value, list):
        return [_cut(item) for item in value]
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    return value
