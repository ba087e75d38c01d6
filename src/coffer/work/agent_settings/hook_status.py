"""What of ours stands in an agent's settings, whether it is as this build writes it, and whether it will run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from coffer.agents.hook_entries import look, read, require_taken
from coffer.agents.hook_table import HOOK_AGENTS
from coffer.core.json_edit import JsonRefused
from coffer.disk.agent_errors import ClientMissing, ClientRefused, ConfigBroken
from coffer.disk.places import Places
from coffer.errors import CofferError
from coffer.store.home import Home
from coffer.work.agent_settings import codex_trust
from coffer.work.agent_settings.agent_client import claude_version
from coffer.work.agent_settings.codex_trust import Trust
from coffer.work.agent_settings.install import (
    read_text,
    settings_path,
    stub_problems,
    switched_off_in,
    wanted_entries,
)


@dataclass(frozen=True, slots=True)
class HookStatus:
    """One agent's state.

    current: each entry is there once, as this build writes it, and no other of ours. missing: events without one.
    trust: None where the agent has none or could not be asked. problems: sentences, why hooks may not run. unasked:
    that of them which says why Codex could not be asked for its trust, "" where it was.
    """

    agent: str
    path: Path
    installed: bool = False
    current: bool = False
    copies: int = 0
    stale: int = 0
    missing: tuple[str, ...] = ()
    trust: Trust | None = None
    problems: tuple[str, ...] = ()
    unasked: str = ""

    @property
    def trusted(self) -> bool | None:
        """Whether the agent runs all of them; None where that is not known, or needs no trust."""
        return None if self.trust is None else self.trust.trusted

    @property
    def broken(self) -> bool:
        """Whether hooks that are there will not all run as they should, or nobody can tell what is there."""
        wrong = [said for said in self.problems if said != self.unasked]
        return bool(wrong) or (self.installed and (not self.current or self.trusted is False))


def hook_status(agent: str, environment: Mapping[str, str], places: Places, home: Home) -> HookStatus:
    """The state, with what the client itself says: Claude Code's version, Codex's trust. Never raises."""
    version = claude_version(environment) if agent == "claude" else None
    found = status(agent, places, home, version)
    if agent != "codex" or not found.installed:
        return found
    try:
        trust = codex_trust.ask(environment, places)
    except (ClientMissing, ClientRefused) as error:
        return replace(found, problems=(*found.problems, str(error)), unasked=str(error))
    return replace(found, trust=trust, problems=(*found.problems, *trust.problems))


def status(agent: str, places: Places, home: Home, version: tuple[int, ...] | None = None) -> HookStatus:
    """The state by the files alone. version: of the client, None where it is not known. Never raises."""
    path = settings_path(agent, places)
    try:
        wanted = wanted_entries(agent, home, version)
        _, text = read_text(path)
        hooks = read(text or "")
        found = look(hooks, wanted)
    except JsonRefused as error:
        return HookStatus(agent, path, problems=(str(ConfigBroken(str(path), error.line, error.reason)),))
    except CofferError as error:
        return HookStatus(agent, path, problems=(str(error),))
    problems = switched_off_in(text) if agent == "claude" else ()
    try:
        require_taken(hooks, HOOK_AGENTS[agent].dialect)
    except JsonRefused as error:
        problems += (str(ConfigBroken(str(path), error.line, error.reason)),)
    if found.copies:
        problems += stub_problems(home)
    current = found.current and found.copies > 0
    return HookStatus(
        agent, path, found.copies > 0, current, found.copies, found.stale, found.missing, None, problems
    )
