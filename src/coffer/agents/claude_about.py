"""What the first and last lines of a Claude Code transcript say of its session."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from coffer.core.json_lines import Found, objects
from coffer.core.transcript import About


class _Line(Struct, gc=False, rename="camel"):
    type: str = ""
    session_id: str | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    timestamp: str | None = None


_decoder = msgspec.json.Decoder(_Line)

_TYPES = frozenset(
    {
        "ai-title",
        "assistant",
        "attachment",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "progress",
        "queue-operation",
        "summary",
        "system",
        "user",
    }
)
"""Record types that stand at the head of transcripts of 2.0.64 to 2.1.229."""


def about(head: bytes, tail: bytes) -> About:
    """The session's id, folder, version and git branch: the last that is said; its start: the first."""
    found = About()
    for line in (*head.split(b"\n"), *tail.split(b"\n")):
        said = _decoded(line)
        if said is None:
            continue
        found.session = said.session_id or found.session
        found.cwd = said.cwd or found.cwd
        found.version = said.version or found.version
        found.branch = said.git_branch or found.branch
        found.started = found.started or said.timestamp or ""
    return found


def _decoded(line: bytes) -> _Line | None:
    try:
        return _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        clean = next((found.clean for found in objects(line, 0) if isinstance(found, Found)), b"")
    try:
        return _decoder.decode(clean)
    except msgspec.MsgspecError:
        return None  # a cut or foreign line says nothing here; reading the records reports it


def is_transcript(head: bytes) -> bool:
    """Whether any of the first lines is a record of Claude Code."""
    return any(
        said is not None and said.type in _TYPES and (said.session_id is not None or said.type in _BARE)
        for said in map(_decoded, head.split(b"\n"))
    )


_BARE = frozenset({"summary", "file-history-snapshot"})
"""Types whose records carry no session id in older versions."""
