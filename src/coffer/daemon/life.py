"""One daemon a user and home: found where it runs, started where it doesn't, ended when asked.

What keeps it one is a lock that the daemon holds for its whole life: the system lets go of it with the process, so
nothing that a killed daemon leaves behind is in the way of the next. `daemon.json` only says where it is, and a pid
in it counts together with the process's start: a pid alone may be a stranger's by now.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from coffer.core.loads import loads
from coffer.daemon.errors import DaemonBlocked, DaemonNotStarted, DaemonStays
from coffer.disk.live import start_mark
from coffer.disk.lock import acquired
from coffer.disk.put import put
from coffer.disk.replace import refusals
from coffer.store.home import Home
from coffer.work.agent_settings.hook_files import DAEMON_ARGUMENTS

SOCKET = "daemon.sock"
INHERITED = ("HOME", "PATH", "LANG", "TMPDIR", "USER", "XDG_RUNTIME_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME")
"""Variables that a daemon gets besides LC_* and COFFER_HOME, the same as from a hook: keys and proxies of the
session that happens to start it are not its own."""
READY = "ready"
START_SECONDS = 20.0
"""For a daemon to say that it listens; a machine that has just woken up is slow."""
STOP_SECONDS = 20.0
"""For a daemon to end by itself: it lets a worker finish what it writes."""
KILL_SECONDS = 5.0
_LOCK_SECONDS = 30.0
_STEP = 0.02
_OWN = 0o600


@dataclass(frozen=True, slots=True)
class Known:
    """What daemon.json says. start: of the process, as `start_mark` gives it. started: ISO 8601.

    socket: its path. port: of loopback TCP, 0 for none. token: what a request on TCP must show. python: that runs it.
    """

    pid: int
    start: str
    started: str
    socket: str
    port: int
    token: str
    version: str
    python: str = ""

    @property
    def lives(self) -> bool:
        """Whether that process is still there, and is the same; one that nobody has reaped is not."""
        return self.pid > 0 and start_mark(self.pid) == self.start


def json_path(home: Home) -> Path:
    """Where the daemon says where it is."""
    return home.root / "daemon.json"


def log_path(home: Home) -> Path:
    """Where the daemon writes what it does."""
    return home.root / "daemon.log"


def read(home: Home) -> Known | None:
    """What daemon.json says; None where it isn't there, can't be read, or isn't one."""
    try:
        said = loads(json_path(home).read_bytes().decode("utf-8", "replace"))
        known = Known(**{name: said[name] for name in Known.__slots__ if name in said or name != "python"})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    kinds = {"pid": int, "port": int}
    right = all(
        isinstance(value, kinds.get(name, str)) and not isinstance(value, bool)
        for name, value in asdict(known).items()
    )
    return known if right else None


def running(home: Home) -> Known | None:
    """The daemon that runs; None for none."""
    known = read(home)
    return known if known is not None and known.lives else None


def outdated(known: Known, version: str) -> str:
    """Why a daemon is not what this Coffer would start, as a phrase; "" where it is. version: of this Coffer.

    The same version may have been installed anew, or elsewhere: what such a daemon has not loaded yet may be gone, and
    the worker that learns can't be started.
    """
    if known.version != version:
        return f"it is of version {known.version}, this is {version}"
    if known.python and not os.path.exists(known.python):  # noqa: PTH110  (a path of anybody's, that may be none)
        return f"{known.python}, which runs it, is gone"
    if known.python and os.path.dirname(known.python) != os.path.dirname(sys.executable):  # noqa: PTH120
        return f"it runs in {known.python}, this in {sys.executable}"
    return "Coffer was installed anew since it began" if _installed_after(known.started) else ""


def installed() -> tuple[str, float] | None:
    """The version of Coffer that this environment holds, and when it was installed, in Unix seconds; None for none."""
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415  (28 ms)

    try:
        found = distribution("coffer-agent")
        written = Path(str(found.locate_file(f"coffer_agent-{found.version}.dist-info"))).stat().st_mtime
    except (PackageNotFoundError, OSError):
        return None
    return found.version, written


def _installed_after(started: str) -> bool:
    found = installed()
    try:
        # `started` is in whole seconds
        return found is not None and found[1] > datetime.fromisoformat(started).timestamp() + 1.0
    except ValueError:
        return False


def announce(home: Home, known: Known) -> None:
    """Write daemon.json. Raises WriteFailed."""
    put(json_path(home), json.dumps(asdict(known), indent=1).encode(), _OWN)


def withdraw(home: Home, known: Known) -> None:
    """Remove daemon.json, unless it is another daemon's by now."""
    if read(home) == known:
        with suppress(OSError):
            json_path(home).unlink()


def hold(home: Home) -> int | None:
    """Take the lock that makes a daemon the only one, for as long as this process lives; None: it is taken.

    Raises WriteFailed, DaemonBlocked where it is another user's home.
    """
    path = home.root / "daemon.lock"
    with refusals(path):
        home.make(home.root)
        if home.root.stat().st_uid != os.geteuid():  # files of ours would shut the owner's daemon out
            raise DaemonBlocked(str(home.root), "belongs to another user, whose daemon serves it")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _OWN)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def start(home: Home, environment: Mapping[str, str], version: str = "") -> tuple[Known, bool]:
    """The daemon that runs, and whether it was started just now. version: one that is outdated is renewed.

    Raises DaemonNotStarted, DaemonStays, WriteFailed.
    """
    with _starting(home):
        known = running(home)
        if known is not None and (not version or not outdated(known, version)):
            return known, False
        if known is not None:
            end(known)
        _spawn(home, environment)
        known = _announced(home)
        if known is None:
            raise DaemonNotStarted("it ended at once.")
        return known, True


def _announced(home: Home) -> Known | None:
    """The daemon that runs now, waited for: ours gives way to one that a hook started and that is still beginning."""
    until = time.monotonic() + START_SECONDS
    while (known := running(home)) is None and time.monotonic() < until:
        time.sleep(_STEP)
    return known


@contextmanager
def _starting(home: Home) -> Iterator[None]:
    """One start at a time: a hundred commands at once start one daemon and wait for it."""
    with refusals(home.root):
        home.make(home.root)
    with refusals(home.root):
        try:
            lock = acquired(home.root / "daemon-start.lock", _LOCK_SECONDS)
        except TimeoutError as error:  # an OSError too
            raise DaemonNotStarted("another command has been starting it for too long.") from error
    try:
        yield
    finally:
        lock.release()


def daemon_environment(home: Home, environment: Mapping[str, str]) -> dict[str, str]:
    """What a daemon may know of the environment that starts it."""
    few = {name: said for name, said in environment.items() if name in INHERITED or name.startswith("LC_")}
    return few | {"COFFER_HOME": str(home.root)}


def _spawn(home: Home, environment: Mapping[str, str]) -> None:
    """Start a daemon that belongs to nobody, and wait until it says that it listens, or why not."""
    reader, writer = os.pipe()
    try:
        child = os.fork()
        if child == 0:
            _become(home, environment, writer)
        os.close(writer)
        writer = -1
        os.waitpid(child, 0)
        said = _said(reader)
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)
    if said != READY:
        raise DaemonNotStarted(said or f"it said nothing within {START_SECONDS:.0f} seconds.")


def _become(home: Home, environment: Mapping[str, str], writer: int) -> None:
    """In a child: leave session, folder and all descriptors behind but the one to report on, then be the daemon.

    A descriptor that is kept would hold whoever waits for its end: an agent, a pipe of the shell.
    """
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nowhere, descriptor)
        os.dup2(writer, 3)  # after the others: any of them may have been 3
        os.set_inheritable(3, True)
        os.closerange(4, min(os.sysconf("SC_OPEN_MAX"), 1 << 20))
        os.setsid()
        if os.fork():
            os._exit(0)  # a process that leads no session can get no terminal
        os.chdir("/")
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        words = [sys.executable, *DAEMON_ARGUMENTS, "--report", "3"]
        os.execve(sys.executable, words, daemon_environment(home, environment))  # noqa: S606  (words of our own)
    finally:
        os._exit(1)


def _said(reader: int) -> str:
    """What the new daemon reports; "" where it says nothing in time."""
    until, got = time.monotonic() + START_SECONDS, b""
    while (left := until - time.monotonic()) > 0 and select.select([reader], [], [], left)[0]:
        piece = os.read(reader, 4096)
        if not piece:
            return got.decode("utf-8", "replace").strip() or "it ended without a word."
        got += piece
    return ""


def stop(home: Home) -> Known | None:
    """End the daemon; the one that was ended, None where none ran. Raises DaemonStays."""
    known = running(home)
    if known is not None:
        end(known)
        withdraw(home, known)
    return known


def end(known: Known) -> None:
    """Ask a daemon to end, and kill it where it doesn't. Raises DaemonStays."""
    for number, patience in ((signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, KILL_SECONDS)):
        until = time.monotonic() + patience
        if known.lives:
            with suppress(ProcessLookupError):
                os.kill(known.pid, number)
        while known.lives and time.monotonic() < until:
            time.sleep(_STEP)
        if not known.lives:
            return
    raise DaemonStays(known.pid)
