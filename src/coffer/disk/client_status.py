"""What the client itself says about the session that it shows: its registry and its settings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coffer.core.loads import loads
from coffer.disk.live import Holder, holders
from coffer.disk.places import Places

_IDLE = "idle"
_LARGEST_SETTINGS = 4_000_000


@dataclass(frozen=True, slots=True)
class ClientStatus:
    """session: the id that the registry names for our agent, "" for none. why: what is in the way, "" for nothing."""

    session: str
    status: str
    why: str
    is_vim: bool = False


def client_status(places: Places, agent: int, leader: int, folder: Path) -> ClientStatus:
    """How our agent stands. agent: its pid. leader: of its terminal's session, so that a wrapper's child counts."""
    everyone = holders(places)
    ours = [holder for found in everyone.values() for holder in found if _is_ours(holder, agent, leader)]
    exact = [holder for holder in ours if holder.pid == agent] or ours
    if len(exact) != 1:
        why = (
            "Claude Code's registry does not name this session" if not exact else "several clients run in it"
        )
        return ClientStatus("", "", why)
    mine = exact[0]
    why = ""
    for holder in everyone[mine.session]:
        if holder.status != _IDLE:
            doing = holder.waiting_for or holder.status or "in a state that it does not tell"
            why = (
                f"Claude Code is {doing}" if holder.pid == mine.pid else "another client has the session open"
            )
    return ClientStatus(mine.session, mine.status, why, _is_vim(places, folder))


def _is_ours(holder: Holder, agent: int, leader: int) -> bool:
    if holder.pid == agent:
        return True
    try:
        return holder.status != "" and os.getsid(holder.pid) == leader
    except OSError:
        return False


def _is_vim(places: Places, folder: Path) -> bool:
    """Whether any file that may say so says so; NORMAL mode can't be told by the screen."""
    return any(said.get("editorMode") == "vim" for said in _settings(places, folder))


def _settings(places: Places, folder: Path) -> Iterator[dict[str, object]]:
    files = [
        places.claude / "settings.json",
        places.claude / ".claude.json",
        places.claude.parent / ".claude.json",
        *(above / ".claude" / name for above in (folder, *folder.parents) for name in _PROJECT_FILES),
    ]
    for path in files:
        try:
            if path.stat().st_size > _LARGEST_SETTINGS:
                continue
            said = loads(path.read_bytes().decode("utf-8", "replace"))
        except (OSError, ValueError):
            continue  # not there, or being written: the first character that is typed tells
        if isinstance(said, dict):
            yield said


_PROJECT_FILES = ("settings.json", "settings.local.json")
