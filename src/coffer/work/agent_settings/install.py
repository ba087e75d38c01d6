"""Our hook entries in an agent's settings: planned, shown, put in, taken out, with a receipt for each write.

A plan reads and decides, and writes nothing. `install` and `uninstall` carry out what was shown, or refuse with
FileMoved if somebody wrote since.
"""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from coffer.agents import hook_edit
from coffer.agents.claude_hooks import switched_off
from coffer.agents.hook_entries import STUB, Added, Wanted
from coffer.agents.hook_table import HOOK_AGENTS
from coffer.core.json_edit import BOM, JsonRefused, parse, plain
from coffer.disk import config_file
from coffer.disk.agent_errors import ConfigBroken, PathUnusable
from coffer.disk.config_file import Config
from coffer.disk.places import Places
from coffer.errors import CofferError
from coffer.store.db import Receipt
from coffer.store.home import Home
from coffer.work.agent_settings.config_write import (
    INSTALLED,
    UNINSTALLED,
    Change,
    as_begun,
    carry_out,
    open_installs,
)
from coffer.work.agent_settings.hook_files import hook_is_current, write_hook

Edit = Callable[[str | None], str | None]
"""A text before → after; None for no file."""


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """What would become of a settings file. before, after: None for no file.

    problems: why it can't be written; then after is before. notes: what the person should know. snippet: the entries,
    to be put in by hand. entries: the events that get one. kept: what the receipt keeps for taking it out again. edit:
    what was done to `before`, so that several plans for one file can be shown as one.
    """

    agent: str
    kind: str
    path: Path
    config: Config | None
    before: str | None
    after: str | None
    problems: tuple[CofferError, ...] = ()
    notes: tuple[str, ...] = ()
    snippet: str = ""
    entries: tuple[str, ...] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)
    edit: Edit | None = field(default=None, repr=False, compare=False)

    @property
    def changed(self) -> bool:
        """Whether anything would be written."""
        return not self.problems and self.before != self.after

    @property
    def diff(self) -> list[str]:
        """The change as lines of a unified diff; empty where there is none."""
        if not self.changed:
            return []
        return _diff(self.path, self.before, self.after)


def diff_together(plans: Sequence[InstallPlan]) -> list[str]:
    """The change of several plans for one file, in the order in which they are carried out, as one diff.

    Raises JsonRefused, SwitchRefused where one can't be made behind another; then each has its own.
    """
    text = plans[0].before
    for each in plans:
        assert each.edit is not None
        text = each.edit(text)
    return _diff(plans[0].path, plans[0].before, text)


def _diff(path: Path, before: str | None, after: str | None) -> list[str]:
    old, new = ((text or "").splitlines() for text in (before, after))
    was, will = (str(path) if text is not None else "no file" for text in (before, after))
    return list(difflib.unified_diff(old, new, was, will, lineterm=""))


def hook_path(home: Home) -> Path:
    """Where the stub lies that our entries call (work/agent_settings/hook_files.py writes it)."""
    return home.root / "bin" / STUB


def settings_path(agent: str, places: Places) -> Path:
    """The file that holds an agent's hooks."""
    folder: Path = getattr(places, agent)
    return folder.absolute() / HOOK_AGENTS[agent].dialect.file


def plan(agent: str, places: Places, home: Home, version: tuple[int, ...] | None = None) -> InstallPlan:
    """What an install would write. version: of the client, None where it could not be asked. Never raises."""
    path = settings_path(agent, places)
    try:
        wanted = wanted_entries(agent, home, version)
    except PathUnusable as error:
        return InstallPlan(agent, INSTALLED, path, None, None, None, problems=(error,))
    entries = tuple(one.event for one in wanted if one.required)
    snippet = _snippet(wanted)
    config, text = None, None
    try:
        config, text = read_text(path)
        dialect = HOOK_AGENTS[agent].dialect
        done = hook_edit.install(text, dialect, wanted)
        if done.text != text:
            config_file.require_writable(config)
    except JsonRefused as error:
        problem: CofferError = ConfigBroken(str(path), error.line, error.reason)
    except CofferError as error:
        problem = error
    else:
        notes = _moved(done.moved) + switched_off_in(text)
        kept = {"added": msgspec.to_builtins(done.added), "entries": list(entries)}

        def edit(before: str | None) -> str | None:
            return hook_edit.install(before, dialect, wanted).text

        return InstallPlan(
            agent, INSTALLED, path, config, text, done.text, (), notes, snippet, entries, kept, edit
        )
    return InstallPlan(
        agent, INSTALLED, path, config, text, text, problems=(problem,), snippet=snippet, entries=entries
    )


def plan_removal(agent: str, places: Places, home: Home) -> InstallPlan:
    """What an uninstall would write. Never raises but StoreFailed."""
    path = settings_path(agent, places)
    config, text = None, None
    try:
        config, text = read_text(path)
        added = Added()
        found = open_installs(home, path, config.data)
        for receipt in found:
            added = added.then(msgspec.convert(receipt.data["added"], Added))
        dialect = HOOK_AGENTS[agent].dialect
        done = hook_edit.uninstall(text, dialect, added)
        after = as_begun(done.text, home, path, found[0] if found else None)
        if after != text:
            config_file.require_writable(config)
    except JsonRefused as error:
        problem: CofferError = ConfigBroken(str(path), error.line, error.reason)
    except CofferError as error:
        problem = error
    else:

        def edit(before: str | None) -> str | None:
            left = hook_edit.uninstall(before, dialect, added).text
            return as_begun(left, home, path, found[0] if found else None)

        return InstallPlan(agent, UNINSTALLED, path, config, text, after, notes=_moved(done.moved), edit=edit)
    return InstallPlan(agent, UNINSTALLED, path, config, text, text, problems=(problem,))


def install(proposal: InstallPlan, home: Home, now: datetime | None = None) -> Receipt | None:
    """Carry out a plan, after the stub that its entries call is there; None where there is nothing to write.

    Raises what the plan has as problems, FileMoved, Busy, WriteFailed: then the settings are as they were.
    """
    if proposal.problems:
        raise proposal.problems[0]
    write_hook(home, Path(sys.executable))
    return write(proposal, home, now)


def uninstall(proposal: InstallPlan, home: Home, now: datetime | None = None) -> Receipt | None:
    """Carry out a plan of `plan_removal`; as `install`. The stub stays: a session that runs may still call it."""
    return write(proposal, home, now)


def stub_problems(home: Home) -> tuple[str, ...]:
    """How the files that our entries call differ from what this Coffer would write."""
    return tuple(hook_is_current(home, Path(sys.executable)))


def write(proposal: InstallPlan, home: Home, now: datetime | None = None) -> Receipt | None:
    """Carry out a plan; None where there is nothing to write. Raises its problem, FileMoved, Busy, WriteFailed."""
    if proposal.problems:
        raise proposal.problems[0]
    if not proposal.changed or proposal.config is None:
        return None
    change = Change(proposal.kind, proposal.agent, proposal.config, proposal.after, dict(proposal.kept))
    return carry_out(change, home, now)


def wanted_entries(agent: str, home: Home, version: tuple[int, ...] | None) -> list[Wanted]:
    """The entries that this build writes. version: of the client. Raises PathUnusable."""
    hook = str(hook_path(home))
    try:
        hook.encode("utf-8")
    except UnicodeEncodeError as error:
        raise PathUnusable(hook.encode("utf-8", "backslashreplace").decode()) from error
    return HOOK_AGENTS[agent].wanted(hook, version)


def read_text(path: Path) -> tuple[Config, str | None]:
    """A settings file and its text. Raises ConfigBroken."""
    config = config_file.read(path)
    if config.data is None:
        return config, None
    try:
        return config, config.data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = config.data.count(b"\n", 0, error.start) + 1
        raise ConfigBroken(str(path), line, "it is no UTF-8") from error


def _moved(events: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        f"In “{event}” an entry of somebody else stood behind ours in one group and moves up: Codex will ask you "
        "to trust it again."
        for event in events
    )


def switched_off_in(text: str | None) -> tuple[str, ...]:
    """Why Claude Code runs no hook at all, as sentences; none where it does."""
    if not text or not text.lstrip(BOM).strip():
        return ()
    reason = switched_off(plain(parse(text)))
    return (f"{reason}.",) if reason else ()


def _snippet(wanted: Iterable[Wanted]) -> str:
    hooks = {one.event: [{"hooks": [one.values[0]]}] for one in wanted if one.required}
    return json.dumps({"hooks": hooks}, indent=2, ensure_ascii=False)
