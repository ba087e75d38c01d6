"""A machine on which Coffer is set up, with clients that only do what `coffer up` asks of them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from coffer.daemon import life
from coffer.store.home import Home
from tests.cli.run import Done, Machine, conversation, put
from tests.hello_file import put_hello

SETTINGS = '{\n  "model": "opus",\n  "permissions": {"allow": ["Bash"]}\n}\n'
RULE = "Do not count the tides at night."
CLAUDE = r"""#!/bin/sh
echo "$*" >> "$HOME/calls"
case "$1 $2" in
"mcp add")
  printf '{"numStartups": 5, "mcpServers": {"%s": {"command": "%s", "args": ["%s"]}}}' "$3" "$7" "$8" \
    > "$HOME/.claude.json" ;;
"mcp remove") echo '{"numStartups": 5, "mcpServers": {}}' > "$HOME/.claude.json" ;;
"--version ") echo "2.1.197 (Claude Code)" ;;
esac
"""
STATE = '{"numStartups": 5}'


@dataclass(frozen=True, slots=True)
class Place:
    """machine: with Claude Code's folder and command, and a rule of the person's."""

    machine: Machine

    @property
    def home(self) -> Home:
        return Home(self.machine.home / ".coffer")

    @property
    def settings(self) -> Path:
        return self.machine.home / ".claude" / "settings.json"

    @property
    def state(self) -> Path:
        return self.machine.home / ".claude.json"

    def files(self) -> dict[str, bytes]:
        """Everything in the home but Coffer's own folder and what the clients note."""
        paths = [path for path in self.machine.home.rglob("*") if path.is_file()]
        own = (self.home.root, self.machine.home / ".cache")
        kept = [
            path
            for path in paths
            if path.name != "calls" and not any(path.is_relative_to(one) for one in own)
        ]
        return {str(path): path.read_bytes() for path in kept}

    def under(self, *words: str, **more: str) -> Done:
        """Run it with more variables set."""
        return replace(self.machine, environment=self.machine.environment | more).alone(*words)

    def end(self) -> None:
        """End the daemon, by its pid and start."""
        life.stop(self.home)


@contextmanager
def place(root: Path) -> Iterator[Place]:
    """A place of its own; whatever daemon of it runs at the end is ended."""
    house, folder, clients = root / "home", root / "work", root / "clients"
    for each in (house / ".claude", folder, clients):
        each.mkdir(parents=True)
    (clients / "claude").write_text(CLAUDE)
    (clients / "claude").chmod(0o755)
    made = Place(Machine(house, folder, {"PATH": f"{clients}:/usr/bin:/bin"}))
    made.settings.write_text(SETTINGS)
    made.state.write_text(STATE)
    put_hello(made.home)
    put(made.machine, conversation())  # a sample session takes longer to show
    assert made.machine.alone("digest", "add", RULE, "--global", "--yes").code == 0
    try:
        yield made
    finally:
        made.end()


def eventually(true: Callable[[], object], seconds: float = 60.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if true():
            return True
        time.sleep(0.05)
    return False


def kill_daemon(home: Home) -> None:
    """As the system does it where memory is short."""
    known = life.running(home)
    assert known is not None
    os.kill(known.pid, signal.SIGKILL)
    assert eventually(lambda: not known.lives)


@contextmanager
def stranger(path: Path) -> Iterator[None]:
    """Somebody else who listens on a socket and says nothing that one of ours would."""
    code = (
        "import os, socket, sys\n"
        "os.chdir(sys.argv[1]); s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[2]); s.listen()\n"
        "print('up', flush=True)\n"
        "while True:\n c, _ = s.accept(); c.recv(9999)\n"
        " c.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nhi')\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path.parent), path.name], stdout=subprocess.PIPE
    ) as listener:
        assert listener.stdout is not None
        assert listener.stdout.readline() == b"up\n"
        try:
            yield
        finally:
            listener.kill()


def listens(path: Path) -> bool:
    """Whether anybody listens there."""
    with socket.socket(socket.AF_UNIX) as asking:
        return asking.connect_ex(str(path)) == 0
