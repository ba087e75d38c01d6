"""Whether this process was started by a coding agent.

Two signs, each enough: variables that the clients set for what their model runs (seen in Claude Code 2.1.197 and
Codex 0.171.0), and an agent among the processes above. A model may run `env -i coffer …`, so the processes count
alone; a launcher may hide the process, so the variables count alone.

A process that has cut itself loose from the agent with a clean environment is not seen. That is no boundary against
a program of this user's that means to deceive (docs/threat-model.md); it keeps an agent that only follows a text
from acting as the person.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import PurePath

VARIABLES: dict[str, str] = {
    "CLAUDECODE": "Claude Code",
    "CLAUDE_CODE_ENTRYPOINT": "Claude Code",
    "CLAUDE_CODE_SESSION_ID": "Claude Code",
    "CLAUDE_CODE_CHILD_SESSION": "Claude Code",
    "CLAUDE_CODE_EXECPATH": "Claude Code",
    "CODEX_THREAD_ID": "Codex",
    "CODEX_SESSION_ID": "Codex",
    "CODEX_TOOL_CALL_ID": "Codex",
    "CODEX_CI": "Codex",
    "AI_AGENT": "an agent",
}
"""Set for every command that a model runs, never by a person for a client: CODEX_HOME and CLAUDE_CONFIG_DIR aren't
among them."""

_PROGRAMS = {"claude": "Claude Code", "codex": "Codex"}
_RUNTIMES = ("node", "bun", "deno")
_PACKAGES = {"claude-code": "Claude Code", "@openai/codex": "Codex"}


def agent_above(environment: Mapping[str, str], pid: int | None = None) -> str:
    """The name of the agent that this process (or `pid`) runs under, "" for none."""
    for variable, agent in VARIABLES.items():
        if environment.get(variable):
            return agent
    import psutil  # noqa: PLC0415  (11 ms that only what changes trust needs)

    try:
        above = psutil.Process(os.getpid() if pid is None else pid).parents()
    except psutil.Error:
        return ""  # it has just ended
    return next((agent for process in above if (agent := agent_of(process))), "")


def pids_above() -> list[int]:
    """The processes above this one, the nearest first."""
    import psutil  # noqa: PLC0415  (see above)

    try:
        return [process.pid for process in psutil.Process().parents()]
    except psutil.Error:
        return []  # one of them has just ended


def running_agents() -> list[tuple[str, float]]:
    """Name, and start in seconds since the epoch, of every running process that is an agent."""
    import psutil  # noqa: PLC0415  (see above)

    found = []
    for process in psutil.process_iter():
        try:
            if agent := agent_of(process):
                found.append((agent, process.create_time()))
        except psutil.Error:
            continue  # it has just ended
    return found


def started(pid: int) -> float | None:
    """When a process started, in seconds since the epoch; None where there is none, or it can't be told."""
    import psutil  # noqa: PLC0415  (see above)

    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return None


def agent_of(process: object) -> str:
    """Which agent a process (of psutil's) is, "" for none."""
    import psutil  # noqa: PLC0415  (see above)

    assert isinstance(process, psutil.Process)
    said: list[str] = []
    line: list[str] = []
    for ask in (process.name, process.exe):
        try:
            said.append(ask())
        except psutil.Error:
            continue  # another user's: what can be seen of it has to do
    try:
        line = process.cmdline()
    except psutil.Error:
        line = []
    return named(said, line)


def named(names: Sequence[str], line: Sequence[str]) -> str:
    """The agent of a process with these names and paths, and this command line; "" for none.

    The program, or the script that a JavaScript runtime runs; other arguments are only words about an agent. The
    native installer names the program by its version (`…/claude/versions/2.1.197`).
    """
    for name in (*names, *line[:1]):
        path = PurePath(name)
        if agent := _program(path):
            return agent
        if path.parent.name == "versions" and path.parent.parent.name == "claude":
            return _PROGRAMS["claude"]
    if not any(PurePath(name).name.startswith(_RUNTIMES) for name in (*names, *line[:1])):
        return ""
    script = next((word for word in line[1:] if not word.startswith("-")), "")
    packaged = next((agent for package, agent in _PACKAGES.items() if package in script), "")
    return packaged or _program(PurePath(script))


def _program(path: PurePath) -> str:
    """The agent whose program a path is: `claude`, `codex`, `codex-x86_64-unknown-linux-musl`, `codex.exe`."""
    name = path.name.casefold().removesuffix(".exe").removesuffix(".js")
    return next(
        (agent for word, agent in _PROGRAMS.items() if name == word or name.startswith(f"{word}-")), ""
    )
