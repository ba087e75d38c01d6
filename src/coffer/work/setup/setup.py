"""Coffer set up for the agents of this machine: what would be done, and doing it.

An agent's part is planned, shown and carried out on its own: what goes wrong with one is no reason to leave the other.
The daemon is not started here, which is for the layers above.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from coffer.agents.codex_hooks import TRUST_STEPS
from coffer.agents.hook_table import HOOK_AGENTS
from coffer.disk import config_file
from coffer.disk.agent_errors import ClientMissing, ClientRefused
from coffer.disk.places import Places
from coffer.errors import CofferError, SettingsBroken
from coffer.store.db import Receipt
from coffer.store.held import held
from coffer.store.home import Home
from coffer.work.agent_settings import codex_trust, mcp_entries, native_memory
from coffer.work.agent_settings.agent_client import client_version, find_client
from coffer.work.agent_settings.client_writes import through_client
from coffer.work.agent_settings.config_write import ADDED, TRUSTED
from coffer.work.agent_settings.install import InstallPlan, install, plan, stub_problems, write
from coffer.work.agent_settings.mcp_files import SCRIPT, write_mcp
from coffer.work.delivery.bundle_files import published
from coffer.work.delivery.bundles import NO_PROJECT, publish_all
from coffer.work.settings import load

Part = Literal["there", "wanted", "taken", "no client", "left out", "unknown"]
"""taken: somebody else's entry has our name. left out: not asked for, or this agent has no such thing."""


HOOKS = "hooks"
"""The part without which nothing is delivered."""
UP_SECONDS = 120.0
"""For another that sets up: the agents' own commands take their time."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Where it is set up: the person's environment, the agents' folders, Coffer's home."""

    environment: Mapping[str, str]
    places: Places
    home: Home


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """What would be done for one agent. version: of its client, None where it can't be asked.

    permission: of our tools in Claude Code, None where it is not asked for. trust: of our entries in Codex. memory: the
    switch of the agent's own memory, where the settings want it otherwise than it is.
    """

    agent: str
    client: Path | None
    version: tuple[int, ...] | None
    hooks: InstallPlan
    permission: InstallPlan | None = None
    server: Part = "left out"
    trust: Part = "left out"
    notes: tuple[str, ...] = ()
    memory: InstallPlan | None = None

    @property
    def title(self) -> str:
        """The agent's name for people."""
        return HOOK_AGENTS[self.agent].dialect.title

    @property
    def plans(self) -> tuple[InstallPlan, ...]:
        """What we write ourselves."""
        return tuple(one for one in (self.hooks, self.permission, self.memory) if one is not None)

    @property
    def problems(self) -> tuple[CofferError, ...]:
        """Why nothing can be done for it."""
        return tuple(dict.fromkeys(problem for one in self.plans for problem in one.problems))

    @property
    def wants(self) -> bool:
        """Whether there is anything to do."""
        parts = self.server == "wanted" or self.trust == "wanted"
        return not self.problems and (parts or any(one.changed for one in self.plans))


@dataclass(slots=True)
class Outcome:
    """What became of one agent's part. failed: the parts that could not be done, in the words of the summary."""

    agent: str
    receipts: list[Receipt] = field(default_factory=list)
    problems: list[CofferError] = field(default_factory=list)
    trusted: bool | None = None
    failed: list[str] = field(default_factory=list)

    def attempt(self, step: Callable[[], Receipt | None], part: str = "") -> bool:
        """Do a step and keep its receipt or its error; whether it went well. part: what it is a step of."""
        try:
            receipt = step()
        except CofferError as error:
            self.problems.append(error)
            self.failed += [part] if part else []
            return False
        if receipt is not None:
            self.receipts.append(receipt)
        return True


def agents_here(ground: Ground) -> list[str]:
    """The agents of this machine: those that have a folder, or a command on the PATH."""
    return [
        name
        for name in HOOK_AGENTS
        if os.path.isdir(getattr(ground.places, name))  # noqa: PTH112  (False also where it may not be looked at)
        or find_client(name, ground.environment)
    ]


def survey(agent: str, ground: Ground, *, mcp: bool) -> AgentSetup:
    """What would be done for an agent. Writes nothing, never raises."""
    environment, places, home = ground.environment, ground.places, ground.home
    client = find_client(agent, environment)
    version = client_version(agent, environment) if client else None
    hooks = plan(agent, places, home, version if agent == "claude" else None)
    server: Part = _server(agent, ground, client) if mcp else "left out"
    allows = agent == "claude" and server in ("there", "wanted")  # without a server there is nothing to allow
    permission = mcp_entries.plan_permission(places) if allows else None
    trust, notes = _trust(hooks, ground, client) if agent == "codex" else ("left out", ())
    wish = native_memory.wished(memory_wishes(agent, home), places, home)
    return AgentSetup(
        agent, client, version, hooks, permission, server, trust, notes, wish[0] if wish else None
    )


@contextmanager
def setting_up(home: Home) -> Iterator[None]:
    """One at a time sets up here. Raises Busy, WriteFailed."""
    with held(home, home.root / "bin", UP_SECONDS):
        yield


def is_set_up_since(plans: Iterable[AgentSetup], ground: Ground) -> bool:
    """Whether an agent's files are not as they were planned for, or its server is there by now."""
    for one in plans:
        for plan_ in one.plans:
            if plan_.config is not None and config_file.read(plan_.path).data != plan_.config.data:
                return True
        if one.server == "wanted" and _server(one.agent, ground, one.client) != "wanted":
            return True
    return False


def memory_wishes(agent: str, home: Home) -> dict[str, bool]:
    """What the settings want of this agent's own memory; settings that can't be read want nothing."""
    try:
        wishes = load(home).native_memory
    except SettingsBroken:
        return {}  # `coffer doctor` tells
    return {agent: wishes[agent]} if agent in wishes else {}


def _server(agent: str, ground: Ground, client: Path | None) -> Part:
    found = mcp_entries.look_up(agent, ground.environment)
    if found.is_ours(agent, ground.home):
        return "there"
    if found.present and not found.is_a_former(agent):
        return "taken"
    return "wanted" if client else "no client"


def _trust(hooks: InstallPlan, ground: Ground, client: Path | None) -> tuple[Part, tuple[str, ...]]:
    if client is None:
        return "no client", (TRUST_STEPS,)
    if hooks.changed or hooks.problems:
        return "wanted", ()
    try:
        found = codex_trust.ask(ground.environment, ground.places)
    except (ClientMissing, ClientRefused) as error:
        return "unknown", (str(error), TRUST_STEPS)
    return "there" if found.trusted else "wanted", found.problems


def files_wanting(home: Home) -> tuple[str, ...]:
    """How the files that the agents run differ from what this Coffer would write, a sentence each."""
    found = stub_problems(home)
    script = home.root / "bin" / SCRIPT
    try:
        same = script.read_bytes() == resources.files("coffer").joinpath(SCRIPT).read_bytes()
    except OSError:
        same = False
    if not (same and mcp_entries.has_server(home)):
        found += (
            f"{script.parent / 'coffer-mcp'} is not there, or is not what this version of Coffer writes.",
        )
    return found


def write_files(home: Home) -> list[Path]:
    """Write the files that the agents run; those that changed. Raises WriteFailed."""
    return write_mcp(home, Path(sys.executable))


def first_bundle(ground: Ground, folder: Path) -> None:
    """Write the files by which hooks answer without the daemon, for this folder too. Raises Busy, WriteFailed."""
    roots = [Path(row.root) for row in published(ground.home) if row.root != NO_PROJECT]
    publish_all(ground.home, ground.environment, [*roots, folder])


def set_up(one: AgentSetup, ground: Ground) -> Outcome:
    """Carry out an agent's part; the files that it runs must be there (`write_files`). Never raises for one step."""
    done = Outcome(one.agent, problems=list(one.problems))
    if one.problems or not done.attempt(partial(install, one.hooks, ground.home), HOOKS):
        return done
    if one.permission is not None:
        done.attempt(
            lambda: write(mcp_entries.plan_permission(ground.places), ground.home),  # the file has changed
            "permission",
        )
    if one.memory is not None:
        done.attempt(lambda: switch_memory(one.agent, ground), "its own memory")
    if one.server == "wanted":
        done.attempt(partial(add_server, one.agent, ground), "MCP server")
    if one.trust == "wanted":
        done.attempt(partial(_grant, done, ground), "trust")
    elif one.trust == "there":
        done.trusted = True
    return done


def switch_memory(agent: str, ground: Ground) -> Receipt | None:
    """Switch an agent's own memory as the settings want it; None where it is so. Raises as `native_memory.carry`."""
    for wish in native_memory.wished(memory_wishes(agent, ground.home), ground.places, ground.home):
        return native_memory.carry(wish, ground.home)
    return None


def add_server(agent: str, ground: Ground) -> Receipt | None:
    """Add the MCP server by the agent's own command. Raises ServerMissing, ClientMissing, ClientRefused."""
    path = mcp_entries.servers_file(agent, ground.environment)
    act = partial(mcp_entries.add, agent, ground.home, ground.environment)
    return through_client(ADDED, agent, path, ground.home, act)[1]


def grant(ground: Ground) -> tuple[codex_trust.Trust, Receipt | None]:
    """Have Codex trust our entries. Raises ClientMissing, ClientRefused."""

    def keys(found: codex_trust.Trust) -> dict[str, Any]:
        return {"keys": sorted(found.states)}

    path = mcp_entries.servers_file("codex", ground.environment)
    act = partial(codex_trust.grant, ground.environment, ground.places)
    return through_client(TRUSTED, "codex", path, ground.home, act, keys)


def _grant(done: Outcome, ground: Ground) -> Receipt | None:
    found, receipt = grant(ground)
    done.trusted = found.trusted
    return receipt
