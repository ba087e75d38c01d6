"""A daemon gives way to what is installed by now: it ends as when it is asked to, and its process becomes the new one.

It is the same process, so there are never two, and whoever asks in between waits or is answered from files, as always.
What it meets counts: an install in its own environment, and a `daemon-command` that `coffer up` or `coffer doctor
--fix` wrote anew, for another environment. It looks by itself, and at once when a session starts or a command asks.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path

from coffer.daemon import life
from coffer.store.home import Home
from coffer.work.agent_settings.hook_files import DAEMON_ARGUMENTS, DAEMON_COMMAND

_LOG = logging.getLogger("coffer.daemon")
LOOK_SECONDS = 30.0
SETTLED_SECONDS = 2.0
"""For which what was found stays as it is: an install takes a moment in which half of it is there."""
_LONGEST = 1 << 16


class Renewal:
    """One for a daemon, made when it begins: what is there then is what it is."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._woken = asyncio.Event()
        self._began = self._there()
        self.due = ""

    def wake(self) -> None:
        """Look now: somebody is there who would be glad of the new one."""
        self._woken.set()

    async def run(self, stopping: asyncio.Event) -> None:
        """Look until something else is installed; then `due` says what, and the daemon is to end."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._woken.wait()
            self._woken.clear()
            found = self._there()
            if found == self._began or None in found:
                continue
            await asyncio.sleep(SETTLED_SECONDS)
            if self._there() == found:
                self.due = _told(self._began, found)
                _LOG.info("gives way: %s", self.due)
                stopping.set()
                return

    def _there(self) -> tuple[tuple[str, float] | None, bytes | None]:
        """What is installed, and what a hook would start; None for what can't be told now."""
        return life.installed(), _command(self._home)


def _told(
    before: tuple[tuple[str, float] | None, bytes | None],
    found: tuple[tuple[str, float] | None, bytes | None],
) -> str:
    if before[0] == found[0]:
        return "hooks start another one"
    version = found[0][0] if found[0] is not None else ""
    old = before[0][0] if before[0] is not None else ""
    return f"version {version} is installed" if version != old else f"version {version} was installed anew"


def _command(home: Home) -> bytes | None:
    """The words that a hook starts the daemon with; none where hooks were never installed."""
    try:
        with (home.root / "bin" / DAEMON_COMMAND).open("rb") as file:
            return file.read(_LONGEST)
    except FileNotFoundError:
        return b""
    except OSError:
        return None


def become(home: Home) -> None:
    """Be the daemon that a hook would start, in this process. Returns where that can't be started.

    Everything that must be let go of has been; descriptors are closed by it, so the lock is free.
    """
    words = [os.fsdecode(word) for word in (_command(home) or b"").split(b"\0")]
    if len(words) < 2 or not os.access(words[0], os.X_OK):
        words = [sys.executable, *DAEMON_ARGUMENTS]
    if Path(words[0]).is_absolute():
        try:
            os.execv(words[0], words)  # noqa: S606  (words of our own)
        except OSError as error:
            _LOG.error("%s can't be started: %s; the next hook starts a daemon", words[0], error.strerror)
