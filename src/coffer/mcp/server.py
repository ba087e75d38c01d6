"""One session of MCP over a connection, by the official SDK. Only a connection of a pipe imports this module.

The lines are the SDK's own, in frames: each line of the pipe is counted and answered with its number (pipe.py), so
that a pipe whose daemon died knows what it is still owed without reading a line.
"""

from __future__ import annotations

import base64
import json
import logging
import time
from asyncio import StreamReader, StreamWriter
from collections import defaultdict, deque
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.to_thread
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from pydantic import ValidationError

from coffer.mcp.caller import READY, Caller, House
from coffer.mcp.table import INSTRUCTIONS, TABLE, call
from coffer.mcp.tool import Answer

LONGEST = 1 << 25
"""Bytes of a line; pipe.py sends no longer one."""
AT_ONCE = 2
"""Calls of a session that work at a time."""
_PIECE = 1 << 18
_IMAGES = (
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
)
log = logging.getLogger(__name__)


async def serve_session(caller: Caller, house: House, reader: StreamReader, writer: StreamWriter) -> None:
    """Serve until the pipe is gone. Raises OSError where it goes in the middle of a word."""
    writer.write(READY + b"\n")
    wire = Wire(reader, writer)
    server = make_server(caller, house)
    await server.run(wire, Replies(wire), server.create_initialization_options())


def make_server(caller: Caller, house: House) -> Server[Any]:
    """The SDK's server with the tools of the table, for one caller."""
    limiter = anyio.CapacityLimiter(AT_ONCE)

    async def list_tools(
        _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(row.name) for row in TABLE])

    async def call_tool(
        _: ServerRequestContext[Any], asked: types.CallToolRequestParams
    ) -> types.CallToolResult:
        began, outcome, size = time.monotonic(), "failed", 0
        work = partial(call, asked.name, asked.arguments, caller, house)
        try:
            answer, outcome = await anyio.to_thread.run_sync(work, limiter=limiter)
            size = len(answer.text)
            return _result(answer)
        finally:
            name = asked.name if any(asked.name == row.name for row in TABLE) else "?"
            took = (time.monotonic() - began) * 1000
            log.info("%s %s: %s, %d characters, %.0f ms", caller.agent, name, outcome, size, took)

    server: Server[Any] = Server(
        "coffer",
        version=_version(),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.clear()  # the SDK's own tells calls to OpenTelemetry where that is set up: ours go nowhere
    return server


def _version() -> str:
    try:
        return version("coffer-agent")
    except PackageNotFoundError:
        return "0"


def _tool(name: str) -> types.Tool:
    row = next(row for row in TABLE if row.name == name)
    hints = types.ToolAnnotations(
        read_only_hint=row.reads, destructive_hint=False, idempotent_hint=row.reads, open_world_hint=False
    )
    return types.Tool(
        name=row.name,
        title=row.title,
        description=row.description,
        input_schema=row.schema(),
        annotations=hints,
    )


def _result(answer: Answer) -> types.CallToolResult:
    images = [
        types.ImageContent(type="image", data=base64.b64encode(image).decode(), mime_type=_kind(image))
        for image in answer.images
    ]
    said = types.TextContent(type="text", text=answer.text)
    return types.CallToolResult(content=[said, *images], is_error=answer.failed)


def _kind(image: bytes) -> str:
    return next((kind for start, kind in _IMAGES if image.startswith(start)), "image/png")


class Wire:
    """The lines of a pipe as messages of the SDK; what it reads from."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._rest = bytearray()
        self._lines: deque[bytes] = deque()
        self._count = 0
        self._owed: defaultdict[tuple[type, types.RequestId], deque[int]] = defaultdict(deque)

    async def receive(self) -> SessionMessage:
        """The next message. What is none is counted and passed over, as the SDK's own server on stdio does."""
        while (line := await self._line()) is not None:
            self._count += 1
            message = parsed(line)
            if isinstance(message, types.JSONRPCRequest):
                self._owed[type(message.id), message.id].append(self._count)
                unanswered = partial(self.settle, message.id, b"")
                return SessionMessage(message, ServerMessageMetadata(on_request_unanswered=unanswered))
            await self.frame(self._count, b"")
            if message is not None:
                return SessionMessage(message)
        raise anyio.EndOfStream

    async def settle(self, name: types.RequestId, answer: bytes) -> None:
        """Answer the oldest request of this id; an empty answer: it was cancelled."""
        owed = self._owed.get((type(name), name))
        number = owed.popleft() if owed else 0
        if not owed:
            self._owed.pop((type(name), name), None)
        await self.frame(number, answer)

    async def frame(self, number: int, line: bytes) -> None:
        """Send a line to the pipe. Raises anyio.BrokenResourceError where it is gone."""
        try:
            self._writer.write(b"%d %s\n" % (number, line))
            await self._writer.drain()
        except OSError as error:
            raise anyio.BrokenResourceError from error

    async def _line(self) -> bytes | None:
        while not self._lines:
            try:
                piece = await self._reader.read(_PIECE)
            except OSError:
                return None
            if not piece or len(self._rest) > LONGEST:
                return None
            *ended, last = piece.split(b"\n")
            for end in ended:
                self._lines.append(bytes(self._rest + end))
                self._rest.clear()
            self._rest += last
        return self._lines.popleft()

    async def aclose(self) -> None:
        """Nothing: who opened the connection closes it."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Replies:
    """What the SDK writes to."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def send(self, item: SessionMessage) -> None:
        """Send a message, an answer with the number of what it answers. Raises anyio.BrokenResourceError."""
        message = item.message
        line = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id is not None:
            await self._wire.settle(message.id, line)
        else:
            await self._wire.frame(0, line)

    async def aclose(self) -> None:
        """Nothing: who opened the connection closes it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def parsed(line: bytes) -> types.JSONRPCMessage | None:
    """A line as a message, None where it is none.

    The SDK's parser refuses half a surrogate pair and bytes that are no UTF-8, and then nobody would ever answer the
    call that holds one: those become question marks.
    """
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        pass
    try:
        told = json.dumps(json.loads(line.decode("utf-8", "replace")), ensure_ascii=False).encode(
            "utf-8", "replace"
        )
        return types.jsonrpc_message_adapter.validate_json(told, by_name=False)
    except (ValueError, RecursionError):
        return None
