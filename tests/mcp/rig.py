"""An installed pipe in a home of its own, MCP's part of the daemon as a process, and a client that says raw lines."""

from __future__ import annotations

import json
import os
import re
import select
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from coffer.store.home import Home
from coffer.work.agent_settings.mcp_files import write_mcp
from tests.daemon.rig import gone
from tests.hello_file import put_hello
from tests.work.learning import Desktop

PYTHON = Path(sys.executable)
SERVER = [str(PYTHON), "-P", "-m", "coffer.mcp.run"]
LONG = 60.0
"""Seconds after which a test gives up."""
TOOLS = ["propose_rule", "restore", "set_handoff", "resume", "remember", "recall", "list_memory"]
"""What the server offers, in its order."""
OPENING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@dataclass
class Rig:
    """A person's machine (`desktop`), with the pipe's files in it."""

    desktop: Desktop
    environment: dict[str, str] = field(default_factory=dict)
    servers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @classmethod
    def at(cls, folder: Path) -> Rig:
        desktop = Desktop(folder, now=datetime.now(UTC))
        rig = cls(desktop, {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"})
        write_mcp(rig.home, PYTHON)
        rig.command("exit 0")  # a test that wants a daemon to be started says so
        put_hello(rig.home)
        return rig

    @property
    def home(self) -> Home:
        return self.desktop.home

    @property
    def script(self) -> Path:
        return self.home.root / "bin" / "pipe.py"

    @property
    def pid_file(self) -> Path:
        return self.home.root / "pid"

    def command(self, shell: str) -> None:
        """What a pipe starts for a daemon."""
        words = b"\0".join(word.encode() for word in ("/bin/sh", "-c", shell))
        (self.home.root / "bin" / "daemon-command").write_bytes(words)

    def startable(self, module: str = "coffer.mcp.run") -> None:
        """Let pipes start the server, or the whole daemon; its pid is kept, since it is nobody's child."""
        words = shlex.join([str(PYTHON), "-P", "-m", module])
        self.command(f"echo $$ >> {shlex.quote(str(self.pid_file))}; exec {words}")

    def limit(self, name: str, value: float) -> None:
        """Give the installed script another limit."""
        text, count = re.subn(rf"(?m)^{name} = \S+", f"{name} = {value}", self.script.read_text())
        assert count == 1
        self.script.write_text(text)

    def serve(self) -> subprocess.Popen[bytes]:
        """Start the server and wait until pipes can connect."""
        log = (self.home.root / "log").open("ab")
        self.servers.append(subprocess.Popen(SERVER, env=self.environment, stderr=log, cwd="/"))
        log.close()
        wait_until(self.is_served)
        return self.servers[-1]

    def is_served(self) -> bool:
        with socket.socket(socket.AF_UNIX) as link, suppress(OSError):
            link.connect(str(self.home.root / "mcp.sock"))
            return True
        return False

    @property
    def log(self) -> str:
        return (self.home.root / "log").read_text()

    def started(self) -> list[int]:
        """Pids of the daemons that pipes started."""
        return [int(pid) for pid in self.pid_file.read_text().split()] if self.pid_file.exists() else []

    def daemon(self) -> int:
        """Pid of the one that lives: a busy machine starts a second one, which finds the first and ends."""
        wait_until(lambda: len(self._living()) == 1)
        return self._living()[0]

    def _living(self) -> list[int]:
        return [pid for pid in self.started() if not gone(pid)]

    def close(self) -> None:
        for server in self.servers:
            server.kill()
            server.wait()
        for pid in self.started():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    @contextmanager
    def pipe(self, folder: Path, agent: str = "claude", **extra: str) -> Iterator[Client]:
        with Client(self, folder, agent, extra) as client:
            yield client


class Client:
    """One pipe and what a client says to it. Every wait ends."""

    def __init__(self, rig: Rig, folder: Path, agent: str, extra: Mapping[str, str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [str(rig.home.root / "bin" / "coffer-mcp"), agent],
            cwd=folder,
            env={**rig.environment, **extra},
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self._got = b""
        self._next = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        with suppress(OSError):  # a pipe that is gone takes no rest
            self.stdin.close()
        for stream in (self.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    def say(self, line: bytes) -> None:
        self.stdin.write(line)
        self.stdin.flush()

    def send(self, method: str, params: object = None) -> int:
        """Send a request and return its id."""
        self._next += 1
        said = {
            "jsonrpc": "2.0",
            "id": self._next,
            "method": method,
            **({"params": params} if params else {}),
        }
        self.say(json.dumps(said).encode() + b"\n")
        return self._next

    def line(self, seconds: float = LONG) -> bytes:
        """The next line of the pipe; b"" at its end."""
        until = time.monotonic() + seconds
        while b"\n" not in self._got:
            ready, _, _ = select.select([self.stdout], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise TimeoutError(f"no line in {seconds} s; so far {self._got[:200]!r}")
            piece = os.read(self.stdout.fileno(), 1 << 20)
            if not piece:
                return b""
            self._got += piece
        line, _, self._got = self._got.partition(b"\n")
        return line

    def answer(self, name: int) -> dict[str, Any]:
        """The next message, which must be the answer to that id."""
        told: dict[str, Any] = json.loads(self.line())
        assert told["id"] == name, told
        return told

    def ask(self, method: str, params: object = None) -> dict[str, Any]:
        return self.answer(self.send(method, params))

    def open(self) -> list[str]:
        """Shake hands and list the tools."""
        self.ask("initialize", OPENING)
        self.say(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return [tool["name"] for tool in self.ask("tools/list")["result"]["tools"]]

    def call(self, name: str, **arguments: object) -> tuple[str, bool]:
        """Call a tool: what it says, and whether that is an error."""
        return said(self.ask("tools/call", {"name": name, "arguments": arguments}))

    def end(self) -> tuple[int, bytes, bytes]:
        """Close stdin and wait for the end: code, what was left on stdout, stderr."""
        self.stdin.close()
        code = self.process.wait(LONG)
        assert self.process.stderr is not None
        return code, self._got + self.stdout.read(), self.process.stderr.read()


def said(answer: dict[str, Any]) -> tuple[str, bool]:
    result = answer["result"]
    return result["content"][0]["text"], bool(result.get("isError"))


def wait_until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)
