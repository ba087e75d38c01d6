"""From what a person types to a transcript: an id, a unique prefix, a path, or `current`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from coffer.agents.table import recognise
from coffer.disk.files import open_source
from coffer.disk.places import Places
from coffer.disk.sessions import MAIN, SUBAGENT, WORKFLOW, Found, find_sessions
from coffer.errors import CofferError, NoCurrentSession, SessionAmbiguous, SessionNotFound

CURRENT = "current"
_SESSION_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID")
"""Set by the clients in the environment of what they start (facts/claude-code §2)."""


def find(name: str, places: Places, environment: Mapping[str, str], folder: Path, agent: str = "") -> Path:
    """The transcript that `name` means; folder: where the person stands, for `current`.

    agent: whose session of that folder is meant, "" for either's. A session that this process runs in is itself.

    Raises SessionNotFound, SessionAmbiguous, NoCurrentSession. A path is returned as it is, even where no
    file is: opening it says so.
    """
    if _is_path(name):
        return _expanded(Path(name))
    sessions = find_sessions(places)
    if name == CURRENT:
        return _current(sessions, environment, folder, agent)
    fitting = {found.path: found for found in sessions if found.id.startswith(name)}
    exact = [found for found in fitting.values() if found.id == name]
    candidates = exact or list(fitting.values())
    candidates = [found for found in candidates if found.kind not in (SUBAGENT, WORKFLOW)] or candidates
    if not candidates:
        if _is_there(Path(name)):
            return Path(name)
        raise SessionNotFound(name, len(sessions))
    if len({found.id for found in candidates}) > 1:
        raise SessionAmbiguous(name, sorted({found.id for found in candidates}))
    return candidates[0].path


def _is_path(name: str) -> bool:
    return "/" in name or name.endswith((".jsonl", ".zst")) or name in (".", "..")


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:
        return path  # no such user: a name as any other


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False  # too long for a name of a file, or with a NUL


def _current(sessions: Sequence[Found], environment: Mapping[str, str], folder: Path, agent: str) -> Path:
    """The session that this process runs in, else the newest of the folder or of the folders above it."""
    for variable in _SESSION_VARIABLES:
        said = environment.get(variable)
        for found in sessions:
            if said and found.id == said:
                return found.path
    here = folder.resolve()
    for found in sessions:
        if found.kind == MAIN and agent in ("", found.agent):
            there = folder_of(found)
            if there and (here == Path(there) or Path(there) in here.parents):
                return found.path
    raise NoCurrentSession(str(here))


def folder_of(found: Found) -> str:
    """The folder that a session says it works in, or "" where that can't be read."""
    try:
        with open_source(found.path) as source:
            agent = recognise(source.head())
            return agent.about(source.head(), source.tail()).cwd if agent is not None else ""
    except CofferError:
        return ""  # an unreadable session is nobody's current one


def thread_paths(sessions: Sequence[Found]) -> dict[str, Path]:
    """Paths of Codex threads by id, for forks."""
    return {found.id: found.path for found in sessions if found.agent == "codex"}
