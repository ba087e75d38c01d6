"""A session of 1 GB: memory stays bounded. Runs where COFFER_SLOW=1."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.run import COMMAND, Machine, conversation, snapshot
from tests.transcripts import SESSION, encode, time, uid

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.environ.get("COFFER_SLOW") != "1", reason="writes 1 GB: COFFER_SLOW=1"),
]

MOST = 250_000_000
"""Bytes of memory that a command may take at its peak."""


def peak(machine: Machine, *arguments: str) -> tuple[int, int]:
    """Exit code and peak memory, in bytes, of one command."""
    program = (
        "import json, resource, subprocess, sys\n"
        "done = subprocess.run(json.loads(sys.argv[1]), stdout=subprocess.DEVNULL)\n"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", program, json.dumps([*COMMAND, *arguments])],
        env=machine.env(),
        cwd=machine.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stderr == ""
    code, size = (int(word) for word in said.stdout.split())
    return code, size * (1 if sys.platform == "darwin" else 1024)


def write(path: Path, count: int, size: int) -> None:
    """`count` results of a tool, each with a sidecar of `size` bytes."""
    filler = b"x" * size
    with path.open("wb") as file:
        file.write(conversation().data)
        parent = uid("e")
        for number in range(count):
            record = {
                "parentUuid": parent,
                "isSidechain": False,
                "type": "user",
                "uuid": uid(f"big{number}"),
                "timestamp": time(10_000 + number),
                "sessionId": SESSION,
                "message": {"role": "user", "content": f"word {number}"},
                "toolUseResult": {"stdout": "FILLER"},
            }
            before, after = encode(record).split(b"FILLER")
            file.write(before)
            file.write(filler)
            file.write(after + b"\n")
            parent = uid(f"big{number}")


@pytest.mark.parametrize(
    ("count", "size"),
    [(1_000, 1_000_000), (500_000, 1_500)],
    ids=["of few large lines", "of many small lines"],
)
def test_a_session_of_one_gigabyte(machine: Machine, count: int, size: int) -> None:
    path = machine.folder / "large.jsonl"
    write(path, count, size)
    assert path.stat().st_size > 900_000_000
    limit = MOST if count < 10_000 else 4 * MOST  # a record costs memory, its bytes don't
    before = snapshot(machine.home), path.stat().st_mtime_ns
    for command in ("show", "check", "view"):
        code, used = peak(machine, command, "./large.jsonl")
        assert code in (0, 1)
        assert used < limit, f"{command}: {used / 1e6:.0f} MB"
    assert (snapshot(machine.home), path.stat().st_mtime_ns) == before


def test_a_line_of_100_megabytes_is_not_held_many_times(machine: Machine) -> None:
    path = machine.folder / "large.jsonl"
    write(path, 1, 100_000_000)
    _, used = peak(machine, "show", "./large.jsonl")
    assert used < 500_000_000
