"""The agents' own memory, seen in what the real clients send: there, switched off, and there again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from coffer.disk.places import Places
from coffer.store.home import Home
from coffer.work.agent_settings import native_memory as memory
from tests.lab import clients
from tests.lab.claude import ClaudeHome
from tests.lab.codex import CodexHome
from tests.lab.openai_server import OpenAIServer

pytestmark = pytest.mark.lab

REMEMBERED = "MARK the tide table hangs in the boathouse"


@pytest.fixture
def codex(tmp_path: Path) -> Iterator[CodexHome]:
    if clients.find("codex") is None:
        absent = "the real Codex is not installed (python -m tests.lab.install)"
        pytest.fail(absent) if os.environ.get("CI") == "true" else pytest.skip(absent)
    with (
        OpenAIServer({"default": {"text": "Noted."}}) as server,
        CodexHome(tmp_path, server, config_extra="features.memories = true # mine\n") as home,
    ):
        yield home


def switch(agent: str, environment: Mapping[str, str], home: Home, *, off: bool) -> None:
    places = Places.of(environment)
    plan = memory.plan_disable(agent, places) if off else memory.plan_restore(agent, places, home)
    assert plan.changed, plan
    memory.carry(plan, home)


def test_claude_is_without_its_memory_and_with_it_again(claude_home: ClaudeHome, tmp_path: Path) -> None:
    kept = claude_home.project_dir / "memory" / "MEMORY.md"
    kept.parent.mkdir(parents=True)
    kept.write_text(f"- {REMEMBERED}\n")
    file, home = claude_home.config / "settings.json", Home(tmp_path / "coffer")
    first = file.read_bytes()

    def asks() -> tuple[bool, bool]:
        """Whether the request has the section on memory, and what was remembered."""
        (request,) = claude_home.run("-p", "go").requests
        body = request.body or {}
        return "# Memory" in json.dumps(body["system"]), REMEMBERED in json.dumps(body["messages"])

    assert asks() == (True, True)
    switch("claude", claude_home.env(), home, off=True)
    assert asks() == (False, False)
    switch("claude", claude_home.env(), home, off=False)
    assert file.read_bytes() == first
    assert asks() == (True, True)


def test_codex_is_without_its_memory_and_with_it_again(codex: CodexHome, tmp_path: Path) -> None:
    kept = codex.codex_home / "memories"
    kept.mkdir()
    (kept / "memory_summary.md").write_text(f"{REMEMBERED}\n")
    file, home = codex.codex_home / "config.toml", Home(tmp_path / "coffer")

    def asks() -> bool:
        return any(REMEMBERED in json.dumps(r.items) for r in codex.exec(prompt="go").requests)

    assert asks()
    first = file.read_bytes()
    switch("codex", codex.env, home, off=True)
    assert not asks()
    switch("codex", codex.env, home, off=False)
    assert file.read_bytes() == first
    assert asks()
