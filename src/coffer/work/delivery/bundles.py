"""The bundle of a folder: both digests, the rules lane and the seeded rules, as a session there is sent them."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coffer.agents.hook_table import HOOK_AGENTS, envelope
from coffer.core.bundle import Bundle, BundleRule, LeftOut, bundle
from coffer.core.effective import Effective
from coffer.disk.project import digest_file, project_of, user_digest
from coffer.errors import StoreFailed
from coffer.store.db import database
from coffer.store.home import Home
from coffer.work.delivery.bundle_files import publish
from coffer.work.rules.effective import Looked, look, user_home
from coffer.work.rules.lane import lane_files, lane_folder, lane_for

TOOLS = frozenset({"propose_rule", "restore", "set_handoff", "resume", "remember", "recall", "list_memory"})
"""The MCP tools that there are (mcp/table.py): a seeded rule must not send an agent to one that isn't."""
FROM_FILES = ("SessionStart", "SubagentStart")
"""Events that a hook answers without the daemon."""
NO_PROJECT = "/"
_LONGEST_KEPT = 30.0
"""Seconds. Whether a person's own change counts also depends on which sessions are open."""
_MOST_KEPT = 200
_ORIGINS = {"project": "project", "user": "global"}


def bundle_for(
    folder: Path, home: Home, environment: Mapping[str, str], tools: Collection[str] = TOOLS
) -> Bundle:
    """What a new session in this folder is sent. Makes and writes nothing.

    `left_out` also names rules that don't hold (not trusted, beyond the cap, refused) and files that can't be read.
    """
    return bundle_of(look(folder, home, environment), home, tools)


def bundle_of(looked: Looked, home: Home, tools: Collection[str] = TOOLS) -> Bundle:
    """The bundle for what holds in a folder."""
    lane = lane_for(home, looked.project)
    made = bundle(_rules(looked.effective), lane.rules, tools)
    origin = {str(file.path): _ORIGINS[file.origin] for file in looked.files}
    held_back = [
        LeftOut(f"{origin.get(out.file, out.file)}/{out.rule or 'rule'}", out.reason)
        for out in looked.effective.left_out
    ]
    unread = [
        LeftOut(f"{_ORIGINS[file.origin]} digest", file.problem) for file in looked.files if file.problem
    ]
    refused = [LeftOut(item.id, item.reason) for item in lane.refused]
    return replace(made, left_out=(*made.left_out, *held_back, *unread, *refused))


@dataclass(frozen=True, slots=True)
class Made:
    """A bundle with the project that it is for, "" for none."""

    project: str
    bundle: Bundle


_Stamp = tuple[object, ...]


class Bundles:
    """Bundles by folder, made again when what they come from changed; one for a process that lives.

    Making one takes milliseconds, and a hook is answered within two.
    """

    def __init__(self, home: Home, tools: Collection[str] = TOOLS) -> None:
        self._home, self._tools = home, tools
        self._made: dict[Path, tuple[_Stamp, float, Made]] = {}
        self._database: tuple[_Stamp, _Stamp] = ((), ())

    def of(self, folder: Path, environment: Mapping[str, str]) -> Made:
        """The bundle for a session in this folder."""
        user = user_home(environment)
        project = project_of(folder, user)
        key, now = project or Path(NO_PROJECT), time.monotonic()
        stamp = self._stamp(project, user)
        known = self._made.get(key)
        if known is not None and known[0] == stamp and now - known[1] < _LONGEST_KEPT:
            return known[2]
        looked = look(folder, self._home, environment)
        made = Made(str(looked.project) if looked.project else "", bundle_of(looked, self._home, self._tools))
        if len(self._made) > _MOST_KEPT:
            self._made.clear()
        self._made[key] = (stamp, now, made)
        return made

    def _stamp(self, project: Path | None, user: Path) -> _Stamp:
        """Of all files that a bundle comes from; what is trusted is asked for only when the database changed."""
        lanes = [lane_folder(self._home, None), *([lane_folder(self._home, project)] if project else [])]
        paths = [user_digest(user), *([digest_file(project)] if project else [])]
        paths += [path for lane in lanes for path in lane_files(lane)]
        database_now = _state_of(self._home.database)
        if database_now != self._database[0]:
            self._database = (database_now, _trust(self._home))
        return user, *map(_state_of, paths), *paths, *self._database[1]


def _state_of(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _trust(home: Home) -> _Stamp:
    """Changes whenever a text becomes trusted or loses it: a row is added, replaced with its time, or removed."""
    try:
        if not home.database.exists():
            return ()
        with database(home, write=False) as connection:
            return tuple(
                connection.execute("SELECT count(*), max(time), group_concat(by) FROM trusted").fetchone()
            )
    except StoreFailed:
        return (time.monotonic(),)  # it can't be told: nothing is kept


def session_context(
    agent: str, folder: Path, home: Home, environment: Mapping[str, str], tools: Collection[str] = TOOLS
) -> dict[str, Any]:
    """The same for programs (DESIGN section 4, `session-context`). Makes nothing."""
    looked = look(folder, home, environment)
    made = bundle_of(looked, home, tools)
    return {
        "agent": agent,
        "cwd": str(folder),
        "project": str(looked.project) if looked.project else None,
        "context": made.text,
        "bytes": made.bytes,
        "units": made.units,
        "limits": {"bytes": made.limits.bytes, "units": made.limits.units, "preview": made.limits.preview},
        "hard_beyond_preview": made.late,
        "rules": [{"id": name, "text": line} for name, line in zip(made.rules, made.lines, strict=True)],
        "left_out": [{"id": out.id, "reason": out.reason} for out in made.left_out],
        "hash": made.hash,
    }


def _rules(found: Effective) -> list[BundleRule]:
    return [
        BundleRule(
            f"{_ORIGINS[one.origin]}/{one.rule.id}",
            one.rule.text,
            one.rule.priority == "hard",
            one.rule.scope,
            one.origin == "project",
        )
        for one in found.rules
    ]


def publish_all(
    home: Home, environment: Mapping[str, str], projects: Iterable[Path], tools: Collection[str] = TOOLS
) -> list[str]:
    """Write the files with which hooks answer without the daemon, for these projects and for none.

    projects: folders; each is published under its project's root, and a linked worktree, which lies elsewhere, also
    under its own path. Folders without a project, and what is gone, are left out. Returns roots that can't be listed.
    Raises Busy, WriteFailed.
    """
    bundles = {NO_PROJECT: bundle_for(Path(NO_PROJECT), home, environment, tools)}
    for folder in projects:
        place = os.path.realpath(folder)
        looked = look(Path(place), home, environment)
        if looked.project is None or not os.path.isdir(place):  # noqa: PTH112  (a folder that vanished is no error)
            continue
        made = bundle_of(looked, home, tools)
        bundles[str(looked.project)] = made
        if not Path(place).is_relative_to(looked.project):
            bundles[place] = made
    entries = {
        root: {
            (agent, event): envelope(agent, event, made.text) for agent in HOOK_AGENTS for event in FROM_FILES
        }
        for root, made in bundles.items()
    }
    return publish(home, entries)
