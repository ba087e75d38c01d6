"""Runs the real command in a home of its own, and sees that it changed nothing there."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import select
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.prune.forks import forked
from tests.transcripts import SESSION, THREAD, Claude, Codex, call, store, text, thinking, usage

SOURCE = Path(__file__).parents[2]
_PATIENCE = 60.0
_PYTHONS = ("PYTHON", "LANG", "LC_")
"""Variables that Python reads when it begins."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a command said and how it ended."""

    out: str
    err: str
    code: int

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(slots=True)
class Machine:
    """A home, a working folder, and an environment of nothing but what a test sets."""

    home: Path
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def env(self) -> dict[str, str]:
        base = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "PYTHONIOENCODING": "utf-8:strict",  # as with any locale but C
            "TMPDIR": str(self.folder.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        if "PYTHONPATH" in os.environ:
            base["PYTHONPATH"] = os.environ["PYTHONPATH"]  # the code under test
        return base | self.environment

    def run(self, *arguments: str, **environment: str) -> Done:
        """Run `coffer`; fails if it shows a traceback or changes the home.

        In a fork of a process that has imported it: a tenth of the price. One that Python itself is to begin in
        another manner is begun anew.
        """
        if self._begins_otherwise(environment):
            return self.begun(*arguments, **environment)
        before = snapshot(self.home)
        done = forked(arguments, self.env() | environment, str(self.folder))
        self._judge(before, done.err.encode())
        return Done(done.out, done.err, done.code)

    def begun(self, *arguments: str, **environment: str) -> Done:
        """The same with a process from its very beginning, and pipes."""
        before = snapshot(self.home)
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=self.folder,
            env=self.env() | environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_PATIENCE,
            check=False,
        )
        self._judge(before, done.stderr)
        out, err = (said.decode("utf-8", "backslashreplace") for said in (done.stdout, done.stderr))
        return Done(out, err, done.returncode)

    def on_terminal(self, *arguments: str, columns: int = 80, **environment: str) -> Done:
        """The same with a terminal as stdout and stderr."""
        before = snapshot(self.home)
        outer, inner = pty.openpty()
        asked = {"TERM": "xterm-256color", "COLUMNS": str(columns), **environment}
        with subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=self.folder,
            env=self.env() | asked,
            stdin=subprocess.DEVNULL,
            stdout=inner,
            stderr=inner,
        ) as process:
            os.close(inner)
            said = _drain(outer)
        os.close(outer)
        self._judge(before, said)
        return Done(said.decode("utf-8", "replace").replace("\r\n", "\n"), "", process.returncode)

    def alone(
        self, *arguments: str, keys: str | None = None, under: tuple[str, ...] = (), **environment: str
    ) -> Done:
        """Run `coffer` with no process of ours above it, since the tests may themselves run under an agent.

        keys: what is typed on its terminal; None: it has none. under: what to put before the command. It may
        change the home.
        """
        if keys is None and not under and not self._begins_otherwise(environment):
            done = forked(arguments, self.env() | environment, str(self.folder), alone=True)
            assert "Traceback" not in done.out + done.err, done.out + done.err
            return Done(done.out, done.err, done.code)
        return self._alone([*under, *COMMAND, *arguments], keys, environment)

    def _alone(self, command: list[str], keys: str | None, environment: dict[str, str]) -> Done:
        script = Path(__file__).with_name("alone.py")
        done = subprocess.run(
            [sys.executable, str(script), json.dumps(command), json.dumps(keys)],
            cwd=self.folder,
            env=self.env() | environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_PATIENCE,
            check=True,
        )
        said = Done(**json.loads(done.stdout))
        assert "Traceback" not in said.out + said.err, said.out + said.err
        return said

    def _begins_otherwise(self, environment: dict[str, str]) -> bool:
        return any(name.startswith(_PYTHONS) for name in {**self.environment, **environment})

    def _judge(self, before: dict[str, tuple[object, ...]], said: bytes) -> None:
        assert b"Traceback" not in said, said.decode("utf-8", "replace")
        after = snapshot(self.home)
        assert after == before, (
            f"a command that only reads changed the home: {set(after.items()) ^ set(before.items())}"
        )


COMMAND = (sys.executable, "-m", "coffer.cli.main")


def _drain(descriptor: int) -> bytes:
    pieces = []
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        ready, _, _ = select.select([descriptor], [], [], 1)
        if ready:
            try:
                piece = os.read(descriptor, 65_536)
            except OSError:
                break  # Linux: the other end is closed
            if not piece:
                break
            pieces.append(piece)
    return b"".join(pieces)


def snapshot(root: Path) -> dict[str, tuple[object, ...]]:
    """Everything of a folder that a command could change."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted([root, *root.rglob("*")]):
        status = path.lstat()
        said: object = None
        if path.is_symlink():
            said = path.readlink()
        elif path.is_file():
            said = hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path)] = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino, said)
    return found


def claude_project(machine: Machine) -> Path:
    return machine.home / ".claude" / "projects" / "-work-tide"


def conversation(prompt: str = "count the tides", tokens: int = 50_000) -> Claude:
    """A session with a bit of everything."""
    made = Claude()
    made.user(prompt, "u1", cwd="/work/tide")
    made.answer(thinking("hm"), text("I look."), call("c1", "Read", file_path="/work/tide/a.py"), name="a")
    made.result("c1", "content " * 400)
    made.answer(call("c2", "Bash", command="pytest -q"), name="b", counts=usage(20_000, 100))
    made.result("c2", "1 passed")
    made.answer(text("All is well."), name="e", counts=usage(tokens, 200))
    made.note("ai-title", aiTitle="Tides counted")
    made.last_prompt("e")
    return made


def rollout(tokens: int = 30_000) -> Codex:
    made = Codex()
    made.meta()
    made.turn()
    made.message("user", "fix the chart")
    made.call("c1", '{"command":["ls"]}')
    made.output("c1", "a.py")
    made.message("assistant", "Done.")
    made.count(tokens, 100)
    return made


def fill(machine: Machine) -> None:
    """One session of each agent."""
    store(claude_project(machine), conversation())
    folder = machine.home / ".codex" / "sessions" / "2026" / "01" / "02"
    store(folder, rollout(), f"rollout-2026-01-02T03-04-05-{THREAD}")


def put(machine: Machine, made: Claude | bytes, name: str = SESSION) -> Path:
    return store(claude_project(machine), made, name)
