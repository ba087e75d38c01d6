"""Who calls: what a pipe says of its session in its first line. Nothing of it comes from a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote_to_bytes

from coffer.store.home import Home

HELLO = b"coffer-mcp 1"
READY = HELLO + b" ready"
LONGEST = 65_536
"""Bytes of a first line."""
_AGENTS = ("claude", "codex")


@dataclass(frozen=True, slots=True)
class Caller:
    """The session at the other end. folder: where it works; environment: the few variables that pipe.py tells."""

    agent: str
    folder: str
    parent: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def session(self) -> str:
        """The id that the session had when it was launched, "" where its agent tells none."""
        return self.environment.get("CLAUDE_CODE_SESSION_ID", "")


@dataclass(frozen=True, slots=True)
class House:
    """Where the tools do their work: Coffer's folder, the person's home folder, and the present moment.

    environment: the daemon's own, for programs that a tool asks.
    """

    home: Home
    user: Path
    now: Callable[[], datetime]
    environment: Mapping[str, str] = field(default_factory=dict)


def caller_of(line: bytes) -> Caller | None:
    """What a first line says; None where it is none of ours, or of another version."""
    name, version, *words = (*line.rstrip(b"\n").split(b" "), b"")
    if name + b" " + version != HELLO:
        return None
    told = {}
    for word in words:
        name, _, value = word.partition(b"=")
        told[name.decode("ascii", "replace")] = os.fsdecode(unquote_to_bytes(value))
    agent, parent = told.get("agent", ""), told.get("ppid", "")
    if agent not in _AGENTS:
        return None
    variables = {name[4:]: value for name, value in told.items() if name.startswith("env.")}
    return Caller(agent, told.get("cwd", ""), int(parent) if parent.isdigit() else 0, variables)
