"""From the name of a session to the launcher that holds it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coffer.errors import SessionAmbiguous
from coffer.launch import door
from coffer.launch.attend import RELOAD, RESTART, RESTART_SECONDS, STATE
from coffer.launch.errors import LauncherSilent, NotLaunched
from coffer.launch.program import RUN
from coffer.launch.reload import SETTLE_SECONDS
from coffer.store.home import Home

CURRENT = "current"
_LOOK_SECONDS = 2.0
_MOST_SECONDS = RESTART_SECONDS + 10.0


def launched(home: Home) -> list[dict[str, Any]]:
    """How every run stands; one that does not answer is passed over."""
    found = []
    for name in door.runs(home):
        try:
            said = door.ask(home, name, {"do": STATE}, _LOOK_SECONDS)
        except LauncherSilent:
            continue
        if said is not None and isinstance(said.get("session"), str):
            found.append(said)
    return found


def find_run(home: Home, name: str, environment: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """The run that holds a session: by the start of its id, or `current`. Raises NotLaunched, SessionAmbiguous."""
    everyone = launched(home)
    if name == CURRENT:
        inside = [said for said in everyone if said.get("run") == environment.get(RUN)]
        fitting = inside or [said for said in everyone if said.get("folder") == str(folder)]
    else:
        fitting = [said for said in everyone if said["session"].startswith(name)]
    if not fitting:
        raise NotLaunched("The session of this folder" if name == CURRENT else f"Session {name}")
    if len(fitting) > 1:
        raise SessionAmbiguous(name, sorted(said["session"] for said in fitting))
    return fitting[0]


def reload(
    home: Home,
    found: Mapping[str, Any],
    *,
    settle: float = SETTLE_SECONDS,
    wait: float = 0.0,
    model: str | None = None,
) -> dict[str, Any]:
    """Ask a launcher to reload its session in place: {"kind": typed | refused | gave_up, "why", "left", "said"}.

    found: how it stood, of `find_run` or `launched`; another session on the screen by then is refused. wait:
    seconds to wait for a safe moment. model: given, the agent is ended and started again with its own
    arguments instead, and with this model where they name none. Raises LauncherSilent.
    """
    request: dict[str, Any] = {"do": RELOAD, "session": found["session"], "settle": settle, "wait": wait}
    if model is not None:
        request |= {"do": RESTART, "model": model}
    said = door.ask(home, found["run"], request, wait + _MOST_SECONDS)
    if said is None:
        raise LauncherSilent("it ended meanwhile")
    return said
