"""The handoff: where work on one branch stands, as Markdown that a person may edit.

What git and the clock say of it is told when it is read (`Since`), never written into it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from coffer.core.regex import regex

DETACHED = "HEAD"
"""What stands for a branch where none is checked out."""
MOST_GOAL = 500
MOST_STATE = 2_000
MOST_ITEMS = 12
"""Of each list; of the files twice as many."""
MOST_ITEM = 240
"""Characters; MOST_GOAL and MOST_STATE too."""
LARGEST = 3_600
"""Bytes of a handoff: it is read whole by an agent that has other things to hold."""
_LONGEST_SLUG = 40
_SECTIONS = (
    ("goal", "Goal"),
    ("state", "State"),
    ("next_steps", "Next steps"),
    ("files", "Files in flight"),
    ("open_questions", "Open questions"),
)
_HEADING = regex(r"##\s+(.+?)\s*#*$")
_BULLET = regex(r"\s{0,3}(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.+)$")


@dataclass(frozen=True, slots=True)
class Handoff:
    """What one session leaves for the next. files: paths in the work tree, or absolute."""

    goal: str = ""
    state: str = ""
    next_steps: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether it says nothing."""
        return not (self.goal.strip() or self.state.strip() or self.next_steps or self.open_questions)


def written(handoff: Handoff) -> str:
    """A handoff as Markdown; a part that says nothing has no heading."""
    parts = []
    for name, heading in _SECTIONS:
        said = getattr(handoff, name)
        if isinstance(said, str):
            body = said.strip()
        else:
            body = "\n".join(f"- {' '.join(item.split())}" for item in said if item.strip())
        if body:
            parts.append(f"## {heading}\n\n{body}")
    return "\n\n".join(parts)


def parsed(text: str) -> Handoff:
    """What a handoff says, also where a person wrote it freely: text before the first known heading is its state."""
    names = {heading.lower(): name for name, heading in _SECTIONS}
    found: dict[str, list[str]] = {name: [] for name, _ in _SECTIONS}
    now = "state"
    for line in text.split("\n"):
        heading = _HEADING.match(line)
        if heading is not None and heading[1].lower() in names:
            now = names[heading[1].lower()]
        else:
            found[now].append(line)
    lists = {name: _items(found[name]) for name in ("next_steps", "files", "open_questions")}
    return Handoff("\n".join(found["goal"]).strip(), "\n".join(found["state"]).strip(), **lists)


def _items(lines: Sequence[str]) -> tuple[str, ...]:
    """The bullets of a section; a line that is none goes on with the one above it."""
    found: list[str] = []
    for line in lines:
        bullet = _BULLET.match(line)
        if bullet is not None:
            found.append(bullet[1].strip())
        elif line.strip() and found:
            found[-1] += " " + line.strip()
        elif line.strip():
            found.append(line.strip())
    return tuple(found)


def path_in(item: str) -> str:
    """The path that an item of “Files in flight” begins with: `a/b.py` – what is about it."""
    said = item.strip()
    quoted = re.match(r"`([^`]+)`", said)
    if quoted is not None:
        return quoted[1].strip()
    return re.split(r"\s+[-–—(]|:\s|\s\s", said, maxsplit=1)[0].strip()


def too_much(handoff: Handoff) -> str:
    """What is over a limit, as a phrase; "" where nothing is."""
    for name, most in (("goal", MOST_GOAL), ("state", MOST_STATE)):
        if (length := len(getattr(handoff, name))) > most:
            return f"its {name} has {length} characters, and {most} is the most"
    for name, most in (("next_steps", MOST_ITEMS), ("files", 2 * MOST_ITEMS), ("open_questions", MOST_ITEMS)):
        items = getattr(handoff, name)
        if len(items) > most:
            return f"{name} has {len(items)} items, and {most} is the most"
        longest = max(map(len, items), default=0)
        if longest > MOST_ITEM:
            return f"an item of {name} has {longest} characters, and {MOST_ITEM} is the most"
    return over(written(handoff))


def over(text: str) -> str:
    """The same of a whole text."""
    size = len(text.encode("utf-8", "replace"))
    return f"it has {size} bytes, and {LARGEST} is the most" if size > LARGEST else ""


def file_stem(branch: str) -> str:
    """How a branch's handoff is named: readable, and of its own also where the disk ignores case and accents.

    "" (no git): there is one handoff.
    """
    if not branch:
        return "handoff"
    name = unicodedata.normalize("NFC", branch)
    slug = re.sub(r"[^\w]+", "-", name.lower()).strip("-_")[:_LONGEST_SLUG].strip("-_")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{slug or 'branch'}-{digest}"


def called(branch: str) -> str:
    """A branch for people."""
    if branch == DETACHED:
        return "no branch (detached HEAD)"
    return f"branch {branch}" if branch else "this folder"


def ago(seconds: float) -> str:
    """How long ago, in the largest fitting unit."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            count = int(seconds / length)
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now" if seconds >= -60 else "in the future, by this clock"
