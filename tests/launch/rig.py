"""`coffer run` on a terminal, with programs of our own in the agents' places."""

from __future__ import annotations

import os
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from coffer.store.home import Home
from coffer.work.guarding import runs
from tests.launch.pane import Pane

COFFER = [sys.executable, "-m", "coffer.cli.main"]
SOURCE = Path(__file__).parents[2] / "src"
RAW = "import os, sys, tty, signal, time, termios, fcntl, struct\ntty.setraw(0)\n"
SAY = "def say(*words): os.write(1, (' '.join(map(str, words)) + '\\r\\n').encode())\n"


class Rig:
    """A home, a folder of programs, and runs."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root / "bin"
        self.cwd = root / "work"
        self.home = Home(root / "coffer")
        for folder in (self.bin, self.cwd):
            folder.mkdir(parents=True)

    def program(self, text: str, name: str = "codex") -> Path:
        """Put a Python program in an agent's place."""
        path = self.bin / name
        path.write_text(f"#!{sys.executable}\n{text}")
        path.chmod(0o755)
        return path

    def env(self, **more: str) -> dict[str, str]:
        return {
            "HOME": str(self.root),
            "COFFER_HOME": str(self.home.root),
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "PYTHONPATH": str(SOURCE),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PS1": "$ ",
            **more,
        }

    def command(self, *arguments: str, agent: str = "codex") -> list[str]:
        return [*COFFER, "run", agent, *arguments]

    def run(self, *arguments: str, agent: str = "codex", **sizes: Any) -> Pane:
        return Pane(self.command(*arguments, agent=agent), env=self.env(), cwd=self.cwd, **sizes)

    def shell(self) -> Pane:
        """A shell with job control."""
        command = ["/bin/bash", "--norc", "--noprofile", "-i"]
        return Pane(command, env=self.env(HISTFILE=""), cwd=self.cwd, columns=100, rows=40)

    def state(self, pane: Pane) -> dict[str, Any]:
        """What the one launcher says of itself."""
        return self.ask(pane, {"do": "state"})

    def ask(self, _pane: Pane, request: dict[str, Any], seconds: float = 60.0) -> dict[str, Any]:
        names = runs.runs(self.home)
        assert len(names) == 1
        said = runs.ask(self.home, names[0], request, seconds)
        assert said is not None
        return said

    def launcher(self) -> psutil.Process:
        """The process of the one launcher."""
        found = list(self.launchers())
        assert len(found) == 1
        return found[0]

    def launchers(self) -> Iterator[psutil.Process]:
        """Launchers of this home: those that nobody of the same command started (the monitor is one's fork)."""
        for process in psutil.process_iter(["cmdline"]):
            line = process.info["cmdline"] or []
            if "run" not in line or "coffer.cli.main" not in line:
                continue
            try:
                parent = process.parent()
                same = parent is not None and parent.cmdline() == process.cmdline()
                if process.environ().get("HOME") == str(self.root) and not same:
                    yield process
            except (psutil.Error, OSError):
                continue


def modes(descriptor: int) -> list[Any]:
    """The terminal's modes, as they are seen from its other side."""
    return termios.tcgetattr(descriptor)[:4]


def gone(pid: int, seconds: float = 60.0) -> bool:
    """Wait until a process has ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


def number_after(pane: Pane, word: str) -> int:
    """A number that a program said."""
    for row in pane.look().rows:
        if row.startswith(f"{word} "):
            return int(row.split()[1])
    raise LookupError(f"{word} is not on the screen: {os.linesep.join(pane.look().rows)}")
