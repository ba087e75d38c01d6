"""The key of a configured model: from an environment variable, or from a file that only its owner may read.

A daemon has no variable of a person's terminal, whoever started it; the file is what it can read. Nothing here repeats
what a variable or a file holds.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field

from coffer.core.settings import Model

LARGEST = 1 << 12
"""Bytes of a key's file."""
_OTHERS = 0o077


@dataclass(frozen=True, slots=True)
class Key:
    """text: "" for none. source: the variable or the file that it comes from. problem, advice: why there is none."""

    text: str = field(default="", repr=False)
    source: str = ""
    problem: str = ""
    advice: str = ""


def key_of(model: Model, environment: Mapping[str, str]) -> Key:
    """A model's key: the variable's where that is set, else the file's; none where the settings name neither."""
    said = environment.get(model.key_env, "").strip() if model.key_env else ""
    if said:
        return _checked(said, model.key_env, f"what the environment variable {model.key_env} holds")
    if model.key_file:
        return _filed(_path(model.key_file, environment))
    if not model.key_env:
        return Key()
    return Key(
        problem=f"the environment variable {model.key_env}, which `model.key_env` names, is not set here",
        advice='Set it, name a file with the key in `model.key_file`, or set `model.provider = "none"`.',
    )


def _path(said: str, environment: Mapping[str, str]) -> str:
    home = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111  (text all along)
    return os.path.join(home, said[2:]) if said.startswith("~/") else said  # noqa: PTH118


def _filed(path: str) -> Key:
    """The key in a file. It must be the person's own, and closed to others: a key that others can read is none."""
    advice = "Look at `model.key_file` and the file that it names."
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except (OSError, ValueError) as error:
        why = (getattr(error, "strerror", None) or str(error)).lower()
        return Key(source=path, problem=f"the file {path} can't be read: {why}", advice=advice)
    try:
        found = os.fstat(descriptor)
        problem = _unfit(path, found)
        said = os.read(descriptor, LARGEST + 1).decode("utf-8", "replace").strip() if not problem else ""
    except OSError as error:
        problem, said = f"the file {path} can't be read: {(error.strerror or '').lower()}", ""
    finally:
        os.close(descriptor)
    if problem:
        closed = f"`chmod 600 {path}` closes it." if "other users" in problem else advice
        return Key(source=path, problem=problem, advice=closed)
    if not said:
        return Key(source=path, problem=f"the file {path} is empty", advice="Put the key into it, alone.")
    return _checked(said, path, f"what the file {path} holds")


def _unfit(path: str, found: os.stat_result) -> str:
    if not stat.S_ISREG(found.st_mode):
        return f"{path} is no file"
    if found.st_uid != os.geteuid():
        return f"the file {path} is another user's"
    if found.st_mode & _OTHERS:
        return f"the file {path} is open to other users"
    return f"the file {path} is too large for a key" if found.st_size > LARGEST else ""


def _checked(key: str, source: str, what: str) -> Key:
    """A key that a header may hold: the HTTP library would repeat the whole value in its error."""
    if key.isascii() and key.isprintable() and " " not in key:
        return Key(key, source)
    return Key(
        source=source,
        problem=f"{what} is no key: it has blanks or signs in it that no header may have",
        advice="It must be the key alone.",
    )
