"""Fixtures of the lab. Without the client a lab test is skipped, in CI it fails."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.lab import clients
from tests.lab.anthropic_server import AnthropicServer
from tests.lab.claude import ClaudeHome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def claude_binary() -> Path:
    found = clients.find("claude")
    if found is None:
        reason = "Claude Code is not installed for the lab: python tests/lab/install.py"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.fixture
def anthropic_server() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


@pytest.fixture
def claude_home(
    tmp_path: Path, claude_binary: Path, anthropic_server: AnthropicServer
) -> Iterator[ClaudeHome]:
    with ClaudeHome(tmp_path, anthropic_server, binary=claude_binary) as home:
        yield home
