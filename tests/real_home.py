"""The guard that keeps tests away from the home of the person who runs them."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_AGENTS = (".claude", ".claude.json", ".codex", ".coffer", ".cozempic")
_PATH_EVENTS = frozenset(
    {
        "open",
        "os.chmod",
        "os.chown",
        "os.listdir",
        "os.link",
        "os.mkdir",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.scandir",
        "os.symlink",
        "os.truncate",
        "os.utime",
        "shutil.copyfile",
        "shutil.rmtree",
    }
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass(slots=True)
class RealHome:
    """Watches for what a test must not do: look into the agents' folders, or write anywhere in the home.

    allowed: folders below the home where tests may write: the project, the interpreter, caches of tools.
    """

    home: str
    allowed: tuple[str, ...]
    touched: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, environment: Mapping[str, str], project: Path) -> RealHome:
        """The home that the environment names before the tests change it."""
        home = os.path.realpath(environment.get("HOME") or Path.home())
        allowed = {str(project), sys.prefix, sys.base_prefix, sysconfig.get_path("purelib"), f"{home}/.cache"}
        temporary = environment.get("TMPDIR", "/tmp")  # noqa: S108  (compared with, never written to)
        return cls(home, (*(os.path.realpath(folder) for folder in allowed), os.path.realpath(temporary)))

    def hook(self, event: str, arguments: tuple[object, ...]) -> None:
        """Audit hook: note a forbidden touch and refuse it."""
        if event not in _PATH_EVENTS or self.home == "/":
            return
        for argument in arguments[:2]:
            if isinstance(argument, str | bytes | os.PathLike):
                path = os.path.abspath(os.fsdecode(argument))  # noqa: PTH100  (resolve would follow links)
                if self._is_forbidden(path, event, arguments):
                    self.touched.append(f"{event} {path}")
                    raise PermissionError(f"a test may not touch the real home: {event} {path}")

    def _is_forbidden(self, path: str, event: str, arguments: tuple[object, ...]) -> bool:
        if not path.startswith(self.home + os.sep):
            return False
        first = path[len(self.home) + 1 :].split(os.sep, 1)[0]
        if first in _AGENTS:
            return True
        if any(path == folder or path.startswith(folder + os.sep) for folder in self.allowed):
            return False
        if event == "open":
            flags = arguments[2] if len(arguments) > 2 else 0
            return isinstance(flags, int) and bool(flags & _WRITES)
        return event not in ("os.listdir", "os.scandir")
