"""What reading a file costs at the least: CPU seconds of single steps, inside one process.

Run as `python floors.py FILE TIMES`; prints a JSON object, step → seconds of the best of TIMES. Parsers get
lines that are split already. A parser that is not installed is left out.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from coffer.agents import claude

READ = "read + split"
NEEDED = "msgspec, a struct of just the needed fields"
WHOLE_ORJSON = "orjson, whole records"
WHOLE_JSON = "json, whole records"
OURS = "Coffer's own reader of a line"


class _Usage(Struct, gc=False):
    input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    output_tokens: int | None = 0


class _Message(Struct, gc=False):
    id: str | None = None
    usage: _Usage | None = None


class _Line(Struct, gc=False, rename="camel"):
    type: str
    uuid: str | None = None
    parent_uuid: str | None = None
    timestamp: str | None = None
    message: _Message | None = None


def _seconds(step: Callable[[], object], times: int) -> float:
    best = float("inf")
    for _ in range(times):
        started = time.process_time()
        step()
        best = min(best, time.process_time() - started)
    return best


def _each(parse: Callable[[bytes], object], lines: list[bytes]) -> Callable[[], None]:
    def step() -> None:
        for line in lines:
            parse(line)

    return step


def floors(path: Path, times: int) -> dict[str, float]:
    """Step → CPU seconds."""
    lines = [line for line in path.read_bytes().split(b"\n") if line]
    steps: dict[str, Callable[[], object]] = {
        READ: lambda: path.read_bytes().split(b"\n"),
        NEEDED: _each(msgspec.json.Decoder(_Line).decode, lines),
        OURS: _each(lambda line: claude.translate(line, 0), lines),
    }
    if find_spec("orjson") is not None:
        orjson: Any = import_module("orjson")
        steps[WHOLE_ORJSON] = _each(orjson.loads, lines)
    steps[WHOLE_JSON] = _each(json.loads, lines)
    return {name: _seconds(step, times) for name, step in steps.items()}


if __name__ == "__main__":
    print(json.dumps(floors(Path(sys.argv[1]), int(sys.argv[2]))))
