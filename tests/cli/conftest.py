"""Fixtures: a bare machine, and one with a session of each agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.run import Machine, fill


@pytest.fixture
def bare(tmp_path: Path) -> Machine:
    """A machine on which no agent was ever used."""
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    return Machine(tmp_path / "home", tmp_path / "work")


@pytest.fixture
def machine(bare: Machine) -> Machine:
    """A machine with a session of Claude Code and one of Codex."""
    fill(bare)
    return bare
