"""Regular expressions that are compiled when they are first used.

The judges of what people say have six hundred of them. Compiled at import they were a quarter of what a daemon
needs to start, and a command that prints one line paid for them all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, AnyStr, cast

_METHODS = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn")


class Later:
    """Stands for `re.compile(pattern, flags)`: has its methods and attributes."""

    def __init__(self, pattern: str | bytes, flags: int | re.RegexFlag) -> None:
        self.pattern = pattern
        self.asked = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made: re.Pattern[Any] = re.compile(self.pattern, self.asked)
        for method in _METHODS:  # found without this function from now on
            bound: Callable[..., Any] = getattr(made, method)
            self.__dict__[method] = bound
        return getattr(made, name)


def regex(pattern: AnyStr, flags: int | re.RegexFlag = 0) -> re.Pattern[AnyStr]:
    """`re.compile(pattern, flags)`, done at its first use. A wrong pattern is an `re.error` there, not here."""
    return cast("re.Pattern[AnyStr]", Later(pattern, flags))
