"""A pipe without a daemon answers what the SDK answers: the same handshake, the same tools, in each version of MCP."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import types
from mcp.types import version as mcp_version

from coffer import pipe
from coffer.mcp import hello, table
from coffer.store.home import Home
from coffer.work.delivery.bundles import TOOLS
from tests.mcp.rig import OPENING, Rig

ASKED = (*hello.VERSIONS, "2026-07-28", "2099-01-01", "", "x" * 300)


def shake(rig: Rig, tide: Path, wanted: str) -> list[Any]:
    with rig.pipe(tide) as client:
        opened = client.ask("initialize", OPENING | {"protocolVersion": wanted})
        client.say(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return [opened, client.ask("tools/list"), client.ask("tools/list", {"_meta": {"progressToken": 3}})]


def test_the_pipes_answers_are_the_sdks(rig: Rig, tide: Path) -> None:
    alone = {wanted: shake(rig, tide, wanted) for wanted in ASKED}
    rig.serve()
    rig.limit("GRACE", 60.0)
    assert {wanted: shake(rig, tide, wanted) for wanted in ASKED} == alone
    assert all("result" in answer for answers in alone.values() for answer in answers)


WRONG: tuple[dict[str, Any], ...] = (
    {},
    {"protocolVersion": "2025-11-25"},
    OPENING | {"capabilities": []},
    OPENING | {"clientInfo": {"name": "x"}},
    OPENING | {"protocolVersion": 7},
)


@pytest.mark.parametrize("wrong", WRONG)
def test_a_handshake_that_is_wrong_is_left_to_the_sdk(wrong: dict[str, Any]) -> None:
    slot = pipe.Slot()
    slot.client_said(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": wrong}).encode() + b"\n"
    )
    slot.answer_alone({"versions": {}, "otherwise": ""})
    assert not slot.to_client
    assert slot.waiting()


def test_the_versions_with_a_handshake_are_the_sdks() -> None:
    assert mcp_version.HANDSHAKE_PROTOCOL_VERSIONS == hello.VERSIONS


def test_the_file_is_written_when_it_is_not_current(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path / "home")
    assert not hello.is_current(home)
    asyncio.run(hello.refresh(home))
    assert not home.root.exists(), "a folder that was deleted is not made again by what a daemon starts"
    home.make(home.root)
    asyncio.run(hello.refresh(home))
    assert hello.is_current(home)
    assert hello.path(home).stat().st_mode & 0o777 == 0o600
    assert not hello.write(home)
    monkeypatch.setattr(hello, "INSTRUCTIONS", "others")
    assert not hello.is_current(home)
    hello.path(home).write_bytes(b"[")
    assert not hello.is_current(home)


def test_nothing_but_a_connection_imports_the_sdk() -> None:
    code = "import sys, coffer.mcp.listen, coffer.mcp.run; print([m for m in sys.modules if m.split('.')[0] == 'mcp'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_seeded_rule_is_sent_exactly_when_its_tools_are_there() -> None:
    assert {row.name for row in table.TABLE} == TOOLS


def test_schemas_are_plain_objects_and_instructions_short() -> None:
    for row in table.TABLE:
        schema = row.schema()
        assert schema["type"] == "object"
        assert "$ref" not in json.dumps(schema)
        assert all(field["description"] for field in schema["properties"].values())
        types.Tool(name=row.name, input_schema=schema)
    assert len(table.INSTRUCTIONS) < 400
    listed = json.dumps([[row.description, row.schema()] for row in table.TABLE])
    assert len(listed) < 900 * len(table.TABLE), "each session pays for this"
