"""Where the agents keep their sessions on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct


class Places(Struct, frozen=True):
    """The folders of each agent: Claude Code's configuration folder and Codex's home."""

    claude: Path
    codex: Path

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Places:
        """From CLAUDE_CONFIG_DIR and CODEX_HOME, else below HOME (facts/claude-code §9, facts/codex §3)."""
        home = Path(environment.get("HOME") or Path.home())
        return cls(
            Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude"),
            Path(environment.get("CODEX_HOME") or home / ".codex"),
        )
