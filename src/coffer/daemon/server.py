"""The server of the daemon: uvicorn, with limits that it lacks and without the signals and ticks that it has."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from coffer.daemon.gate import App

HEAD_SECONDS = 5.0
"""For the head of a request to arrive, from the connection or the answer before it."""
MOST = 64
"""Connections at once; above it requests are answered 503."""
MOST_OPEN = 4 * MOST
"""Connections above which a new one is closed unheard: each holds a descriptor."""
GRACE_SECONDS = 5
"""For answers under way when the daemon ends."""


class Protocol(H11Protocol):
    """HTTP/1.1 with a time limit for heads: a client that trickles one would hold its place for ever."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock."""
        super().connection_made(transport)
        if len(self.connections) > MOST_OPEN:
            transport.abort()
            return
        self._late = self.loop.call_later(HEAD_SECONDS, self._close_late)

    def handle_events(self) -> None:
        """Stop the clock where a head is complete."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._stop_clock()

    def on_response_complete(self) -> None:
        """Start it again for the next one."""
        super().on_response_complete()
        self._stop_clock()
        if not self.transport.is_closing() and (self.cycle is None or self.cycle.response_complete):
            self._late = self.loop.call_later(HEAD_SECONDS, self._close_late)

    def connection_lost(self, exc: Exception | None) -> None:
        """No clock outlives its connection."""
        self._stop_clock()
        super().connection_lost(exc)

    def _close_late(self) -> None:
        self.transport.abort()

    def _stop_clock(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class Server(uvicorn.Server):
    """A server that its owner ends: signals are the daemon's, and nothing wakes it up ten times a second."""

    def __init__(self, app: App, most: int = MOST) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Protocol,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                limit_concurrency=most,
                timeout_graceful_shutdown=GRACE_SECONDS,
                h11_max_incomplete_event_size=65_536,
            )
        )
        self._ended = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None."""
        yield

    async def main_loop(self) -> None:
        """Wait for the end."""
        await self._ended.wait()

    def end(self) -> None:
        """Answer what is under way and end."""
        self.should_exit = True
        self._ended.set()

    async def over(self, listener: socket.socket, ready: asyncio.Event) -> None:
        """Serve on this socket until the end; ready is set once it listens."""
        task: asyncio.Task[Any] = asyncio.ensure_future(self.serve(sockets=[listener]))
        while not self.started and not task.done():  # noqa: ASYNC110  (uvicorn has a flag and no event)
            await asyncio.sleep(0.005)
        ready.set()
        await task
