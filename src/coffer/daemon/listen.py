"""The sockets that the daemon listens on."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

from coffer.core.loads import loads
from coffer.daemon.errors import DaemonBlocked
from coffer.daemon.life import SOCKET
from coffer.disk.replace import refusals
from coffer.store.home import Home

NAME = "coffer"
"""What the daemon's health answer calls it: a listener that says so is one of ours."""
BACKLOG = 256
_ASK_SECONDS = 2.0
_CWD = threading.Lock()
"""The working folder is the whole process's."""


@contextlib.contextmanager
def _standing_in(folder: Path) -> Iterator[None]:
    """With this as the working folder: an address holds 107 bytes, 103 on macOS.

    The way back is a descriptor: the folder that a command was called in may have been deleted, and has no path then.
    """
    with _CWD:
        back = os.open(".", os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.chdir(folder)
            try:
                yield
            finally:
                os.fchdir(back)
        finally:
            os.close(back)


class Link(http.client.HTTPConnection):
    """HTTP on the daemon's socket. Never by a proxy, whatever the environment says."""

    def __init__(self, home: Home, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._home = home

    def connect(self) -> None:
        """Connect by a relative path."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        try:
            with _standing_in(self._home.root):
                self.sock.connect(SOCKET)
        except BaseException:
            self.sock.close()
            raise


def who_listens(home: Home, timeout: float = _ASK_SECONDS) -> str:
    """Who answers on the socket's path: "" for nobody, NAME for a daemon of ours, "another" for anything else."""
    link = Link(home, timeout)
    try:
        link.connect()
    except OSError:
        return ""
    try:
        link.request("GET", "/api/v1/health")
        said = loads(link.getresponse().read(65_536).decode("utf-8", "replace"))
    except (OSError, ValueError, http.client.HTTPException):
        return "another"
    finally:
        link.close()
    return NAME if isinstance(said, dict) and said.get("name") == NAME else "another"


def bound(home: Home) -> socket.socket:
    """The daemon's socket, bound, in place of what a dead daemon or a foreign listener left there.

    The caller holds the daemon's lock, so no other daemon can be meant. Raises DaemonBlocked, WriteFailed.
    """
    path = home.root / SOCKET
    with refusals(path):
        _clear(path)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with _standing_in(home.root):
                listener.bind(SOCKET)
                os.chmod(SOCKET, 0o600)  # noqa: PTH101  (a bare name in the folder that is current now)
            listener.setblocking(False)
        except BaseException:
            listener.close()
            raise
    return listener


def _clear(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise DaemonBlocked(str(path), "is there and is no socket. Move it away, then start the daemon again")
    path.unlink()


def loopback() -> socket.socket:
    """A socket on this machine's own address, at a port that is free."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.bind(("127.0.0.1", 0))
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener
