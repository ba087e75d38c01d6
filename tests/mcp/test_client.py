"""The official SDK's own client through the pipe, with a daemon and without."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.mcp.rig import TOOLS, Rig
from tests.mcp.test_tools import RULE, ticket_for


@pytest.mark.parametrize("cold", [False, True])
def test_the_sdks_client_proposes_a_rule(rig: Rig, tide: Path, *, cold: bool) -> None:
    if cold:
        rig.startable()
    else:
        rig.serve()
    ticket = ticket_for(rig, tide)

    async def talk() -> tuple[list[str], str, bool]:
        stub = StdioServerParameters(
            command=str(rig.home.root / "bin" / "coffer-mcp"),
            args=["claude"],
            env=rig.environment,
            cwd=str(tide),
        )
        async with stdio_client(stub) as (read, write), ClientSession(read, write) as session:
            opened = await session.initialize()
            assert opened.instructions
            tools = await session.list_tools()
            done = await session.call_tool("propose_rule", {"ticket": ticket, **RULE})
            await session.send_ping()
            (part,) = done.content
            assert part.type == "text"
            return [tool.name for tool in tools.tools], part.text, bool(done.is_error)

    names, text, failed = asyncio.run(talk())
    assert names == TOOLS
    assert not failed
    assert "accepted it" in text
    assert [rule.state for rule in rig.desktop.rules(tide)] == ["pending"]
