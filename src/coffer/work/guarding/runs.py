"""The launcher's door from outside: which runs there are, how they stand, and a reload asked for.

The door is a socket of the user's own below Coffer's folder: one JSON line in, one JSON line out (`launch.door`).
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coffer.core.loads import object_in
from coffer.core.typed_reload import SETTLE_SECONDS
from coffer.errors import SessionAmbiguous
from coffer.store.home import Home
from coffer.work.guarding.guard_errors import LauncherSilent, NotLaunched

RUN = "COFFER_RUN"
"""Environment variable that names the run in which a process lives."""
RELOAD, RESTART, STATE = "reload", "restart", "state"
"""What a launcher can be asked to do."""
UNSURE = "unsure"
"""A launcher's answer where the agent was told to end, and what came of it did not show: never ask it again."""
RESTART_SECONDS = 20.0
LONGEST_LINE = 65_536
CWD = threading.Lock()
"""The working folder is the whole process's."""
CURRENT = "current"
_LOOK_SECONDS = 2.0
_MOST_SECONDS = RESTART_SECONDS + 10.0


def launched(home: Home) -> list[dict[str, Any]]:
    """How every run stands; one that does not answer is passed over."""
    found = []
    for name in runs(home):
        try:
            said = ask(home, name, {"do": STATE}, _LOOK_SECONDS)
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
    """Ask a launcher to reload its session in place: {"kind": typed | refused | gave_up | unsure, "why", "left"}.

    found: how it stood, of `find_run` or `launched`; another session on the screen by then is refused; its
    `words`, of `work.reread`, must be on the screen. wait: seconds to wait for a safe moment. model: given, the
    agent is ended and started again with its own arguments instead, and with this model where they name none.
    Raises LauncherSilent.
    """
    request: dict[str, Any] = {"do": RELOAD, "session": found["session"], "settle": settle, "wait": wait}
    request["words"] = found.get("words", "")
    if model is not None:
        request |= {"do": RESTART, "model": model}
    said = ask(home, found["run"], request, wait + _MOST_SECONDS)
    if said is None:
        raise LauncherSilent("it ended meanwhile")
    return said


def runs(home: Home) -> list[str]:
    """Names of the runs whose sockets are there; a killed launcher leaves its socket behind."""
    try:
        return sorted(path.stem for path in (home.root / "run").glob("*.sock"))
    except OSError:
        return []


def ask(home: Home, name: str, request: dict[str, Any], seconds: float = 5.0) -> dict[str, Any] | None:
    """Ask a launcher; None where it is gone. Raises LauncherSilent."""
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with link:
        link.settimeout(seconds)
        try:
            with CWD, contextlib.chdir(home.root / "run"):
                link.connect(f"{name}.sock")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ConnectionRefusedError:
            with contextlib.suppress(OSError):
                (home.root / "run" / f"{name}.sock").unlink()  # its launcher was killed
            return None
        except OSError as error:
            raise LauncherSilent(error.strerror or str(error)) from error
        return _exchange(link, request, seconds)


def _exchange(link: socket.socket, request: dict[str, Any], seconds: float) -> dict[str, Any] | None:
    until = time.monotonic() + seconds
    heard = b""
    try:
        link.sendall(json.dumps(request).encode() + b"\n")
        while b"\n" not in heard and len(heard) < LONGEST_LINE:
            link.settimeout(max(until - time.monotonic(), 0.01))
            data = link.recv(8192)
            if not data:
                return None
            heard += data
    except TimeoutError as error:
        raise LauncherSilent(f"nothing came within {seconds:g} seconds") from error
    except OSError as error:
        raise LauncherSilent(error.strerror or str(error)) from error
    answer = parsed(heard)
    if answer is None:
        raise LauncherSilent("what it said is no answer")
    return answer


def parsed(line: bytes) -> dict[str, Any] | None:
    """What a line says; None where it is no JSON object."""
    return object_in(line.partition(b"\n")[0])
