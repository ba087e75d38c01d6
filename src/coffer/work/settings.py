"""The settings of this person: `~/.coffer/config.toml`, read and never written."""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coffer.core.regex import regex
from coffer.core.settings import Settings, settings_of
from coffer.core.settings_table import SettingsWrong
from coffer.errors import SettingsBroken
from coffer.store.home import Home

LARGEST = 1 << 20
"""Bytes. A larger file is no configuration."""

_AT = regex(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")


def config_path(home: Home) -> Path:
    """Where the settings stand."""
    return home.root / "config.toml"


def load(home: Home) -> Settings:
    """The settings; without a file the defaults. Raises SettingsBroken."""
    path = config_path(home)
    data = _read(path)
    if data is None:
        return Settings()
    try:
        return settings_of(_decoded(path, data))
    except SettingsWrong as error:
        raise SettingsBroken(str(path), 0, " ".join(error.problems)) from error


def keyless(settings: Settings, environment: Mapping[str, str]) -> str:
    """Why the daemon can't ask the configured model, as a sentence; "" where it can or need not.

    It has none of a person's variables: a key in one of those is none to it, whoever started it.
    """
    model = settings.model
    if model.provider == "none" or not (
        settings.learn.auto or (settings.journal.auto and settings.journal.model)
    ):
        return ""
    from coffer.models.key import key_of  # noqa: PLC0415  (only a configured model needs it)

    few = {"HOME": environment["HOME"]} if environment.get("HOME") else {}
    key = key_of(model, few)
    if not key.problem:
        return ""
    why = key.problem if model.key_file else f"a daemon has no variable {model.key_env}"
    return f"the daemon can't ask the model {model.model}: {why}"


def _read(path: Path) -> bytes | None:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # reading a pipe would wait for ever
            raise SettingsBroken(str(path), 0, "It is not a regular file.")
        if found.st_size > LARGEST:
            raise SettingsBroken(str(path), 0, f"It has {found.st_size} bytes, more than {LARGEST}.")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsBroken(str(path), 0, f"It can't be read: {error.strerror}.") from error


def _decoded(path: Path, data: bytes) -> dict[str, Any]:
    """The file as a dict; an error names its line, counted from 1."""
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingsBroken(str(path), line, "It is not UTF-8.") from error
    try:
        return tomllib.loads(text)
    except ValueError as error:  # also a number of thousands of digits
        said = str(error)
        at = _AT.search(said)
        line = int(at[1]) if at and at[1] else text.rstrip("\n").count("\n") + 1
        raise SettingsBroken(str(path), line, f"{_AT.sub('', said)}.") from error
    except RecursionError as error:
        raise SettingsBroken(str(path), 0, "Its values are nested too deeply.") from error
