"""`mcp__coffer` in Claude Code's `permissions.allow`: put in and taken out by edits of the text."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from coffer.agents.claude_hooks import MCP_PERMISSION
from coffer.core.json_edit import (
    BOM,
    JsonRefused,
    Layout,
    Node,
    append,
    base_of,
    edited,
    inner,
    parse,
    without,
)

_PATH = ("permissions", "allow")


class Allowed(Struct, frozen=True):
    """What was added. made: keys that were not there. absent, blank: there was no file, or nothing in it.

    blanks: what stood between the brackets of what was empty: of the root, `permissions`, `allow`.
    """

    made: tuple[str, ...] = ()
    blanks: tuple[str | None, str | None, str | None] = (None, None, None)
    absent: bool = False
    blank: str | None = None


def allow(text: str | None) -> tuple[str | None, Allowed]:
    """The text with the rule as the last one allowed; unchanged where it is there. Raises JsonRefused."""
    said = text or ""
    if not said.lstrip(BOM).strip():
        begun = (BOM if said.startswith(BOM) else "") + "{}\n"
        after, done = allow(begun)
        return after, Allowed(done.made, done.blanks, text is None, said)
    found = _found(said)
    if len(found) == 3 and any(item.value == MCP_PERMISSION for item in found[2].items):
        return text, Allowed()
    made = _PATH[len(found) - 1 :]
    value: object = [MCP_PERMISSION] if made else MCP_PERMISSION
    if len(made) == 2:
        value = {made[1]: value}
    layout, node = Layout.of(said, found[0]), found[-1]
    blanks: list[str | None] = [None, None, None]
    if not node.parts:
        blanks[len(found) - 1] = inner(said, node)
    base = base_of(layout, found[-2] if len(found) > 1 else None, node)
    edit = append(layout, node, [(made[0] if made else None, value)], base)
    return edited(said, [edit]), Allowed(made, (blanks[0], blanks[1], blanks[2]))


def forbid(text: str | None, before: Sequence[Allowed]) -> str | None:
    """The text without the rule, if we put it there (before: what that added). Raises JsonRefused."""
    if text is None or not before or not text.lstrip(BOM).strip():
        return text
    first = before[0]
    found = _found(text)
    if len(found) < 3:
        return text
    ours = {at for at, item in enumerate(found[2].items) if item.value == MCP_PERMISSION}
    text = edited(text, without(found[2], ours, first.blanks[2] or ""))
    for key in reversed(first.made):
        found = _found(text)
        depth = _PATH.index(key)
        if len(found) < depth + 2 or found[depth + 1].parts:
            break
        parent = found[depth]
        place = next(at for at, member in enumerate(parent.members) if member.key == key)
        text = edited(text, without(parent, {place}, first.blanks[depth] or ""))
    if first.blank is not None and not _found(text)[0].parts:
        return None if first.absent else first.blank
    return text


def _found(text: str) -> list[Node]:
    """The root, `permissions` and `allow`, as many as there are. Raises JsonRefused where one is of a wrong type."""
    found = [parse(text)]
    for key, kind in zip((*_PATH, ""), ("object", "object", "array"), strict=True):
        if found[-1].kind != kind:
            where = "the file" if len(found) == 1 else f"“{_PATH[len(found) - 2]}”"
            raise JsonRefused(text.count("\n", 0, found[-1].start) + 1, f"{where} is of a wrong type")
        value = found[-1].get(key) if key else None
        if value is None:
            break
        found.append(value)
    return found
