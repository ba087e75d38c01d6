"""`python -m bench`: measure all rows and write bench/RESULTS.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rich.console import Console

from bench import peer
from bench.files import STORE, Wanted, fresh_copy, made, placed
from bench.measure import Command, in_turns
from bench.results import Result, draw, write
from bench.rows import (
    COFFER,
    COLD_PIPE,
    FILE,
    FLOOR_TIMES,
    FLOORS,
    HOOK,
    PEER,
    PIPE,
    PYTHON,
    ROWS,
    RULES,
    Row,
)
from coffer.mcp import hello
from coffer.store.home import Home
from coffer.work.agent_settings.hook_files import write_hook
from coffer.work.agent_settings.mcp_files import write_mcp

BUNDLE_BYTES = 9_500
HOOK_STDIN = {
    "session_id": "0b7c1a52-6f0e-4a55-9c61-1f0d7d1c9b11",
    "transcript_path": "/home/dev/.claude/projects/-home-dev-work/0b7c1a52-6f0e-4a55-9c61-1f0d7d1c9b11.jsonl",
    "cwd": "/home/dev/work",
    "hook_event_name": "SessionStart",
    "source": "startup",
    "model": "claude-opus-4-8[1m]",
}
"""What the measured hook is told; it costs the same whatever the transcript's size, which it never opens."""

MCP_STDIN: tuple[dict[str, object], ...] = (
    {
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {"id": 1, "method": "tools/list"},
    {"id": 2, "method": "tools/call", "params": {"name": "restore", "arguments": {"id": "abcdef"}}},
)
"""What a client says; the measured pipes are told all but the call."""
STDIN = {HOOK: "hook-stdin.json", PIPE: "mcp-stdin.jsonl", COLD_PIPE: "mcp-stdin.jsonl"}


class Bench:
    """Where commands run, and by which programs. home: a temporary one, removed at the end."""

    def __init__(self, home: Path, *, with_peer: bool) -> None:
        self.home = home
        self.programs = {PYTHON: sys.executable, COFFER: str(Path(sys.executable).with_name("coffer"))}
        if with_peer:
            self.programs[PEER] = str(peer.installed())
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(home),
            "TMPDIR": str(home),
            "LANG": "C.UTF-8",
            "PYTHONPYCACHEPREFIX": str(STORE / "pyc"),
        }

    def command(self, row: Row, program: str, arguments: tuple[str, ...]) -> Command:
        """The command of one side of a row."""
        environment = self.environment | (peer.QUIET if program == PEER else {})
        prepare, place, stdin = None, Path(), Path(os.devnull)
        if row.file is not None:
            path = made(row.file)
            place = placed(path, self.home)
            if row.changes:
                place = self.home / ".claude" / "projects" / f"-home-dev-{program}" / place.name
                prepare = partial(fresh_copy, path, place, self.home)
        if row.program in STDIN and program == row.program:
            stdin = self.home / STDIN[row.program]
        filled = tuple(str(place) if argument == FILE else argument for argument in arguments)
        exits = row.exits if program == row.program else (0,)
        return Command((self.programs[program], *filled), environment, self.home, exits, prepare, stdin)

    def exists(self, name: str) -> bool:
        """Whether Coffer has a command of that name."""
        asked = [self.programs[COFFER], name, "--help"]
        return subprocess.run(asked, env=self.environment, capture_output=True, check=False).returncode == 0

    def measured(self, row: Row) -> Result:
        """Run both sides of a row in turns."""
        commands = []
        built = not row.needs or self.exists(row.needs)
        if built:
            commands.append(self.command(row, row.program, row.arguments))
        if row.against and row.against[0] in self.programs:
            commands.append(self.command(row, row.against[0], row.against[1:]))
        runs = in_turns(commands, row.times)
        ours = runs.pop(0) if built else None
        return Result(row, ours, runs[0] if runs else None)

    @contextmanager
    def hooked(self) -> Iterator[None]:
        """Install the hook in the home, with a stand-in for the daemon while the block runs."""
        home = Home(self.home / ".coffer")
        write_hook(home, Path(sys.executable))
        self.programs[HOOK] = str(home.root / "bin" / "coffer-hook")
        (self.home / "hook-stdin.json").write_text(json.dumps(HOOK_STDIN))
        script = Path(__file__).with_name("answerer.py")
        asked = [sys.executable, "-I", "-S", str(script), str(home.root), str(BUNDLE_BYTES)]
        with subprocess.Popen(asked, stdout=subprocess.PIPE) as answerer:
            assert answerer.stdout is not None
            answerer.stdout.readline()
            try:
                yield
            finally:
                answerer.kill()

    @contextmanager
    def piped(self) -> Iterator[None]:
        """Install the pipe in two homes, with MCP's part of the daemon for one of them while the block runs."""
        warm, cold = Home(self.home / "warm"), Home(self.home / "cold")
        for name, home in ((PIPE, warm), (COLD_PIPE, cold)):
            write_mcp(home, Path(sys.executable))
            hello.write(home)
            (home.root / "bin" / "daemon-command").write_bytes(b"/bin/true")
            self.programs[name] = str(home.root / "bin" / "coffer-mcp")
        lines = [json.dumps({"jsonrpc": "2.0", **said}) + "\n" for said in MCP_STDIN]
        (self.home / STDIN[PIPE]).write_text("".join(lines[:-1]))
        environment = self.environment | {"COFFER_HOME": str(warm.root)}
        words = [sys.executable, "-P", "-m", "coffer.mcp.run"]
        with subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL) as server:
            try:
                while not (warm.root / "mcp.sock").exists():
                    time.sleep(0.05)
                first = [self.programs[PIPE], "claude"]  # a call is answered when the SDK is imported
                with subprocess.Popen(
                    first, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                ) as pipe:
                    assert pipe.stdin is not None
                    assert pipe.stdout is not None
                    pipe.stdin.writelines(lines)
                    pipe.stdin.flush()
                    for _ in range(3):
                        pipe.stdout.readline()
                yield
            finally:
                server.kill()

    def floors(self) -> dict[str, float]:
        """The floors, in a process of their own."""
        script = Path(__file__).with_name("floors.py")
        asked = [sys.executable, str(script), str(made(FLOORS)), str(FLOOR_TIMES)]
        said = subprocess.run(asked, env=self.environment, capture_output=True, text=True, check=True)
        seconds: dict[str, float] = json.loads(said.stdout)
        return seconds

    def inside(self) -> dict[str, float]:
        """The daemon's own numbers, in a home with rules."""
        house = self.home / "inside"
        house.mkdir()
        environment = self.environment | {"HOME": str(house)}
        for number in range(RULES):
            rule = f"Do not use the old tool number {number} for anything at all."
            words = [self.programs[COFFER], "digest", "add", "--global", "--hard", "--yes", rule]
            subprocess.run(words, env=environment, cwd=house, capture_output=True, check=True)
        files = [str(made(Wanted(200))), str(made(Wanted(20)))]
        asked = [sys.executable, "-m", "bench.inside", *files, str(house)]
        root = Path(__file__).parents[1]
        said = subprocess.run(asked, env=environment, cwd=root, capture_output=True, text=True, check=True)
        found: dict[str, float] = json.loads(said.stdout)
        return found


def main() -> None:
    with_peer = os.environ.get("PEER") == "1"
    before = os.getloadavg()[0]
    STORE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="home-", dir=STORE) as folder:
        bench = Bench(Path(folder), with_peer=with_peer)
        console = Console(stderr=True)
        results = []
        with bench.hooked(), bench.piped():
            for row in ROWS:
                console.print(f"measuring: {row.name}")
                results.append(bench.measured(row))
        peer.check_quiet(bench.home)
        console.print("measuring: floors")
        floors = bench.floors()
        console.print("measuring: the daemon")
        inside = bench.inside()
    draw(results, floors, inside)
    write(results, floors, inside, (before, os.getloadavg()[0]))


if __name__ == "__main__":
    main()
