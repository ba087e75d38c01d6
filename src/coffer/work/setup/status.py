"""How things stand: each agent's hooks, and what every open session was sent and has. Reads, and writes nothing."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from coffer.agents.hook_table import HOOK_AGENTS
from coffer.core.regex import regex
from coffer.disk.places import Places
from coffer.disk.sessions import MAIN, Found, find_sessions
from coffer.errors import CofferError
from coffer.store.db import database
from coffer.store.deliveries import STATES, Delivery, last, of_transcript
from coffer.store.fired import fired
from coffer.store.home import Home
from coffer.work.agent_settings import codex_trust
from coffer.work.agent_settings.agent_client import client_version
from coffer.work.agent_settings.codex_trust import Trust
from coffer.work.agent_settings.config_write import INSTALLED
from coffer.work.agent_settings.hook_status import HookStatus
from coffer.work.agent_settings.hook_status import status as hook_status
from coffer.work.receipts import all_receipts
from coffer.work.sessions.holders import Holders
from coffer.work.sessions.listing import Listed, Stood, listing

SILENT_AFTER = 120.0
"""Seconds. A session that was written to this long after it began must have fired a hook."""
_HEAD = 1 << 16
_TIME = regex(rb'"timestamp": ?"([0-9T:.+Z-]{19,40})"')


@dataclass(frozen=True, slots=True)
class AgentStatus:
    """An agent's hooks. version: of the client, "" where it can't be asked. fired, confirmed: seconds since the epoch.

    silent: a session that began since the hooks are there and called none of them, as a phrase; "" for none.
    """

    hooks: HookStatus
    version: str
    fired: float
    confirmed: float
    silent: str


@dataclass(frozen=True, slots=True)
class SessionStatus:
    """An open session. deliveries: how many are in which state; rules: how many rules stood in those."""

    listed: Listed
    deliveries: Mapping[str, int]
    rules: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Clients:
    """What only the clients themselves can say, which takes a second: asked once, also by who looks again."""

    versions: Mapping[str, tuple[int, ...] | None]
    trust: Trust | None

    @classmethod
    def asked(cls, environment: Mapping[str, str], places: Places, home: Home) -> Clients:
        """Ask them. One that isn't there says nothing."""
        versions = {agent: client_version(agent, environment) for agent in HOOK_AGENTS}
        trust = None
        if hook_status("codex", places, home).installed:
            with suppress(CofferError):  # one that can't be asked: unknown
                trust = codex_trust.ask(environment, places)
        return cls(versions, trust)


def agents_status(home: Home, places: Places, clients: Clients) -> list[AgentStatus]:
    """Each agent whose hooks Coffer can use. Raises StoreFailed."""
    sessions = find_sessions(places)
    found = []
    for agent in HOOK_AGENTS:
        version = clients.versions.get(agent)
        hooks = hook_status(agent, places, home, version)
        if agent == "codex" and hooks.installed:
            hooks = replace(hooks, trust=clients.trust)
        heard, confirmed = _last(home, agent)
        when = max(heard, fired(home, agent))
        silent = _silent(home, hooks, when, sessions) if hooks.installed else ""
        found.append(
            AgentStatus(hooks, ".".join(map(str, version)) if version else "", when, confirmed, silent)
        )
    return found


def _last(home: Home, agent: str) -> tuple[float, float]:
    """When something was sent to an agent last, and when something was last seen to have arrived."""
    if not home.database.exists():
        return 0.0, 0.0
    with database(home, write=False) as connection:
        sent, confirmed = last(connection, agent), last(connection, agent, "confirmed")
    return (sent.moment if sent else 0.0), (_seen(confirmed) if confirmed else 0.0)


def _seen(delivery: Delivery) -> float:
    try:
        return datetime.fromisoformat(delivery.seen).timestamp()
    except ValueError:
        return delivery.moment


def _silent(home: Home, hooks: HookStatus, heard: float, sessions: Iterable[Found]) -> str:
    """The newest session that should have been heard of and was not."""
    since = max(_installed(home, hooks), heard)
    for one in sessions:
        if one.agent != hooks.agent or one.kind != MAIN:
            continue
        if one.modified < since + SILENT_AFTER:
            return ""  # the newest come first
        begun = _begun(one.path)
        if begun > since and one.modified > begun:
            return f"session {one.id[:8]} began since and called none of them"
    return ""


def _installed(home: Home, hooks: HookStatus) -> float:
    """Since when the entries stand there."""
    times = [
        datetime.fromisoformat(one.time).timestamp()
        for one in all_receipts(home)
        if one.kind == INSTALLED and one.agent == hooks.agent
    ]
    try:
        return max(times) if times else hooks.path.stat().st_mtime
    except OSError:
        return 0.0


def _begun(path: Path) -> float:
    """When a session began, by its first record that has a time; 0 where none has one."""
    try:
        with path.open("rb") as file:
            found = _TIME.search(file.read(_HEAD))
        return datetime.fromisoformat(found[1].decode()).timestamp() if found else 0.0
    except (OSError, ValueError):
        return 0.0


def open_sessions(
    home: Home, places: Places, environment: Mapping[str, str], known: Mapping[Path, Stood] | None = None
) -> list[SessionStatus]:
    """The sessions that a client has open, with what was sent to each. known: as for `listing`. Raises StoreFailed."""
    every = find_sessions(places)
    held = Holders(places)
    live = [one for one in every if one.kind == MAIN and held.of(one.agent, one.id)]
    return [_with_deliveries(home, one) for one in listing(live, places, environment, every, known)]


def _with_deliveries(home: Home, listed: Listed) -> SessionStatus:
    path = listed.found.path
    real = Path(os.path.realpath(path.parent)) / path.name
    sent: list[Delivery] = []
    if home.database.exists():
        with database(home, write=False) as connection:
            sent = of_transcript(connection, str(real))
    rules: Counter[str] = Counter()
    for state in STATES:
        rules[state] = len({rule for one in sent if one.state == state for rule in one.rules})
    return SessionStatus(listed, Counter(one.state for one in sent), rules)


def agent_as_json(item: AgentStatus) -> dict[str, Any]:
    """An agent for programs."""
    hooks = item.hooks
    return {
        "agent": hooks.agent,
        "version": item.version or None,
        "path": str(hooks.path),
        "installed": hooks.installed,
        "current": hooks.current,
        "trusted": hooks.trusted,
        "last_fired": round(item.fired, 3) or None,
        "last_confirmed": round(item.confirmed, 3) or None,
        "silent": item.silent,
        "problems": list(hooks.problems),
    }


def session_as_json(item: SessionStatus) -> dict[str, Any]:
    """A session for programs."""
    listed = item.listed
    return {
        "agent": listed.found.agent,
        "session": listed.found.id,
        "path": str(listed.found.path),
        "folder": listed.folder,
        "tokens": listed.tokens,
        "window": listed.window,
        "window_used": round(listed.fill, 4),
        "live": [{"pid": holder.pid, "status": holder.status} for holder in listed.holders],
        "deliveries": {state: item.deliveries.get(state, 0) for state in STATES},
        "rules": {state: item.rules.get(state, 0) for state in STATES},
        "problem": listed.problem,
    }
