"""`mcp-hello.json`: what the SDK answers to a handshake and a list of tools, for pipes that find no daemon.

Run as `python -P -m coffer.mcp.hello HOME` it writes the file; the daemon does so in a process of its own, since
the SDK is not to be imported before a pipe comes.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import sys
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from coffer.core.text_hash import text_hash
from coffer.disk.put import put
from coffer.mcp.caller import Caller, House
from coffer.mcp.table import INSTRUCTIONS, TABLE
from coffer.store.home import Home

FILE = "mcp-hello.json"
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Those with a handshake. The next one has none: each of its requests stands for itself and waits for the daemon."""
_UNKNOWN = "0"
_PATIENCE = 60.0
log = logging.getLogger(__name__)


def path(home: Home) -> Path:
    """Where it lies."""
    return home.root / FILE


def is_current(home: Home) -> bool:
    """Whether the file is what this version of Coffer, with this version of the SDK, would write."""
    try:
        told = json.loads(path(home).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(told, dict) and told.get("made_of") == _made_of()


async def refresh(home: Home) -> None:
    """Write the file anew where it is not current."""
    if is_current(home):
        return
    words = (sys.executable, "-P", "-m", __name__, str(home.root))
    nowhere = asyncio.subprocess.DEVNULL
    writer = await asyncio.create_subprocess_exec(*words, stdin=nowhere, stdout=nowhere, stderr=nowhere)
    try:
        code = await asyncio.wait_for(writer.wait(), _PATIENCE)
    except (TimeoutError, asyncio.CancelledError):
        writer.kill()
        raise
    if code:
        log.warning("%s could not be written; pipes without a daemon have to wait for one", path(home))


def write(home: Home) -> bool:
    """Write the file; False where it is so already. Raises WriteFailed."""
    home.make(home.root)
    told = {"made_of": _made_of(), **asyncio.run(answers(home))}
    return put(path(home), json.dumps(told, indent=1).encode() + b"\n", 0o600)


async def answers(home: Home) -> dict[str, Any]:
    """The SDK's own answers, by the version of MCP that is asked for; `otherwise`: for any other."""
    versions = {wanted: await _asked(home, wanted) for wanted in VERSIONS}
    unknown = (await _asked(home, _UNKNOWN))["initialize"]["protocolVersion"]
    return {"versions": versions, "otherwise": unknown}


async def _asked(home: Home, wanted: str) -> dict[str, Any]:
    """A handshake and a list of tools, over a real connection."""
    server = import_module("coffer.mcp.server")
    ours, theirs = socket.socketpair()
    house = House(home, Path("/"), lambda: datetime.now(UTC))
    served = asyncio.create_task(_served(server, house, theirs))
    reader, writer = await asyncio.open_connection(sock=ours, limit=1 << 20)
    opening = {
        "protocolVersion": wanted,
        "capabilities": {},
        "clientInfo": {"name": "coffer", "version": "1"},
    }
    said: tuple[dict[str, Any], ...] = (
        {"id": 1, "method": "initialize", "params": opening},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    )
    writer.writelines(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in said)
    found: dict[int, Any] = {}
    async for line in reader:
        _, _, answer = line.partition(b" ")
        told = json.loads(answer) if answer.startswith(b"{") else {}
        if "result" in told:
            found[told["id"]] = told["result"]
        if len(found) == 2:
            break
    writer.close()
    await served
    return {"initialize": found[1], "tools/list": found[2]}


async def _served(server: Any, house: House, end: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=end)
    await server.serve_session(Caller("claude", ""), house, reader, writer)
    writer.close()


def _made_of() -> str:
    """A hash of all that the answers hang on."""
    tools = [(row.name, row.title, row.description, row.schema(), row.reads) for row in TABLE]
    text = json.dumps([tools, INSTRUCTIONS, _version("mcp"), _version("coffer-agent")], sort_keys=True)
    return text_hash(text)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    write(Home(Path(sys.argv[1]), stands=True))
