"""The agents' own memory, switched off on the person's word and put back exactly (the ADR's FR-052; DESIGN section 9).

Untouched unless asked for. What was there is kept in the receipt; a value that the person set since stays theirs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from coffer.agents.memory_switch import SWITCHES, Before, SwitchRefused, turn_back, turn_off, values
from coffer.disk.agent_errors import ConfigBroken
from coffer.disk.config_file import require_writable
from coffer.disk.places import Places
from coffer.errors import CofferError, PrunedContentMissing
from coffer.store.db import Receipt
from coffer.store.home import Home
from coffer.work.agent_settings.client_writes import close_open
from coffer.work.agent_settings.config_write import (
    DISABLED,
    RESTORED,
    as_begun,
    bring_back,
    digest,
    open_installs,
)
from coffer.work.agent_settings.install import InstallPlan, read_text, write

State = Literal["on", "off", "off by Coffer"]
_LOCAL = (".claude/settings.local.json", ".claude/settings.json")
"""Of a project, and they outrank the user's own."""


@dataclass(frozen=True, slots=True)
class MemoryStatus:
    """How one agent's memory stands. conflicts: a sentence each on what says otherwise."""

    agent: str
    path: Path
    state: State
    receipt: str = ""
    conflicts: tuple[str, ...] = ()
    problem: CofferError | None = None
    keys: Mapping[str, Any] = field(default_factory=dict)


def switch_path(agent: str, places: Places) -> Path:
    """The file that holds an agent's switch."""
    folder: Path = getattr(places, agent)
    return folder.absolute() / SWITCHES[agent].file


def memory_status(
    agent: str, environment: Mapping[str, str], places: Places, home: Home, folder: Path | None = None
) -> MemoryStatus:
    """How an agent's memory stands for sessions in a folder. Raises StoreFailed; else never."""
    path, switch = switch_path(agent, places), SWITCHES[agent]
    try:
        config, text = read_text(path)
        found = values(text, switch)
    except SwitchRefused as error:
        problem = ConfigBroken(str(path), error.line, error.reason)
        return MemoryStatus(agent, path, "on" if switch.default else "off", problem=problem)
    except CofferError as error:
        return MemoryStatus(agent, path, "on" if switch.default else "off", problem=error)
    ours = open_installs(home, path, config.data, DISABLED)
    first = found[0] if isinstance(found[0], bool) else switch.default
    state: State = "on" if first else "off by Coffer" if ours and first is False else "off"
    keys = {".".join(key): value for key, value in zip(switch.keys, found, strict=True)}
    conflicts = [*_outranked(agent, environment, text), *_local(agent, folder)]
    if ours and state == "on":
        conflicts.append(
            f"Coffer had switched it off (receipt {ours[-1].id}); {path} was changed since, and that counts."
        )
    return MemoryStatus(agent, path, state, ours[-1].id if ours else "", tuple(conflicts), None, keys)


def plan_disable(agent: str, places: Places) -> InstallPlan:
    """What switching an agent's memory off would write. Never raises."""
    path, switch = switch_path(agent, places), SWITCHES[agent]
    config, text = None, None
    try:
        config, text = read_text(path)
        after, before = turn_off(text, switch)
        if after != text:
            require_writable(config)
    except (SwitchRefused, CofferError) as error:
        return InstallPlan(agent, DISABLED, path, config, text, text, problems=(_problem(path, error),))
    notes = () if after != text else ("It is off already, and not by Coffer: nothing is put back later.",)
    kept = {"before": msgspec.to_builtins(before)}
    return InstallPlan(
        agent,
        DISABLED,
        path,
        config,
        text,
        after,
        notes=notes,
        kept=kept,
        edit=lambda text: turn_off(text, switch)[0],
    )


def plan_restore(agent: str, places: Places, home: Home) -> InstallPlan:
    """What putting an agent's memory back would write. Never raises but StoreFailed.

    Where nobody wrote to the file since, that is the bytes as they were; else only our values go, and a value that
    somebody set since stays and is named in the notes.
    """
    path, switch = switch_path(agent, places), SWITCHES[agent]
    config, text = None, None
    try:
        config, text = read_text(path)
        found = open_installs(home, path, config.data, DISABLED)
        after: str | None = text
        theirs: list[str] = []
        for one in reversed(found):
            back = turn_back(after, switch, msgspec.convert(one.data["before"], Before))
            after = back.text
            theirs += back.theirs
        after = as_begun(after, home, path, found[0] if found else None)
        if after != text:
            require_writable(config)
    except (SwitchRefused, CofferError) as error:
        return InstallPlan(agent, RESTORED, path, config, text, text, problems=(_problem(path, error),))
    notes = tuple(f"“{key}” was set by somebody else since, and stays as it is." for key in theirs)
    if found and text is None:
        notes = (f"{path} is gone, and the switch with it.",)

    def edit(text: str | None) -> str | None:
        for one in reversed(found):
            text = turn_back(text, switch, msgspec.convert(one.data["before"], Before)).text
        return as_begun(text, home, path, found[0] if found else None)

    return InstallPlan(agent, RESTORED, path, config, text, after, notes=notes, edit=edit)


def disable(proposal: InstallPlan, home: Home) -> Receipt | None:
    """Carry out a plan of `plan_disable`; None where it was off. Raises as `install.write`."""
    return write(proposal, home)


def restore(proposal: InstallPlan, home: Home) -> Receipt | None:
    """Carry out a plan of `plan_restore`; None where nothing was to be written. Raises as `install.write`."""
    if proposal.problems:
        raise proposal.problems[0]
    data = proposal.config.data if proposal.config is not None else None
    found = open_installs(home, proposal.path, data, DISABLED)
    if len(found) == 1 and found[0].data.get("digest_after") == digest(data):
        with suppress(
            PrunedContentMissing
        ):  # gc or `forget` took the backup: the plan knows what stood there
            return bring_back(found[0], home)
    done = write(proposal, home)
    if done is None and found:
        close_open(DISABLED, proposal.path, home)  # what stands there is the person's by now
    return done


def wished(wishes: Mapping[str, bool], places: Places, home: Home) -> list[InstallPlan]:
    """What the settings' `[agents.NAME] disable_native_memory` would write; an agent that is not named is left alone.

    Never raises but StoreFailed.
    """
    plans = []
    for agent, off in wishes.items():
        folder: Path = getattr(places, agent)
        if folder.is_dir():
            plans.append(plan_disable(agent, places) if off else plan_restore(agent, places, home))
    return [one for one in plans if one.changed or one.problems]


def carry(proposal: InstallPlan, home: Home) -> Receipt | None:
    """Carry out either kind of plan."""
    return disable(proposal, home) if proposal.kind == DISABLED else restore(proposal, home)


def _problem(path: Path, error: Exception) -> CofferError:
    if isinstance(error, SwitchRefused):
        return ConfigBroken(str(path), error.line, error.reason)
    assert isinstance(error, CofferError)
    return error


def _outranked(agent: str, environment: Mapping[str, str], text: str | None) -> list[str]:
    """Whether a variable decides instead: of this terminal, or in the `env` of the settings."""
    name = SWITCHES[agent].outranks
    if not name:
        return []
    places = {"this terminal": environment.get(name)}
    if agent == "claude" and text and text.strip():
        said = json.loads(text.removeprefix("\ufeff"))
        env = said.get("env")
        places["the settings' `env`"] = env.get(name) if isinstance(env, dict) else None
    return [
        f"{name}={value} in {where} decides, whatever the settings say."
        for where, value in places.items()
        if value
    ]


def _local(agent: str, folder: Path | None) -> list[str]:
    """What a project's own settings say, which Claude Code heeds before the user's."""
    if agent != "claude" or folder is None:
        return []
    switch, found = SWITCHES[agent], []
    for name in _LOCAL:
        try:
            value = values(read_text(folder / name)[1], switch)[0]
        except (SwitchRefused, CofferError):
            continue  # the client refuses it too
        if isinstance(value, bool):
            found.append(f"{folder / name} says {str(value).lower()}, and counts in this folder.")
    return found
