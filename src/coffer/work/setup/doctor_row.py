"""What a doctor's check is given, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from coffer.work.agent_settings.hook_status import HookStatus, hook_status
from coffer.work.setup.setup import Ground

Level = Literal["ok", "warning", "fatal"]
Fix = Literal["", "files", "hooks", "trust", "mcp", "daemon", "bundles", "modes", "memory"]
"""What Coffer can do about it itself; "": it is for the person."""


@dataclass(frozen=True, slots=True)
class Row:
    """One finding. remedy: what to do, "" where nothing is wrong. agent: "" for what concerns all."""

    check: str
    found: str
    level: Level = "ok"
    remedy: str = ""
    agent: str = ""
    fix: Fix = ""


@dataclass(slots=True)
class Patient:
    """What is examined. folder: where sessions are looked at from. daemon: its picture, by `cli.daemon.picture`.

    version: of this Coffer.
    """

    ground: Ground
    folder: Path
    daemon: Mapping[str, Any]
    version: str
    _status: dict[str, HookStatus] = field(default_factory=dict)

    def status(self, agent: str) -> HookStatus:
        """The state of an agent's hooks, asked once."""
        if agent not in self._status:
            ground = self.ground
            self._status[agent] = hook_status(agent, ground.environment, ground.places, ground.home)
        return self._status[agent]
