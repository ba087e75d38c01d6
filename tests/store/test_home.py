"""Coffer's folder: made when something is kept, and not made again by a process that had it before."""

from __future__ import annotations

from pathlib import Path

import pytest

from coffer.disk.lock import acquired
from coffer.store.home import Home


def test_places_are_made_private(tmp_path: Path) -> None:
    home = Home(tmp_path / "a" / "b")
    assert home.make(home.root / "memory" / "global") == home.root / "memory" / "global"
    assert [path.stat().st_mode & 0o777 for path in (home.root, home.root / "memory" / "global")] == [
        0o700
    ] * 2
    assert home.make(home.root) == home.root


def test_one_that_stood_and_was_deleted_is_not_made_again(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", stands=True)
    for folder in (home.root, home.locks, home.root / "memory" / "global"):
        with pytest.raises(FileNotFoundError):
            home.make(folder)
    with pytest.raises(FileNotFoundError):
        acquired(home.locks / "a.lock", 0)
    assert not home.root.exists()
    assert home == Home(home.root)
