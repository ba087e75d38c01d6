"""Recall by meaning through the pipe and the real server: on when the settings say so, off again without a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from coffer.work.memory import by_meaning
from tests.mcp.rig import Rig

QUESTION, ANSWER = (
    "may I ship on a weekend?",
    "Deploys are frozen from Friday noon until Monday morning.",
)


@pytest.mark.skipif(not by_meaning.installed(), reason="the extra `embeddings` is not installed")
def test_an_agent_finds_what_means_the_like(rig: Rig, tide: Path) -> None:
    rig.serve()
    config = rig.home.root / "config.toml"
    with rig.pipe(tide) as claude:
        claude.open()
        claude.call("remember", text=ANSWER)
        assert "Nothing in the vault" in claude.call("recall", query=QUESTION)[0]
        config.write_text("[recall]\nembeddings = true\n")
        assert ANSWER in claude.call("recall", query=QUESTION)[0]
        config.write_text("[recall]\nembeddings = false\n")
        assert "Nothing in the vault" in claude.call("recall", query=QUESTION)[0]
