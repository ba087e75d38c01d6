"""The guard itself: what it refuses, and what it must not refuse."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.real_home import RealHome


@pytest.fixture
def guard(tmp_path: Path) -> RealHome:
    return RealHome(str(tmp_path), (str(tmp_path / "project"),))


@pytest.mark.parametrize(
    ("event", "path", "flags"),
    [
        ("open", ".claude/settings.json", os.O_RDONLY),
        ("open", ".codex/config.toml", os.O_RDONLY),
        ("os.scandir", ".claude/projects", 0),
        ("open", "notes.txt", os.O_WRONLY | os.O_CREAT),
        ("os.rename", ".bashrc", 0),
        ("os.remove", ".coffer/coffer.db", 0),
    ],
)
def test_refuses(guard: RealHome, event: str, path: str, flags: int) -> None:
    with pytest.raises(PermissionError):
        guard.hook(event, (f"{guard.home}/{path}", None, flags))
    assert guard.touched


@pytest.mark.parametrize(
    ("event", "path", "flags"),
    [
        ("open", "project/src/a.py", os.O_WRONLY),
        ("open", ".gitconfig", os.O_RDONLY),
        ("os.scandir", ".local", 0),
        ("open", "../elsewhere", os.O_WRONLY),
    ],
)
def test_lets_pass(guard: RealHome, event: str, path: str, flags: int) -> None:
    guard.hook(event, (f"{guard.home}/{path}", None, flags))
    assert not guard.touched
