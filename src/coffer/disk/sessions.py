"""The transcript files of both agents, found by where they lie.

Names of folders are never taken for project paths: `a_b`, `a-b` and `a.b` share one. What a session belongs
to stands in its records.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from coffer.core.loads import loads
from coffer.core.regex import regex
from coffer.disk.places import Places

MAIN = "main"
SUBAGENT = "subagent"
WORKFLOW = "workflow"
ARCHIVED = "archived"

_ROLLOUT = regex(r"rollout-.{19}-([0-9a-f-]{36})\.jsonl(?:\.zst)?$")


class Found(Struct, frozen=True):
    """A transcript file. kind: main, subagent, workflow, archived. owner: the session of a subagent's file.

    size in bytes; modified in seconds since the epoch.
    """

    agent: str
    id: str
    path: Path
    kind: str
    size: int
    modified: float
    owner: str = ""


def find_sessions(places: Places) -> list[Found]:
    """All transcript files of both agents, newest first. Files that vanish meanwhile are left out."""
    found = [*_claude(places.claude / "projects"), *_codex(places.codex)]
    return sorted(found, key=lambda item: (-item.modified, str(item.path)))


def _claude(projects: Path) -> Iterator[Found]:
    for path in _files(projects, "*/*.jsonl"):
        old_subagent = path.stem.startswith("agent-")
        yield from _found("claude", path.stem, path, SUBAGENT if old_subagent else MAIN)
    for path in _files(projects, "*/*/subagents/**/agent-*.jsonl"):
        parts = path.relative_to(projects).parts
        kind = WORKFLOW if "workflows" in parts else SUBAGENT
        yield from _found("claude", path.stem, path, kind, owner=parts[1])


def _codex(home: Path) -> Iterator[Found]:
    for folder, pattern, kind in (
        (home / "sessions", "*/*/*/rollout-*", MAIN),
        (home / "archived_sessions", "rollout-*", ARCHIVED),
    ):
        for path in _files(folder, pattern):
            match = _ROLLOUT.search(path.name)
            if match is not None:
                yield from _found("codex", match[1], path, kind)


def _files(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []  # a folder that may not be entered holds no session that could be shown


def _found(agent: str, name: str, path: Path, kind: str, owner: str = "") -> Iterator[Found]:
    try:
        status = path.stat()
    except OSError:
        return  # gone, or a link to nowhere: no session that could be shown
    if path.is_file():
        yield Found(agent, name, path, kind, status.st_size, status.st_mtime, owner)


def thread_names(places: Places) -> dict[str, str]:
    """Codex's names of threads: the last `thread_name` of each id in session_index.jsonl (0.171.0)."""
    names: dict[str, str] = {}
    try:
        text = (places.codex / "session_index.jsonl").read_bytes().decode("utf-8", "replace")
    except OSError:
        return names  # no index: threads are shown by their first prompt
    for line in text.split("\n"):
        try:
            said = loads(line)
        except ValueError:
            continue
        if (
            isinstance(said, dict)
            and isinstance(said.get("id"), str)
            and isinstance(said.get("thread_name"), str)
        ):
            names[said["id"]] = said["thread_name"]
    return names
