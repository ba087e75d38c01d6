"""Every test runs in a home of its own; one that touches the real home fails by itself."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_home import RealHome

_REAL = RealHome.of(os.environ, Path(__file__).parents[1])
_HOME = tempfile.TemporaryDirectory(prefix="coffer-home-")

for name in (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "COFFER_HOME",
    "COZEMPIC_CONTEXT_WINDOW",
    "CLAUDE_CODE_SESSION_ID",
):
    os.environ.pop(name, None)
os.environ["HOME"] = _HOME.name
sys.addaudithook(_REAL.hook)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home for one test."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture(scope="session", autouse=True)
def _remove_the_home() -> Iterator[None]:
    yield
    _HOME.cleanup()


@pytest.fixture(autouse=True)
def _no_touch_of_the_real_home() -> Iterator[None]:
    _REAL.touched.clear()
    yield
    assert not _REAL.touched, f"the real home was touched: {_REAL.touched}"
