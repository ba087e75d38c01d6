"""The daemon's HTTP interface (DESIGN section 4; docs/formats.md). It knows nothing: it asks and tells."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, Protocol

from fastapi import FastAPI, HTTPException, Query, Request, Response

from coffer.agents.hook_table import HOOK_AGENTS
from coffer.daemon.answers import Answered
from coffer.daemon.listen import NAME
from coffer.work.delivery.deliver import LATE

V1 = "/api/v1"
_STEPS = 3
"""Turns of the loop in which the end of a connection is seen that stood behind what it said."""


class Ears(Protocol):
    """What the interface needs of the daemon."""

    async def event(self, agent: str, event: str, body: bytes, headers: dict[str, str]) -> Answered:
        """The answer to a hook's event."""

    async def context(self, agent: str, folder: Path) -> dict[str, Any]:
        """What a session in a folder would be sent."""

    async def ended(self, agent: str, session: str) -> bool:
        """Hear that a session is over; False where it isn't known."""

    def status(self) -> dict[str, Any]:
        """What the daemon is doing."""


def application(ears: Ears, version: str, pid: int) -> FastAPI:
    """The interface as an ASGI application."""
    app = FastAPI(
        title="Coffer",
        version=version,
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
        openapi_url=f"{V1}/openapi.json",
    )

    @app.get(f"{V1}/health")
    async def health() -> dict[str, Any]:
        """Whether it is there, and which process it is."""
        return {"name": NAME, "version": version, "pid": pid}

    @app.get(f"{V1}/status")
    async def status() -> dict[str, Any]:
        """What it follows and does."""
        return ears.status()

    @app.get(f"{V1}/agents/{{name}}/session-context")
    async def session_context(name: str, cwd: Annotated[str, Query()]) -> dict[str, Any]:
        """What a new session in this folder would be sent. Makes and writes nothing."""
        _known(name)
        if not cwd.startswith("/") or "\0" in cwd:
            raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, "cwd must be an absolute path")
        return await ears.context(name, Path(cwd))

    @app.post(f"{V1}/agents/{{name}}/sessions/{{session_id}}/end", status_code=HTTPStatus.ACCEPTED)
    async def end(name: str, session_id: str) -> dict[str, bool]:
        """Say that a session is over: what is new in it is learned now and not at the next look."""
        _known(name)
        return {"known": await ears.ended(name, session_id)}

    _events(app, ears.event)
    return app


def _events(app: FastAPI, heard: Callable[[str, str, bytes, dict[str, str]], Awaitable[Answered]]) -> None:
    @app.post(
        f"{V1}/agents/{{name}}/events/{{event}}",
        responses={
            HTTPStatus.OK: {"content": {"application/json": {}}, "description": "what the hook prints"}
        },
    )
    async def events(name: str, event: str, request: Request) -> Response:
        """A hook's event: its stdin as the body, what it has to print as the answer, which may be nothing."""
        body, headers = await request.body(), dict(request.headers)
        headers.pop(LATE, None)  # ours to say
        for _ in range(_STEPS):
            await asyncio.sleep(0)
        if await request.is_disconnected():
            headers[LATE] = "1"
        answered = await heard(name, event, body, headers)
        return Response(answered.body, media_type="application/json")


def _known(agent: str) -> None:
    if agent not in HOOK_AGENTS:
        raise HTTPException(HTTPStatus.NOT_FOUND, "no agent of that name")
