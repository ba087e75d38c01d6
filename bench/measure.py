"""CPU, wall time and peak memory of a command, measured on that very process.

CPU seconds decide: they are user + system time of the child as the kernel counted them, and other work on the
machine changes them less than the wall clock. Commands that are compared run in turns, so that a busy moment
meets both.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

_LAUNCHER = Path(__file__).with_name("launch.py")
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Command:
    """What to run. prepare: called before each run, not measured. exits: codes that count as done. stdin: a file."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    exits: tuple[int, ...] = (0,)
    prepare: Callable[[], None] | None = None
    stdin: Path = Path(os.devnull)


@dataclass(frozen=True, slots=True)
class Run:
    """One run: seconds of wall clock and of CPU, and peak resident memory in MB (10^6 bytes)."""

    wall: float
    cpu: float
    peak: float


@dataclass(frozen=True, slots=True)
class Measured:
    """All runs of one command."""

    runs: tuple[Run, ...]

    @property
    def cpu(self) -> float:
        """CPU seconds of the best run."""
        return min(run.cpu for run in self.runs)

    @property
    def median_cpu(self) -> float:
        """CPU seconds of the middle run."""
        return median(run.cpu for run in self.runs)

    @property
    def wall(self) -> float:
        """Wall seconds of the best run."""
        return min(run.wall for run in self.runs)

    @property
    def peak(self) -> float:
        """Peak memory of the hungriest run, MB."""
        return max(run.peak for run in self.runs)


class CommandFailed(Exception):
    """A measured command ended with a code that does not count as done."""

    def __init__(self, command: Command, code: int, said: str) -> None:
        super().__init__(f"{' '.join(command.argv)} ended with {code}.\n{said}")


def run_once(command: Command) -> Run:
    """Run a command with its output thrown away."""
    if command.prepare is not None:
        command.prepare()
    with command.stdin.open("rb") as stdin:
        launched = subprocess.run(
            [sys.executable, "-I", "-S", str(_LAUNCHER), *command.argv],
            env=dict(command.environment),
            cwd=command.folder,
            stdin=stdin,
            capture_output=True,
            text=True,
            check=True,
        )
    code, wall, cpu, peak = launched.stdout.split()
    if int(code) not in command.exits:
        raise CommandFailed(command, int(code), launched.stderr)
    return Run(float(wall), float(cpu), int(peak) * _RSS_UNIT / _MEGABYTE)


def in_turns(commands: Sequence[Command], times: int) -> list[Measured]:
    """Run all commands in turns, `times` rounds, after one round that only warms caches."""
    for command in commands:
        run_once(command)
    rounds = [[run_once(command) for command in commands] for _ in range(times)]
    return [Measured(tuple(runs)) for runs in zip(*rounds, strict=True)]
