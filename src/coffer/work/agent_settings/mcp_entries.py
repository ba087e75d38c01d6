"""Coffer's MCP server in the agents' configuration, made and removed by their own commands.

The one edit of ours is `mcp__coffer` in Claude Code's `permissions.allow`, with the person's consent: without it every
call of our tools asks, and `-p` refuses.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from coffer.agents.claude_permissions import Allowed, allow, forbid
from coffer.core.json_edit import JsonRefused
from coffer.disk.agent_errors import ClientRefused, ConfigBroken, ServerMissing
from coffer.disk.config_file import require_writable
from coffer.disk.places import Places
from coffer.errors import CofferError
from coffer.store.home import Home
from coffer.work.agent_settings.agent_client import run_client
from coffer.work.agent_settings.config_write import FORBIDDEN, PERMITTED, open_installs
from coffer.work.agent_settings.install import InstallPlan, read_text, settings_path

NAME = "coffer"


@dataclass(frozen=True, slots=True)
class Entry:
    """Whether an agent has an entry of our name, and the words with which it starts the server."""

    present: bool
    words: tuple[str, ...] = ()

    def is_ours(self, agent: str, home: Home) -> bool:
        """Whether it is as this build would make it."""
        return self.words == _words(agent, home)

    def is_a_former(self, agent: str) -> bool:
        """Whether it runs a server of Coffer's, wherever that lay: anything else of our name is somebody else's."""
        name = self.words[0].rsplit("/", 1)[-1] if self.words else ""
        return self.present and name == "coffer-mcp" and self.words[1:] in ((agent,), ())


def server_path(home: Home) -> Path:
    """Where the command of the MCP server lies."""
    return home.root / "bin" / "coffer-mcp"


def has_server(home: Home) -> bool:
    """Whether there is a server to make an entry for."""
    return os.access(server_path(home), os.X_OK)


def add(agent: str, home: Home, environment: Mapping[str, str]) -> bool:
    """Make the entry for the user, by the agent's own command; whether there was anything to do.

    Raises ServerMissing, ClientMissing, ClientRefused.
    """
    if not has_server(home):
        raise ServerMissing(str(server_path(home)))
    found = look_up(agent, environment)
    if found.is_ours(agent, home):
        return False
    if found.present:
        remove(agent, environment)  # another path, or another form
    words = ("mcp", "add", NAME, *_SCOPE[agent], "--", *_words(agent, home))
    run_client(agent, *words, environment=environment)
    if not look_up(agent, environment).is_ours(agent, home):  # it may end well and have done nothing
        file = servers_file(agent, environment)
        raise ClientRefused(" ".join([agent, *words]), f"it ended well, and {file} has no such server")
    return True


def remove(agent: str, environment: Mapping[str, str]) -> bool:
    """Take the entry out; whether there was one. Raises ClientMissing, ClientRefused."""
    if not look_up(agent, environment).present:
        return False
    run_client(agent, "mcp", "remove", NAME, *_SCOPE[agent], environment=environment)
    return True


_SCOPE = {"claude": ("--scope", "user"), "codex": ()}


def _words(agent: str, home: Home) -> tuple[str, ...]:
    return (str(server_path(home)), agent)


def look_up(agent: str, environment: Mapping[str, str]) -> Entry:
    """The entry of our name for the user, from the file that holds it: `mcp get` would start the server to try it."""
    said = _claude_servers(environment) if agent == "claude" else _codex_servers(environment)
    entry = said.get(NAME) if isinstance(said, dict) else None
    if not isinstance(entry, dict):
        return Entry(present=False)
    args = entry.get("args")
    return Entry(
        present=True, words=(str(entry.get("command")), *map(str, args if isinstance(args, list) else ()))
    )


def servers_file(agent: str, environment: Mapping[str, str]) -> Path:
    """The file in which an agent keeps the user's servers."""
    if agent == "claude":
        folder = environment.get("CLAUDE_CONFIG_DIR") or environment.get("HOME") or Path.home()
        return Path(folder).absolute() / ".claude.json"
    return Places.of(environment).codex.absolute() / "config.toml"


def _claude_servers(environment: Mapping[str, str]) -> Any:
    try:
        said = json.loads(servers_file("claude", environment).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None  # none, or broken: then the client itself says so
    return said.get("mcpServers") if isinstance(said, dict) else None


def _codex_servers(environment: Mapping[str, str]) -> Any:
    try:
        said = tomllib.loads(servers_file("codex", environment).read_text("utf-8"))
    except (OSError, ValueError):
        return None  # as above
    return said.get("mcp_servers")


def plan_permission(places: Places) -> InstallPlan:
    """What allowing our tools in Claude Code's settings would write. Never raises."""
    return _planned(places, PERMITTED, ())


def plan_no_permission(places: Places, home: Home) -> InstallPlan:
    """What taking that out again would write."""
    path = settings_path("claude", places)
    found = open_installs(home, path, None, PERMITTED)
    return _planned(places, FORBIDDEN, tuple(msgspec.convert(one.data["allowed"], Allowed) for one in found))


def _planned(places: Places, kind: str, before: tuple[Allowed, ...]) -> InstallPlan:
    path = settings_path("claude", places)
    config, text, done = None, None, Allowed()
    try:
        config, text = read_text(path)
        if kind == PERMITTED:
            after, done = allow(text)
        else:
            after = forbid(text, before)
        if after != text:
            require_writable(config)
    except JsonRefused as error:
        problem: CofferError = ConfigBroken(str(path), error.line, error.reason)
    except CofferError as error:
        problem = error
    else:

        def edit(text: str | None) -> str | None:
            return allow(text)[0] if kind == PERMITTED else forbid(text, before)

        kept = {"allowed": msgspec.to_builtins(done)}
        return InstallPlan("claude", kind, path, config, text, after, kept=kept, edit=edit)
    return InstallPlan("claude", kind, path, config, text, text, problems=(problem,))
