"""What every request passes: how long it may be, how long it may take, and who may ask over TCP.

The socket lies in a folder that only its owner enters. A port on loopback is open to every user of the machine, and
to every web page that the person's browser shows: there a request needs the token, a Host that is this machine, and
no Origin but our own.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

LARGEST_BODY = 8_000_000
"""Bytes; what a hook sends at most (hook.LONGEST_SAID)."""
BODY_SECONDS = 10.0
"""For a body to arrive: a client that trickles one must not hold a place for ever."""


class Gate:
    """An application behind the checks. port, token: of loopback TCP; None for the socket, which needs neither."""

    def __init__(self, app: App, port: int | None = None, token: str = "") -> None:
        self._app, self._port, self._token = app, port, token

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            return
        headers = [(bytes(name).lower(), bytes(value)) for name, value in scope["headers"]]
        refusal = self._refusal(headers)
        if refusal is not None:
            await _answer(send, refusal)
            return
        body = await _body(receive)
        if isinstance(body, HTTPStatus):
            await _answer(send, body)
            return
        pieces: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def read() -> Message:
            return pieces.pop() if pieces else await receive()

        await self._app(scope, read, send)

    def _refusal(self, headers: list[tuple[bytes, bytes]]) -> HTTPStatus | None:
        if self._port is not None and (status := self._stranger(headers, self._port)) is not None:
            return status
        for value in _all(headers, b"content-length"):
            if not value.isdigit() or int(value) > LARGEST_BODY:
                return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        return None

    def _stranger(self, headers: list[tuple[bytes, bytes]], port: int) -> HTTPStatus | None:
        """Why a request over TCP is refused. A page that a name server leads here has another Host."""
        names = [f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")]
        hosts, origins = _all(headers, b"host"), _all(headers, b"origin")
        if len(hosts) != 1 or hosts[0] not in names:
            return HTTPStatus.MISDIRECTED_REQUEST
        if any(origin not in [b"http://" + name for name in names] for origin in origins):
            return HTTPStatus.FORBIDDEN
        shown = _all(headers, b"authorization")
        if len(shown) != 1 or not hmac.compare_digest(shown[0], b"Bearer " + self._token.encode()):
            return HTTPStatus.UNAUTHORIZED
        return None


async def _body(receive: Receive) -> bytes | HTTPStatus:
    """All of a request's body, counted and timed, or why not: the application sees none that is cut."""
    pieces, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                if size > LARGEST_BODY:
                    return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
                if not message.get("more_body", False):
                    return b"".join(pieces)
    except TimeoutError:
        return HTTPStatus.REQUEST_TIMEOUT


def _all(headers: list[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value for key, value in headers if key == name]


async def _answer(send: Send, status: HTTPStatus) -> None:
    body = f'{{"error":"{status.phrase}"}}'.encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": body})
