"""A machine for one test: a home, commands in forks, and a session at rest in its place."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.prune.forks import Forks, forks

_MEMORY = Path("/dev/shm")  # noqa: S108  (a file system in memory, where there is one)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: thousands of syncs to a disk take minutes."""
    if not _MEMORY.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="coffer-test-", dir=_MEMORY) as made:
        yield Path(made)


@pytest.fixture
def machine(folder: Path) -> Forks:
    return forks(folder)
