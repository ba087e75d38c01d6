"""Which program `coffer run claude` starts, and with which arguments it is started again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from coffer.core.regex import regex
from coffer.launch.errors import AgentMissing, AgentUnknown

PROGRAMS = {"claude": "claude", "codex": "codex"}
"""Agent → its program."""

_WITH_VALUE = frozenset(
    {
        "--add-dir",
        "--agent",
        "--agents",
        "--allowed-tools",
        "--allowedTools",
        "--append-system-prompt",
        "--betas",
        "--debug-file",
        "--disallowed-tools",
        "--disallowedTools",
        "--effort",
        "--fallback-model",
        "--mcp-config",
        "--model",
        "--permission-mode",
        "--plugin-dir",
        "--setting-sources",
        "--settings",
        "--system-prompt",
        "--tools",
    }
)
_MANY_VALUES = frozenset(
    {
        "--add-dir",
        "--allowed-tools",
        "--allowedTools",
        "--betas",
        "--disallowed-tools",
        "--disallowedTools",
        "--mcp-config",
        "--tools",
    }
)
_ALONE = frozenset(
    {
        "--allow-dangerously-skip-permissions",
        "--ax-screen-reader",
        "--bare",
        "--brief",
        "--chrome",
        "--dangerously-skip-permissions",
        "--disable-slash-commands",
        "--ide",
        "--no-chrome",
        "--strict-mcp-config",
        "--verbose",
    }
)
"""Options of Claude Code 2.1.197 (`claude --help`) that a restart keeps. Any other, and there is no restart."""
_DROPPED_ALONE = frozenset(("-c", "--continue", "--fork-session"))
_DROPPED_WITH_VALUE = frozenset(("-r", "--resume", "--session-id"))
"""They say which conversation to open; the restart says that itself."""
_LONGEST_SCRIPT = 65_536
_CALLS_US = regex(rb"\bcoffer(?:\.cli\.main)?\b[\"']?\s+run\b")


def program(agent: str, environment: Mapping[str, str]) -> str:
    """The agent's program, by its whole path. Raises AgentUnknown, AgentMissing.

    A script of that name that leads back to us is passed over: it would start us for ever.
    """
    name = PROGRAMS.get(agent)
    if name is None:
        raise AgentUnknown(agent, list(PROGRAMS))
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which(name, path=folder or os.curdir)
        if found is not None and not _leads_back(Path(found)):
            return str(Path(found).absolute())
    raise AgentMissing(name)


def _leads_back(path: Path) -> bool:
    """Whether it is a script that calls `coffer run` again, and would so for ever."""
    try:
        with path.open("rb") as file:
            start = file.read(_LONGEST_SCRIPT)
    except OSError:
        return False  # it may be run without being read
    return start.startswith(b"#!") and _CALLS_US.search(start) is not None


def restarted(arguments: Sequence[str], session: str, model: str) -> list[str] | None:
    """Claude Code's arguments for the same session again; None where they can't be told apart for sure.

    The prompt is dropped, since it would be sent once more. The model is always named: a resume without it
    restores one without `[1m]`, and the window becomes 200K without a word (facts §5).
    """
    kept: list[str] = []
    named = ""
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word == "--" or not word.startswith("-"):
            return _again(kept, session, named or model) if len(rest) == (1 if word == "--" else 0) else None
        if name in _DROPPED_ALONE:
            continue
        if name in _DROPPED_WITH_VALUE:
            if not equals and rest and not rest[0].startswith("-"):
                rest.pop(0)
            continue
        if name in _ALONE:
            kept.append(word)
            continue
        if name not in _WITH_VALUE or (not equals and not rest):
            return None
        values = [] if equals else [rest.pop(0)]
        while name in _MANY_VALUES and not equals and rest and not rest[0].startswith("-"):
            values.append(rest.pop(0))  # the client takes them all, a prompt behind them too
        if name == "--model":
            named = value or values[0]
        else:
            kept += [word, *values]
    return _again(kept, session, named or model)


def _again(kept: list[str], session: str, model: str) -> list[str] | None:
    return [*kept, "--resume", session, "--model", model] if model else None
