"""How a table of `config.toml` is read: each value asked for by its key, with what is allowed.

A wrong value is told and the default holds, so that all that is wrong is told at once; a key that nobody asked for is a
warning. A value that looks like a secret is never repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from coffer.core.redact import redact

LONGEST_SHOWN = 40
"""Characters of a wrong value that an error repeats."""


class SettingsWrong(ValueError):
    """Values that can't be meant. problems: a sentence each, which names the key and what is allowed."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(" ".join(self.problems))


@dataclass(slots=True)
class Told:
    """What is to be said of a file: problems and warnings, a sentence each."""

    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Table:
    """One table of the file, and which of its keys were asked for. name: `digest.` for `[digest]`."""

    values: Mapping[str, Any]
    name: str
    told: Told
    known: list[str] = field(default_factory=list)

    def table(self, key: str) -> Table:
        """A table within this one."""
        self.known.append(key)
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            self.told.problems.append(f"`{self.name}{key}` must be a table: write `[{self.name}{key}]`.")
            value = {}
        return Table(value, f"{self.name}{key}.", self.told)

    def whole(self, key: str, default: int, least: int, most: int) -> int:
        """A whole number."""
        value = self._value(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self._refuse(key, value, f"a whole number from {least} to {most}")
            return default
        return value

    def number(self, key: str, default: float, least: float, most: float) -> float:
        """A number; NaN lies nowhere."""
        value = self._value(key, default)
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        if not fits or not least <= value <= most:  # nan lies nowhere
            self._refuse(key, value, f"a number from {least:g} to {most:g}")
            return default
        return float(value)

    def switch(self, key: str, *, default: bool) -> bool:
        """True or false."""
        value = self._value(key, default)
        if not isinstance(value, bool):
            self._refuse(key, value, "true or false")
            return default
        return value

    def text(self, key: str, allowed: re.Pattern[str], what: str) -> str:
        """A text that matches as a whole; empty where there is none."""
        value = self._value(key, "")
        if not isinstance(value, str) or (value and not allowed.fullmatch(value)):
            self._refuse(key, value, what)
            return ""
        return value

    def done(self) -> None:
        """Warn of what nobody asked for."""
        names = {known.lower(): known for known in self.known}
        for key in self.values:
            if key not in self.known:
                near = get_close_matches(key.lower(), names, 1, 0.5)
                hint = f" Did you mean `{self.name}{names[near[0]]}`?" if near else ""
                self.told.warnings.append(
                    f"The setting `{self.name}{_shown(key)}` is not known and has no effect.{hint}"
                )

    def _value(self, key: str, default: Any) -> Any:
        self.known.append(key)
        return self.values.get(key, default)

    def _refuse(self, key: str, value: object, allowed: str) -> None:
        self.told.problems.append(f"`{self.name}{key}` is {_shown(value)}, but must be {allowed}.")


def _shown(value: object) -> str:
    """A wrong value for a sentence: short, on one line, and nothing that may be a secret."""
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    if isinstance(value, int) and value.bit_length() > 64:  # Python refuses to write out very long ones
        return "a number beyond all measure"
    said = str(value).lower() if isinstance(value, bool) else str(value)
    if redact(said).found:
        return "something that looks like a secret"
    said = "".join(char if char.isprintable() else " " for char in said[: LONGEST_SHOWN + 1])
    said = said if len(said) <= LONGEST_SHOWN else said[: LONGEST_SHOWN - 1] + "…"
    return said if said.strip() else "empty"
