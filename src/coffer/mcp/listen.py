"""The socket for pipes: one connection, one session of MCP. Part of the daemon; knows the SDK by name only.

The SDK costs 0.8 s and 50 MB, so it is imported, beside the daemon's loop, when the first pipe comes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from coffer.mcp import hello
from coffer.mcp.caller import LONGEST, Caller, House, caller_of
from coffer.store.home import Home

SOCKET = "mcp.sock"
MOST = 64
"""Pipes at a time. One more waits in front of the door, and answers what it can by itself."""
INTRODUCTION = 5.0
"""Seconds for a pipe's first line."""
FIRST = 2.0
"""Seconds for what a starting daemon has to do at once; then it looks whether pipes know what to answer."""
_BACKLOG = 100
log = logging.getLogger(__name__)


async def mcp_service(home: Home, environment: Mapping[str, str]) -> None:
    """Serve MCP until cancelled; what the daemon runs as one task. Never the reason why a daemon ends."""
    user = Path(environment.get("HOME") or Path.home())
    house = House(home, user, lambda: datetime.now(UTC), environment)
    refreshing = asyncio.create_task(_refresh(home))
    try:
        await serve(house)
    except OSError as error:
        log.error("no MCP: %s can't be listened on: %s", home.root / SOCKET, error.strerror)  # noqa: TRY400
    finally:
        refreshing.cancel()
        await asyncio.gather(refreshing, return_exceptions=True)


async def _refresh(home: Home) -> None:
    await asyncio.sleep(FIRST)
    await hello.refresh(home)


async def serve(house: House, ready: Callable[[], None] = lambda: None) -> None:
    """Listen until cancelled. ready: called once a pipe can connect."""
    sessions: set[asyncio.Task[None]] = set()

    async def handle(reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        sessions.add(task)
        try:
            if len(sessions) <= MOST:
                await _session(house, reader, writer)
        except (OSError, asyncio.CancelledError):
            log.debug("a pipe is gone")  # in the middle of a word, or the daemon ends
        finally:
            sessions.discard(task)
            writer.close()

    with _listening(house.home) as listener:
        server = await asyncio.start_unix_server(handle, sock=listener, limit=1 << 20)
        ready()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            server.close()
            for task in sessions:
                task.cancel()
            await asyncio.gather(*sessions, return_exceptions=True)


async def _session(house: House, reader: StreamReader, writer: StreamWriter) -> None:
    caller = await _introduced(reader)
    if caller is None:
        return
    server = await asyncio.to_thread(import_module, "coffer.mcp.server")
    await server.serve_session(caller, house, reader, writer)


async def _introduced(reader: StreamReader) -> Caller | None:
    """Who speaks; None for a stranger, who is hung up on without a word."""
    try:
        line = await asyncio.wait_for(reader.readuntil(), INTRODUCTION)
    except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    return caller_of(line) if len(line) <= LONGEST else None


@contextmanager
def _listening(home: Home) -> Iterator[socket.socket]:
    """The socket in its place, which it takes at once: a pipe finds the old one or the new one, never none.

    It is bound from inside the folder: an address holds 107 bytes, 103 on macOS.
    """
    home.make(home.root)
    path = home.root / SOCKET
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.setblocking(False)
        made = f".{SOCKET}.{os.getpid()}"
        with contextlib.chdir(home.root):
            Path(made).unlink(missing_ok=True)
            listener.bind(made)
            Path(made).chmod(0o600)
            listener.listen(_BACKLOG)
            Path(made).rename(SOCKET)
            own = os.stat(SOCKET).st_ino  # noqa: PTH116  (as long as we stand in the folder)
        try:
            yield listener
        finally:
            with contextlib.suppress(OSError):
                if path.stat().st_ino == own:  # else a daemon that came after us listens there
                    path.unlink()
