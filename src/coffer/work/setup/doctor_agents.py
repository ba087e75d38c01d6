"""The doctor's checks of one agent: its client, our entries, whether they work, and whether anything ever arrived."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from coffer.agents.codex_hooks import TRUST_STEPS
from coffer.agents.hook_table import HOOK_AGENTS
from coffer.store.db import database
from coffer.store.deliveries import last
from coffer.store.home import Home
from coffer.work.agent_settings import mcp_entries
from coffer.work.agent_settings.agent_client import client_version, find_client
from coffer.work.agent_settings.config_write import ADDED, open_installs
from coffer.work.agent_settings.install import stub_problems
from coffer.work.agent_settings.native_memory import memory_status, wished
from coffer.work.delivery.bundles import bundle_for
from coffer.work.delivery.rehearse import Rehearsal, both_forms, installed, rehearse
from coffer.work.setup.doctor_row import Patient, Row
from coffer.work.setup.setup import memory_wishes
from coffer.work.setup.status import Clients, agents_status

SLOW = 0.8
"""Seconds that a hook may take (DESIGN section 8)."""
_NOT_HERE = Path("/")
_HOSTILE = {"PYTHONPATH": "/nonexistent", "PYTHONHOME": "/nonexistent", "PYTHONSAFEPATH": "0"}
"""What a person's environment may hold, and what would break any other Python program."""


def client(patient: Patient, agent: str) -> Iterator[Row]:
    """Its command and version."""
    found = find_client(agent, patient.ground.environment)
    title = HOOK_AGENTS[agent].dialect.title
    if found is None:
        remedy = (
            f"Put `{agent}` on the PATH, if you use it: its version, trust and MCP server can't be asked."
        )
        yield Row(
            "client", f"{title} has a folder, and no `{agent}` is on the PATH", "warning", remedy, agent
        )
        return
    version = client_version(agent, patient.ground.environment)
    if version is None:
        remedy = f"Try `{agent} --version`: the entries are written for a version that nothing is known of."
        yield Row("client", f"{found} does not say its version", "warning", remedy, agent)
        return
    yield Row("client", f"{title} {'.'.join(map(str, version))}", agent=agent)


def entries(patient: Patient, agent: str) -> Iterator[Row]:
    """Our entries, as this build writes them."""
    status = patient.status(agent)
    again = f"`coffer hooks install {agent}` brings them up to date."
    if not status.installed and not status.problems:
        yield Row("hooks", f"none in {status.path}", "warning", "`coffer up` puts them in.", agent, "hooks")
        return
    if status.installed and not status.current:
        stale = f", {status.stale} of them not as this version writes them" if status.stale else ""
        what = f"{status.copies} entries{stale}"
        missing = f"; none for {', '.join(status.missing)}" if status.missing and not status.stale else ""
        yield Row("hooks", what + missing, "fatal", again, agent, "hooks")
    elif status.installed:
        yield Row("hooks", f"{status.copies} entries in {status.path}", agent=agent)
    files = stub_problems(patient.ground.home)
    for problem in status.problems:
        if problem not in files and problem != status.unasked:  # those have a row of their own
            yield Row("hooks", problem, "fatal", f"Mend {status.path}, then `coffer up`.", agent)


def runs(patient: Patient, agent: str) -> Iterator[Row]:
    """The installed command, run as the agent would: where it stands, elsewhere, and in a hostile environment."""
    calls = installed(agent, patient.ground.places)
    if not calls:
        return
    environment, home = patient.ground.environment, patient.ground.home
    made = bundle_for(patient.folder, home, environment)
    other = bundle_for(_NOT_HERE, home, environment)
    first = rehearse(agent, calls[0], patient.folder, environment)
    tried = [(first, made.text), (rehearse(agent, calls[0], _NOT_HERE, environment), other.text)]
    tried += [(rehearse(agent, calls[0], patient.folder, environment, **_HOSTILE), made.text)]
    tried += [
        (rehearse(agent, one, patient.folder, environment), made.text) for one in both_forms(agent, home)
    ]
    mend = "`coffer doctor --fix` writes the hook's files anew."
    worst = next((one for one, _ in tried if one.problem), None)
    if worst is not None:
        yield Row("hook run", f"{worst.form}: {worst.problem}", "fatal", mend, agent, "files")
        return
    if any(expected and not one.context for one, expected in tried):
        found = "it prints nothing, though there are rules: no session gets them"
        yield Row("hook run", found, "fatal", mend, agent, "files")
        return
    yield _told(agent, [one for one, _ in tried], stale=any(one.context != said for one, said in tried))


def _told(agent: str, tried: list[Rehearsal], *, stale: bool) -> Row:
    slowest = max(one.seconds for one in tried)
    found = f"{len(tried)} runs, exit code 0, {len(tried[0].context.encode()):,} bytes, at most {slowest * 1000:.0f} ms"
    if stale:
        remedy = "`coffer daemon stop` and `start` renew what it answers from."
        return Row("hook run", f"{found}; not the rules of now", "warning", remedy, agent, "bundles")
    if slowest > SLOW:
        return Row("hook run", found, "warning", "The machine is busy, or the disk slow: try again.", agent)
    return Row("hook run", found, agent=agent)


def trust(patient: Patient, agent: str) -> Iterator[Row]:
    """Whether Codex runs the entries at all."""
    status = patient.status(agent)
    if agent != "codex" or not status.installed:
        return
    if status.trust is None:
        yield Row("trust", f"unknown: {status.unasked}", "warning", TRUST_STEPS, agent)
    elif not status.trusted:
        states = ", ".join(sorted(set(status.trust.states.values()))) or "it does not list them"
        found = f"Codex runs none or not all of them: {states}"
        yield Row("trust", found, "fatal", TRUST_STEPS, agent, "trust")
    else:
        yield Row("trust", f"Codex trusts all {len(status.trust.states)} entries", agent=agent)


def server(patient: Patient, agent: str) -> Iterator[Row]:
    """The entry of the MCP server."""
    ground = patient.ground
    found = mcp_entries.look_up(agent, ground.environment)
    if found.is_ours(agent, ground.home):
        yield Row("MCP server", "its entry is there", agent=agent)
    elif found.is_a_former(agent):
        remedy = "`coffer up` renews it."
        yield Row("MCP server", f"its entry runs {found.words[0]}", "fatal", remedy, agent, "mcp")
    elif found.present:
        remedy = "Rename that one, then `coffer up`."
        yield Row("MCP server", "somebody else's server has the name “coffer”", "warning", remedy, agent)
    elif open_installs(ground.home, mcp_entries.servers_file(agent, ground.environment), None, ADDED):
        remedy = "`coffer up` adds it again."
        yield Row(
            "MCP server", "its entry is gone: the agent can propose no rule", "warning", remedy, agent, "mcp"
        )
    elif patient.status(agent).installed:
        yield Row("MCP server", "none; `coffer up` adds it, if you want it", agent=agent)


def deliveries(patient: Patient, agent: str) -> Iterator[Row]:
    """When a hook of it was last heard, when a delivery was last confirmed: installed but silent is an alarm."""
    if not patient.status(agent).installed:
        return
    ground = patient.ground
    every = agents_status(ground.home, ground.places, Clients({}, None))
    [found] = [one for one in every if one.hooks.agent == agent]
    told = f"last fired {_when(found.fired)}, last confirmed {_when(found.confirmed)}"
    if found.silent:
        debug = ", then `claude --debug hooks`" if agent == "claude" else ""
        remedy = f"Start a session and look again; then /hooks in it{debug}."
        yield Row("deliveries", f"installed but silent: {found.silent}; {told}", "fatal", remedy, agent)
    elif _missing(ground.home, agent):
        remedy = (
            "`coffer status` shows which sessions. The transcript has no trace of the text: please report it."
        )
        yield Row("deliveries", f"the last one did not arrive; {told}", "warning", remedy, agent)
    else:
        yield Row("deliveries", told, agent=agent)


def own_memory(patient: Patient, agent: str) -> Iterator[Row]:
    """Whether the agent's own memory is as the settings want it; nothing where they want nothing."""
    ground = patient.ground
    found = memory_status(agent, ground.environment, ground.places, ground.home, patient.folder)
    wishes = memory_wishes(agent, ground.home)
    if not wishes and not found.receipt:
        return
    for conflict in found.conflicts:
        yield Row("own memory", conflict, "warning", "`coffer native-memory status` tells more.", agent)
    if wished(wishes, ground.places, ground.home):
        what = "off" if wishes[agent] else "as it was"
        yield Row(
            "own memory",
            f"it is {found.state}, and the settings want it {what}",
            "warning",
            f"`coffer native-memory {'disable' if wishes[agent] else 'restore'} {agent}`, or `coffer up`.",
            agent,
            "memory",
        )
    elif not found.conflicts:
        yield Row("own memory", found.state, agent=agent)


def _when(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M UTC") if moment else "never"


def _missing(home: Home, agent: str) -> bool:
    if not home.database.exists():
        return False
    with database(home, write=False) as connection:
        newest = last(connection, agent)
    return newest is not None and newest.state == "missing"
