"""An installed hook in a home of its own, a daemon that does what a test says, and runs of the real script.

The script's own limits (0.3 s for the daemon, 0.7 s in all) are no match for a machine that is busy with other
tests. So a rig installs a copy with limits that fit what is tested: `patient` ones where the daemon is waited
for, `whole` ones where it is not. tests/hook/test_limits.py runs the script with its own.
"""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote_to_bytes

from coffer.store.home import Home
from coffer.work.agent_settings.hook_files import write_hook
from coffer.work.delivery.bundle_files import publish

PYTHON = Path(sys.executable)
LONG = 60
"""Seconds after which a test gives a process up."""
FILE_TEXT = b'{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"from the file"}}'
SUBAGENT_TEXT = (
    b'{"hookSpecificOutput":{"hookEventName":"SubagentStart","additionalContext":"from the file"}}'
)
DAEMON_TEXT = (
    b'{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"\xc3\xbc from the daemon"}}'
)
STARTUP = b'{"session_id":"s-1","cwd":"/somewhere","hook_event_name":"SessionStart","source":"startup"}'

Behaviour = Callable[[socket.socket], None]


@dataclass(frozen=True)
class Done:
    """One run of a hook."""

    rc: int
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True)
class Heard:
    """A request as the daemon got it."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    def told(self, name: str) -> bytes:
        return unquote_to_bytes(self.headers[f"x-coffer-{name}"])


@dataclass
class Rig:
    """A home with the hook's files in it, and a project folder."""

    home: Home
    project: Path
    environment: dict[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, folder: Path, name: str = "home") -> Rig:
        rig = cls(Home(folder / name), folder / "project")
        rig.project.mkdir(parents=True)
        rig.environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}
        write_hook(rig.home, PYTHON)
        (rig.home.root / "bin" / "daemon-command").unlink()  # a test that wants a daemon brings its own
        return rig

    @property
    def script(self) -> Path:
        return self.home.root / "bin" / "hook.py"

    @property
    def stub(self) -> Path:
        return self.home.root / "bin" / "coffer-hook"

    def limits(self, *, daemon: float = LONG / 2, whole: float = 2 * LONG) -> None:
        """Give the installed script other limits; by default a run that hangs fails its test."""
        text = self.script.read_text()
        for name, value in (("DAEMON", daemon), ("WHOLE", whole), ("FILES_FIRST", whole)):
            text, count = re.subn(rf"(?m)^{name} = .*$", f"{name} = {value}", text)
            assert count == 1
        self.script.write_text(text)

    def publish(self, root: str | None = None) -> None:
        files = {
            ("claude", "SessionStart"): FILE_TEXT,
            ("claude", "SubagentStart"): SUBAGENT_TEXT,
            ("codex", "SessionStart"): FILE_TEXT,
        }
        assert publish(self.home, {root or str(self.project.resolve()): files}) == []

    def words(self, *arguments: str) -> list[str]:
        return [str(PYTHON), "-I", "-S", str(self.script), *arguments]

    def run(
        self,
        *arguments: str,
        stdin: bytes = STARTUP,
        cwd: Path | None = None,
        extra: Mapping[str, str] | None = None,
        words: Sequence[str] | None = None,
    ) -> Done:
        """Run the script to its end; words: another command that leads to it."""
        done = subprocess.run(
            words or self.words(*arguments),
            input=stdin,
            cwd=cwd or self.project,
            env=self.environment | dict(extra or {}),
            capture_output=True,
            timeout=LONG,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def spooled(self) -> list[Path]:
        folder = self.home.root / "spool"
        return sorted(folder.iterdir()) if folder.is_dir() else []

    @contextmanager
    def daemon(self, behaviour: Behaviour, backlog: int = 100) -> Iterator[list[Heard]]:
        """Something that listens on the daemon's socket; what it was sent."""
        with socket.socket(socket.AF_UNIX) as listener:
            bind(listener, self.home)
            listener.listen(backlog)
            server = _Server(listener, self.home.root, behaviour)
            server.start()
            try:
                yield server.heard
            finally:
                server.stop()
        (self.home.root / "daemon.sock").unlink()


def bind(listener: socket.socket, home: Home) -> None:
    """Bind the daemon's socket, however long its path is."""
    with contextlib.chdir(home.root):
        listener.bind("daemon.sock")


class _Server(threading.Thread):
    def __init__(self, listener: socket.socket, folder: Path, behaviour: Behaviour) -> None:
        super().__init__(daemon=True)
        self.listener, self.folder, self.behaviour = listener, folder, behaviour
        self.heard: list[Heard] = []
        self.ended = False
        self.handlers: list[threading.Thread] = []

    def run(self) -> None:
        while True:
            link, _ = self.listener.accept()
            if self.ended:
                link.close()
                return
            self.handlers.append(threading.Thread(target=self.handle, args=(link,), daemon=True))
            self.handlers[-1].start()

    def handle(self, link: socket.socket) -> None:
        with link, contextlib.suppress(OSError):
            heard = read_request(link)
            if heard is not None:
                self.heard.append(heard)
            self.behaviour(link)

    def stop(self) -> None:
        self.ended = True
        with (
            socket.socket(socket.AF_UNIX) as last,
            contextlib.suppress(OSError),
            contextlib.chdir(self.folder),
        ):
            last.connect("daemon.sock")
        self.join(LONG)  # its socket is closed next
        for handler in self.handlers:
            handler.join(LONG)


def read_request(link: socket.socket) -> Heard | None:
    """Read one request, as a server of HTTP would; None where it is cut."""
    got = b""
    while b"\r\n\r\n" not in got:
        piece = link.recv(65536)
        if not piece:
            return None
        got += piece
    head, _, body = got.partition(b"\r\n\r\n")
    first, *lines = head.decode("ascii").split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    assert first.endswith(" HTTP/1.1")
    while len(body) < int(headers["content-length"]):
        piece = link.recv(1 << 20)
        if not piece:
            return None
        body += piece
    return Heard(first.split(" ")[1], headers, body)


def answer(body: bytes, status: str = "200 OK", length: int | None = None) -> bytes:
    said = len(body) if length is None else length
    return f"HTTP/1.1 {status}\r\nContent-Length: {said}\r\n\r\n".encode() + body


def says(raw: bytes) -> Behaviour:
    return lambda link: link.sendall(raw)


def never(link: socket.socket) -> None:
    """Answer nothing, until the hook gives up."""
    link.recv(1)
