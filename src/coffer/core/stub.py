"""The line that stands where content was: what it was, how large, and how to get it back, in few tokens."""

from __future__ import annotations

from coffer.core.scene import Pair

_LONGEST = 80
STUB_TOKENS = 40
"""What a stub costs, about: 100 bytes."""


def call_note(pair: Pair) -> str:
    """The tool and what it was about."""
    about = pair.path or pair.call.block.command
    about = " ".join(about.split())
    if len(about) > _LONGEST:
        about = "…" + about[-_LONGEST:] if pair.path else about[:_LONGEST] + "…"
    return f"{pair.tool} {about}".strip()


def stub_line(note: str, size: int, restore: str) -> str:
    """For a model and a person: `[coffer: Read src/a.py, 12.3 KB, removed; coffer restore 3f9ac1d2]`."""
    shown = f"{size / 1000:.1f} KB" if size >= 1000 else f"{size} B"
    return f"[coffer: {note}, {shown}, removed; coffer restore {restore}]"
