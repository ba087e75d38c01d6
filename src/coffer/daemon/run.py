"""The daemon's process: `python -P -m coffer.daemon.run`, as a hook or `coffer daemon start` starts it.

`--report N`: it says on that descriptor that it listens, or why it doesn't, and closes it.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import secrets
import signal
import socket
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from coffer.daemon import life, listen, log
from coffer.daemon.renew import Renewal, become
from coffer.disk.live import start_mark
from coffer.disk.replace import refusals
from coffer.errors import CofferError, SettingsBroken
from coffer.store.home import Home

_LOG = logging.getLogger("coffer.daemon")
GUARD_SECONDS = 30.0
SWITCH_SECONDS = 0.0005
"""How long a thread may keep the interpreter while a hook waits for another."""


def main() -> None:
    """Be the daemon, until asked to end. Exit code 0 also where another is there: then there is a daemon."""
    report = _reporter(sys.argv[1:])
    home = Home.of(os.environ)
    try:
        renewed = serve(home, dict(os.environ), report)
    except CofferError as error:
        report(str(error))
        sys.stderr.write(f"coffer: {error}\n")
        sys.exit(error.exit_code)
    if renewed:
        become(home)
        _forget(home)  # it came to nothing


class _Report:
    """Says one thing to whoever started us."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        if descriptor is not None:
            os.set_inheritable(descriptor, False)

    def __call__(self, sentence: str) -> None:
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.write(self._descriptor, sentence.encode())
            os.close(self._descriptor)
            self._descriptor = None


def _reporter(words: list[str]) -> _Report:
    told = words[1] if len(words) == 2 and words[0] == "--report" else ""
    return _Report(int(told) if told.isdigit() else None)


def serve(home: Home, environment: Mapping[str, str], report: _Report) -> bool:
    """Serve this home until SIGTERM or SIGINT. Returns at once where another daemon serves it.

    True: another is installed by now, and is to take its place. Raises WriteFailed, DaemonBlocked.
    """
    os.umask(0o077)
    os.chdir("/")  # a folder that somebody wants to unmount or delete is nobody's business of ours
    lock = life.hold(home)
    if lock is None or listen.who_listens(home) == listen.NAME:
        report(life.READY)
        return False
    home = replace(home, stands=True)
    with refusals(life.log_path(home)):
        log.begin(life.log_path(home))
    sys.setswitchinterval(SWITCH_SECONDS)
    listener = listen.bound(home)
    renewed = False
    try:
        _LOG.info("begins, process %d", os.getpid())
        renewed = asyncio.run(_live(home, environment, listener, report))
        _LOG.info("ends")
    except CofferError as error:
        _LOG.error("ends: %s", error)
        raise
    except BaseException:
        _LOG.exception("ends by an error of its own")
        raise
    finally:
        listener.close()
        if not renewed:  # else this process goes on, and who asks for it is to know that
            _forget(home)
    return renewed


async def _live(home: Home, environment: Mapping[str, str], listener: socket.socket, report: _Report) -> bool:
    from coffer.daemon.gate import Gate  # noqa: PLC0415  (what loses the race for the lock needs none of it)
    from coffer.daemon.http import application  # noqa: PLC0415
    from coffer.daemon.loop import Loop  # noqa: PLC0415
    from coffer.daemon.server import Server  # noqa: PLC0415
    from coffer.daemon.state import Ears  # noqa: PLC0415
    from coffer.daemon.worker import Worker  # noqa: PLC0415
    from coffer.mcp.listen import mcp_service  # noqa: PLC0415

    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    second = listen.loopback() if _tcp(home) else None
    known = _known(home, second)
    loop = Loop(home, environment, Worker(environment))
    renewal = Renewal(home)
    app = application(Ears(loop, known, renewal.wake), known.version, os.getpid())
    servers = [(Server(Gate(app)), listener)]
    if second is not None:
        servers.append((Server(Gate(app, known.port, known.token)), second))
    ready = [asyncio.Event() for _ in servers]
    async with asyncio.TaskGroup() as group:
        pipes = group.create_task(mcp_service(home, environment))
        for (server, bound), event in zip(servers, ready, strict=True):
            group.create_task(server.over(bound, event))
        for event in ready:
            await event.wait()
        life.announce(home, known)
        report(life.READY)
        beside = [
            pipes,
            group.create_task(_guarded(home, known, stopping)),
            group.create_task(renewal.run(stopping)),
        ]
        await loop.run(stopping)
        for task in beside:
            task.cancel()
        for server, _ in servers:
            server.end()
    await loop.close()
    return bool(renewal.due)


async def _guarded(home: Home, known: life.Known, stopping: asyncio.Event) -> None:
    """End where this daemon is of no more use."""
    while not (why := _useless(home, known)):  # noqa: ASYNC110  (a file has no event)
        await asyncio.sleep(GUARD_SECONDS)
    _LOG.warning("%s, so this daemon is not needed", why)
    stopping.set()


def _useless(home: Home, known: life.Known) -> str:
    """Why a daemon would never be asked again, or could do only half of its work; "" where it is as it should be."""
    if life.read(home) != known:  # a home that was deleted or replaced
        return f"{life.json_path(home)} does not speak of it any more"
    if not Path(
        sys.executable
    ).exists():  # with it went what is not loaded yet; a hook starts one that is whole
        return f"{sys.executable} is gone"
    return ""


def _tcp(home: Home) -> bool:
    from coffer.work.settings import load  # noqa: PLC0415  (as above)

    try:
        return load(home).http.tcp
    except SettingsBroken as error:
        _LOG.warning("no TCP, since the settings can't be read: %s", error)
        return False


def _known(home: Home, second: socket.socket | None) -> life.Known:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  (as above)

    try:
        said = version("coffer-agent")
    except PackageNotFoundError:
        said = "not installed"
    return life.Known(
        os.getpid(),
        start_mark(os.getpid()) or "",
        datetime.now(UTC).isoformat(timespec="seconds"),
        str(home.root / life.SOCKET),
        second.getsockname()[1] if second is not None else 0,
        secrets.token_urlsafe(32),
        said,
        sys.executable,
    )


def _forget(home: Home) -> None:
    """Remove what says that we are there."""
    known = life.read(home)
    if known is not None and known.pid == os.getpid():
        life.withdraw(home, known)
        path = Path(home.root / life.SOCKET)
        try:
            path.unlink()
        except OSError as error:
            if error.errno != errno.ENOENT:
                _LOG.warning("%s can't be removed: %s", path, error.strerror)


if __name__ == "__main__":
    main()
