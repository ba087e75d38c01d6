"""What the commands about one session share: the argument, its completion, and opening it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from coffer.disk.places import Places
from coffer.disk.sessions import SUBAGENT, WORKFLOW, find_sessions
from coffer.work.sessions.find import find, thread_paths
from coffer.work.sessions.read import Opened, opened

_MOST_COMPLETIONS = 50


@dataclass(frozen=True, slots=True)
class World:
    """What a command takes from outside: the environment, the agents' folders, where the person stands."""

    environment: Mapping[str, str]
    places: Places
    folder: Path

    @classmethod
    def now(cls) -> World:
        """The world of this process."""
        try:
            folder = Path.cwd()
        except FileNotFoundError:
            folder = Path("/")  # the folder was deleted; a session by id or path can still be shown
        return cls(os.environ, Places.of(os.environ), folder)


def complete_sessions(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Ids of sessions, newest first, and `current`."""
    found = [
        item
        for item in find_sessions(World.now().places)
        if item.id.startswith(incomplete) and item.kind not in (SUBAGENT, WORKFLOW)
    ]
    items = [CompletionItem(item.id, help=item.agent) for item in found[:_MOST_COMPLETIONS]]
    if "current".startswith(incomplete):
        items.insert(0, CompletionItem("current", help="the session of this folder"))
    return items


def session_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """The SESSION argument, with completion; without one, `current`."""
    return click.argument(
        "session", metavar="[SESSION]", default="current", shell_complete=complete_sessions
    )(command)


@contextmanager
def open_session(name: str, world: World) -> Iterator[Opened]:
    """Find and read a session; a progress bar shows on long work."""
    path = find(name, world.places, world.environment, world.folder)
    parents = thread_paths(find_sessions(world.places))
    try:
        size = path.stat().st_size
    except (OSError, ValueError):
        size = 0  # opening it says what is wrong
    from coffer.cli.screen import progress  # noqa: PLC0415  (rich is imported when something is drawn)

    with (
        progress(size, f"Reading {path.name}") as report,
        opened(path, progress=report, parents=parents) as session,
    ):
        yield session
