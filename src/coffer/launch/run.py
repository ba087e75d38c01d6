"""`coffer run`: the agent on a terminal of its own, or simply the agent where there is none."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from coffer.disk.places import Places
from coffer.errors import CofferError
from coffer.launch import door
from coffer.launch.attend import Attendant, Run
from coffer.launch.child import Child
from coffer.launch.errors import AgentNotStarted
from coffer.launch.program import program
from coffer.launch.screen import Screen
from coffer.launch.session import Session, leave_as
from coffer.launch.terminal import Terminal
from coffer.store.home import Home
from coffer.work.guarding import runs
from coffer.work.guarding.runs import RUN, STATE


def run(agent: str, arguments: Sequence[str], environment: Mapping[str, str], folder: Path) -> int:
    """Run an agent to its end; its exit code. Raises AgentUnknown, AgentMissing, AgentNotStarted.

    Where the agent is killed by a signal, this process ends by the same. Without a terminal, or inside of a run
    that is on this terminal already, the agent takes our place.
    """
    path = program(agent, environment)
    home = Home.of(environment)
    if not (os.isatty(0) and os.isatty(1)) or _is_inside(home, environment):
        try:
            os.execve(path, [path, *arguments], dict(environment))  # noqa: S606  (the agent, in our place)
        except OSError as error:
            raise AgentNotStarted(path, error.strerror or str(error)) from error
    name = door.new_name()
    where = Run(name, agent, path, tuple(arguments), folder, Places.of(environment))
    try:
        status = _on_terminal(where, home, {**environment, RUN: name})
    except OSError as error:
        raise AgentNotStarted(path, error.strerror or str(error)) from error
    return leave_as(status)


def _on_terminal(where: Run, home: Home, environment: dict[str, str]) -> int:
    terminal = Terminal()

    def start(arguments: list[str] | None) -> Child:
        return Child.start(
            [where.program, *(where.arguments if arguments is None else arguments)],
            environment,
            terminal.size(),
            guarded=terminal.guarded,
            stderr=None if os.isatty(2) else 2,
        )

    listening = door.Door.open(home, where.name)
    try:
        return Session(terminal, Attendant(where, listening, Screen(80, 24)), start).run()
    finally:
        terminal.close()
        if listening is not None:
            listening.close()


def _is_inside(home: Home, environment: Mapping[str, str]) -> bool:
    """Whether we are on the terminal of a run already: a second one would only carry what the first carries."""
    name = environment.get(RUN, "")
    if not name.isalnum():
        return False
    try:
        said = runs.ask(home, name, {"do": STATE}, seconds=1.0)
    except CofferError:
        return False
    return said is not None and said.get("leader") == os.getsid(0)
