"""Where a model's key comes from, and what is none."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from coffer.core.settings import Model
from coffer.models.key import LARGEST, key_of

KEY = "plover-Zq8Tq0cVhR5mBn2LxKpW7yUe"


def keyed(file: str = "", **more: str) -> Model:
    return Model(**{"provider": "openai", "model": "m", "key_file": file, **more})  # type: ignore[arg-type]


def written(path: Path, said: str | bytes, mode: int = 0o600) -> None:
    path.write_bytes(said if isinstance(said, bytes) else said.encode())
    path.chmod(mode)


def linked(path: Path) -> None:
    written(path.with_name("real"), KEY)
    path.symlink_to("real")


FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "its own": (lambda path: written(path, f"{KEY}\n"), ""),
    "read-only": (lambda path: written(path, KEY, 0o400), ""),
    "a link": (linked, ""),
    "none": (str, "can't be read: no such file"),
    "a folder": (Path.mkdir, "is no file"),
    "a pipe": (os.mkfifo, "is no file"),
    "open to the group": (lambda path: written(path, KEY, 0o640), "is open to other users"),
    "open to all": (lambda path: written(path, KEY, 0o604), "is open to other users"),
    "empty": (lambda path: written(path, " \n"), "is empty"),
    "two lines": (lambda path: written(path, f"{KEY}\n{KEY}"), "is no key"),
    "with a blank": (lambda path: written(path, f"Bearer {KEY}"), "is no key"),
    "no text": (lambda path: written(path, b"\xff\xfe\x00" + KEY.encode()), "is no key"),
    "large": (lambda path: written(path, "k" * (LARGEST + 1)), "is too large"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file(name: str, tmp_path: Path) -> None:
    make, problem = FILES[name]
    make(tmp_path / "key")
    found = key_of(keyed("~/key"), {"HOME": str(tmp_path)})
    assert found.text == ("" if problem else KEY)
    assert problem in found.problem
    assert bool(found.problem) == bool(problem) == bool(found.advice)
    assert KEY not in repr(found)
    assert KEY not in found.problem + found.advice


def test_the_variable_of_a_terminal_goes_before_the_file(tmp_path: Path) -> None:
    written(tmp_path / "key", "filed")
    model = keyed(str(tmp_path / "key"), key_env="PLOVER_KEY")
    assert key_of(model, {"PLOVER_KEY": "set"}).text == "set"
    assert key_of(model, {}).text == "filed"
    assert "PLOVER_KEY" in key_of(keyed(key_env="PLOVER_KEY"), {}).problem
    assert key_of(keyed(), {}) == key_of(keyed(), {"PLOVER_KEY": "set"})
    assert not key_of(keyed(), {}).problem
