"""A terminal for an interactive client: one tmux server of its own, typed at and read back.

Everything it starts is ended by pid when the block ends, and its folder is removed.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

TYPING_PAUSE = 0.7  # seconds; Codex takes Enter that comes sooner for a part of a paste


class Terminal:
    """A program on a tmux pane: `env` is its whole environment, sizes are in cells, timeouts in seconds.

    Raises FileNotFoundError when tmux is not installed.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        env: Mapping[str, str],
        cwd: Path,
        width: int = 160,
        height: int = 50,
    ) -> None:
        tmux = shutil.which("tmux")
        if tmux is None:
            raise FileNotFoundError("tmux is not installed")
        self._tmux = tmux
        self._folder = Path(tempfile.mkdtemp(prefix="lab-tty-"))  # short: a socket path has 104 bytes at most
        (self._folder / "conf").write_text("set -g remain-on-exit on\nset -g history-limit 5000\n")
        words = [f"{k}={v}" for k, v in env.items()]
        size = ("-x", str(width), "-y", str(height))
        self._start = ("new-session", "-d", "-s", "lab", *size, "-c", str(cwd), "--", "env", "-i", *words)
        self._command = [str(word) for word in command]
        self._pids: list[int] = []

    def __enter__(self) -> Self:
        self.tmux(*self._start, *self._command)
        told = self.tmux("display-message", "-p", "-t", "lab", "#{pid} #{pane_pid}")
        self._pids = [int(pid) for pid in told.split()]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            end(self._pids)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def pid(self) -> int:
        """The pid of the program (tmux execs it directly)."""
        return self._pids[1]

    def tmux(self, *words: str) -> str:
        """Run one tmux command on our own server and return what it printed."""
        base = (self._tmux, "-S", str(self._folder / "s"), "-f", str(self._folder / "conf"))
        env = {"PATH": os.defpath, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        done = subprocess.run(
            [*base, *words], capture_output=True, text=True, env=env, timeout=60, check=False
        )
        return done.stdout

    def type(self, text: str) -> None:
        """Type text as it is, without Enter."""
        self.tmux("send-keys", "-t", "lab", "-l", "--", text)

    def key(self, *names: str) -> None:
        """Press keys by their tmux names (Enter, Escape, C-c, …)."""
        self.tmux("send-keys", "-t", "lab", *names)

    def submit(self, text: str) -> None:
        """Type a line, wait until it is no paste any more, press Enter."""
        self.type(text)
        time.sleep(TYPING_PAUSE)
        self.key("Enter")

    def screen(self, history: int = 0) -> str:
        """Return the lines on the screen that are not blank, with `history` lines above them."""
        shown = self.tmux("capture-pane", "-p", "-t", "lab", "-S", f"-{history}")
        return "\n".join(line.rstrip() for line in shown.splitlines() if line.strip())

    def wait_for(self, pattern: str, timeout: float = 60) -> bool:
        """Wait until the screen matches; False when `timeout` passes first."""
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            if re.search(pattern, self.screen(200)):
                return True
            time.sleep(0.1)
        return False

    def wait_end(self, timeout: float = 60) -> bool:
        """Wait until the program has ended; False when `timeout` passes first."""
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            if self.tmux("display-message", "-p", "-t", "lab", "#{pane_dead}").strip() != "0":
                return True
            time.sleep(0.05)
        return False


def end(pids: Sequence[int], patience: float = 3) -> None:
    """End these processes and their children: politely, after `patience` seconds with SIGKILL."""
    found: dict[int, psutil.Process] = {}
    for pid in pids:
        try:
            process = psutil.Process(pid)
            family = [process, *process.children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
        found.update({p.pid: p for p in family})
    for sign in (signal.SIGTERM, signal.SIGKILL):
        for process in found.values():
            try:
                process.send_signal(sign)
            except psutil.NoSuchProcess:
                continue
        _, alive = psutil.wait_procs(found.values(), timeout=patience)
        if not alive:
            return
