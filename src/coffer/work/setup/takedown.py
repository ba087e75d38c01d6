"""Coffer taken out of the agents again, and its own running parts removed.

What was written last is taken back first, so that a file which nobody else wrote to becomes what it was, byte for byte.
Each agent's part stands for itself, and works where only half is there: the agent may be gone, the database too.
"""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from coffer.agents.hook_entries import read
from coffer.agents.hook_table import HOOK_AGENTS
from coffer.core.json_edit import JsonRefused
from coffer.disk import config_file
from coffer.disk.live import codex_holder, holders
from coffer.disk.places import Places
from coffer.disk.replace import refusals
from coffer.errors import CofferError
from coffer.store.db import Receipt, database
from coffer.store.home import Home
from coffer.work.agent_settings import codex_trust, mcp_entries, native_memory
from coffer.work.agent_settings.agent_client import find_client
from coffer.work.agent_settings.client_writes import close_open, kept_keys, put_back, through_client
from coffer.work.agent_settings.config_write import ADDED, FORGOTTEN, KINDS, REMOVED, TRUSTED, digest, of_file
from coffer.work.agent_settings.hook_files import STUB, silence
from coffer.work.agent_settings.install import (
    InstallPlan,
    plan_removal,
    read_text,
    settings_path,
    uninstall,
    write,
)
from coffer.work.setup.setup import Ground, Outcome

RUNNING = (
    "bin",
    "daemon.sock",
    "daemon.json",
    "daemon.lock",
    "daemon-start.lock",
    "daemon-started",
    "mcp.sock",
    "mcp-hello.json",
    "bundles",
    "fired",
    "guard",
    "index.db",
    "index.db-wal",
    "index.db-shm",
    "run",
)
"""What of Coffer's own folder only serves a Coffer that is set up. `bin` goes first: a hook that still runs would start
the daemon again."""
KEPT = (
    "spool",
    "locks",
    "backups",
    "pruned",
    "memory",
    "coffer.db",
    "coffer.db-journal",
    "coffer.db-wal",
    "coffer.db-shm",
    "sent.jsonl",
    "first-start.json",
    "config.toml",
    "daemon.log",
    "daemon.log.1",
    "daemon.log.2",
    "daemon.log.3",
)
"""What only a purge deletes. By name: a COFFER_HOME may be a folder that holds other things, digests too."""


@dataclass(frozen=True, slots=True)
class AgentTakedown:
    """What would be taken out of one agent. server: its entry for our MCP server. keys: that Codex trusts us by.

    memory: the switch of the agent's own memory, put back.
    """

    agent: str
    hooks: InstallPlan
    permission: InstallPlan | None = None
    server: bool = False
    keys: tuple[str, ...] = ()
    memory: InstallPlan | None = None

    @property
    def title(self) -> str:
        """The agent's name for people."""
        return HOOK_AGENTS[self.agent].dialect.title

    @property
    def plans(self) -> tuple[InstallPlan, ...]:
        """What we write ourselves, in this order."""
        return tuple(one for one in (self.memory, self.permission, self.hooks) if one is not None)

    @property
    def problems(self) -> tuple[CofferError, ...]:
        """Why its settings can't be written."""
        return tuple({str(problem): problem for one in self.plans for problem in one.problems}.values())

    @property
    def wants(self) -> bool:
        """Whether anything of ours is there."""
        return self.server or bool(self.keys) or any(one.changed for one in self.plans)


@dataclass(slots=True)
class Removed:
    """What went of Coffer's own folder. left: names that are none of ours, or resisted. root: the folder too."""

    names: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    root: bool = False


def survey_removal(agent: str, ground: Ground) -> AgentTakedown:
    """What would be taken out. Writes nothing. Raises StoreFailed."""
    permission = mcp_entries.plan_no_permission(ground.places, ground.home) if agent == "claude" else None
    found = mcp_entries.look_up(agent, ground.environment)
    server = found.is_ours(agent, ground.home) or found.is_a_former(agent)
    keys = _keys(ground) if agent == "codex" else ()
    memory = native_memory.plan_restore(agent, ground.places, ground.home)
    return AgentTakedown(
        agent,
        plan_removal(agent, ground.places, ground.home),
        permission,
        server,
        keys,
        memory if memory.changed or memory.notes else None,
    )


def _keys(ground: Ground) -> tuple[str, ...]:
    """The keys of config.toml by which Codex trusts our entries: where they stand now, and those that we granted."""
    config = mcp_entries.servers_file("codex", ground.environment)
    try:
        said = tomllib.loads(config.read_text("utf-8"))
    except (OSError, ValueError):
        return ()  # none, or broken: then Codex itself says so
    hooks = said.get("hooks")
    states = hooks.get("state") if isinstance(hooks, dict) else None
    if not isinstance(states, dict):
        return ()
    places, file = _our_places(ground), os.path.realpath(settings_path("codex", ground.places))
    granted = set(kept_keys(config, ground.home))
    return tuple(key for key in states if key in granted or _is_at(key, file, places))


def _is_at(key: str, file: str, places: set[str]) -> bool:
    path, *place = key.rsplit(":", 3)
    return os.path.realpath(path) == file and ":".join(place) in places


def _our_places(ground: Ground) -> set[str]:
    """Where our entries stand, as Codex writes it: `session_start:0:0`."""
    try:
        _, text = read_text(settings_path("codex", ground.places))
        events = read(text or "").events
    except (CofferError, JsonRefused):
        return set()
    return {
        f"{re.sub(r'(?<!^)(?=[A-Z])', '_', event).lower()}:{number}:{index}"
        for event, groups in events.items()
        for number, group in enumerate(groups)
        for index in group.ours
    }


def take_down(one: AgentTakedown, ground: Ground) -> Outcome:
    """Take out an agent's part. Never raises: what fails stands in the outcome, and the rest is done."""
    done, home = Outcome(one.agent), ground.home
    if one.memory is not None:
        done.attempt(
            lambda: native_memory.restore(native_memory.plan_restore(one.agent, ground.places, home), home)
        )
    if one.permission is not None:
        if one.permission.changed:
            done.attempt(lambda: write(mcp_entries.plan_no_permission(ground.places, home), home))
        done.problems += one.permission.problems
    if one.hooks.changed:
        done.attempt(lambda: uninstall(plan_removal(one.agent, ground.places, home), home))
    done.problems += [p for p in one.hooks.problems if str(p) not in map(str, done.problems)]
    if one.keys:
        done.attempt(partial(_forget, one, ground))
    if one.server:
        done.attempt(partial(_remove_server, one.agent, ground))
    done.attempt(partial(_drop_baks, one, ground))
    return done


def _forget(one: AgentTakedown, ground: Ground) -> Receipt | None:
    path = mcp_entries.servers_file("codex", ground.environment)
    back = put_back(TRUSTED, path, ground.home)
    if back is not None:
        return back
    act = partial(codex_trust.forget, ground.environment, ground.places, one.keys)
    receipt = through_client(FORGOTTEN, "codex", path, ground.home, act)[1]
    close_open(TRUSTED, path, ground.home)
    return receipt


def _remove_server(agent: str, ground: Ground) -> Receipt | None:
    path = mcp_entries.servers_file(agent, ground.environment)
    back = put_back(ADDED, path, ground.home)
    if back is not None and not mcp_entries.look_up(agent, ground.environment).present:
        return back
    act = partial(mcp_entries.remove, agent, ground.environment)
    receipt = through_client(REMOVED, agent, path, ground.home, act)[1]
    close_open(ADDED, path, ground.home)
    return receipt


def _drop_baks(one: AgentTakedown, ground: Ground) -> None:
    """Remove the copies that we laid beside the settings; the same bytes lie in Coffer's backups."""
    files = {plan.path for plan in one.plans}
    files.add(mcp_entries.servers_file(one.agent, ground.environment))
    if not ground.home.database.exists():
        return
    with database(ground.home, write=False) as connection:
        kept = [(file, receipt) for file in files for receipt in of_file(connection, file)]
    ours = {str(receipt.data["digest_before"]) for _, receipt in kept if receipt.kind in (*KINDS, "undo")}
    names = [(file, str(receipt.data.get("bak") or "")) for file, receipt in kept]
    for bak in {
        path for file, name in names if name for path in (Path(name), file.with_name(Path(name).name))
    }:
        there = config_file.read(bak).data
        if there is not None and digest(there) in ours:
            with refusals(bak):
                bak.unlink(missing_ok=True)


def running_parts(home: Home) -> list[str]:
    """What lies in Coffer's folder of what only serves a Coffer that is set up."""
    return [name for name in RUNNING if os.path.lexists(home.root / name)]


def open_sessions(places: Places) -> int:
    """How many sessions clients have open: they call the hooks that they began with until they end."""
    locks = sorted((places.codex / "thread-writer-locks").glob("*.lock"))
    held = [lock for lock in locks if codex_holder(places, lock.stem) is not None]
    return len(holders(places)) + len(held)


def remove_programs(home: Home, *, silent: bool) -> Removed:
    """Remove what agents run, first of all: a hook would start the daemon again.

    silent: but for a stub that says nothing, since a client that runs tells its person of a command that is gone.
    Raises WriteFailed.
    """
    if not silent:
        return remove(home, ("bin",))
    silence(home)
    folder = home.root / "bin"
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return remove(home, [f"bin/{name}" for name in names if name != STUB])


def client_gone(one: AgentTakedown, ground: Ground) -> bool:
    """Whether an agent's command would be needed and is not there any more."""
    return (one.server or bool(one.keys)) and find_client(one.agent, ground.environment) is None


def remove(home: Home, names: Iterable[str]) -> Removed:
    """Remove these of Coffer's folder, and the folder if nothing is left in it. Links go, never what they lead to."""
    done = Removed()
    for name in names:
        path = home.root / name
        if not os.path.lexists(path):
            continue
        _remove(path)
        (done.left if os.path.lexists(path) else done.names).append(name)
    try:
        home.root.rmdir()
        done.root = True
    except OSError:
        done.left = sorted({*done.left, *_names(home)})
    return done


def _names(home: Home) -> list[str]:
    try:
        return os.listdir(home.root)  # noqa: PTH208  (names are wanted)
    except OSError:
        return []


def _remove(path: Path) -> None:
    """Remove a file or a folder; what resists stays and is named by the caller."""
    gone: Callable[[], None] = partial(shutil.rmtree, path, ignore_errors=True)
    if path.is_symlink() or not path.is_dir():
        gone = path.unlink
    try:
        gone()
    except OSError:
        return
