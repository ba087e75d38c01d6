"""Our entries put in and taken out of a hooks file, by edits of its text. All else stays byte for byte.

uninstall(install(text)) is the text, when what `Added` remembers is shown and nobody wrote in between; when somebody
did, exactly our entries go, and what we had added around them where it is empty.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct

from coffer.agents.hook_entries import Added, Dialect, Group, Hooks, Wanted, look, read, require_taken
from coffer.core.json_edit import BOM, Edit, Layout, append, base_of, edited, inner, without

_PLACEHOLDER: dict[str, Any] = {"hooks": []}
"""Stands where an entry of ours stood in front of others' (facts/codex §9: without it theirs lose their trust)."""


class Edited(Struct, frozen=True):
    """A new text. text None: there is to be no file. moved: events where somebody else's entry got another place."""

    text: str | None
    added: Added = Added()
    moved: tuple[str, ...] = ()


def install(text: str | None, dialect: Dialect, wanted: Sequence[Wanted]) -> Edited:
    """Exactly one entry an event, as wanted, behind all others; every other entry of ours goes.

    Where all is as wanted the text stays as it is, wherever our entries stand. Raises JsonRefused.
    """
    hooks = read(text or "")
    require_taken(hooks, dialect)
    found = look(hooks, wanted)
    if found.current:
        return Edited(text)
    new = {one.event: {"hooks": [one.values[0]]} for one in wanted if one.event in found.missing}
    cleared, moved = _cleared(hooks, dialect, found.kept, new)
    edit, added = _appended(cleared, dialect, wanted)
    return Edited(edit, added if text is not None else Added(absent=True, blank="").then(added), moved)


def uninstall(text: str | None, dialect: Dialect, added: Added) -> Edited:
    """The text without our entries. Raises JsonRefused."""
    if text is None:
        return Edited(None)
    hooks = read(text)
    if not any(group.ours for groups in hooks.events.values() for group in groups):
        return Edited(text)
    cleared, moved = _cleared(hooks, dialect, {}, {})
    for step in (_without_arrays, _without_hooks):
        hooks = read(cleared)
        cleared = edited(cleared, step(hooks, added))
    root = read(cleared).root
    if added.blank is not None and root is not None and not root.members:
        return Edited(None if added.absent else added.blank, moved=moved)
    return Edited(cleared, moved=moved)


def _cleared(
    hooks: Hooks, dialect: Dialect, kept: Mapping[str, int], new: Mapping[str, Any]
) -> tuple[str, tuple[str, ...]]:
    """The text without our entries but those kept; where places count, the new one stands in the last old one's."""
    if hooks.root is None or hooks.hooks is None:
        return hooks.text, ()
    layout = Layout.of(hooks.text, hooks.root)
    edits: list[Edit] = []
    moved = []
    for event, groups in hooks.events.items():
        array = hooks.hooks.get(event)
        assert array is not None
        keep = kept.get(event)
        going = [at for at, group in enumerate(groups) if at != keep and 0 < len(group.ours) == group.count]
        for at, group in enumerate(groups):
            if at != keep and 0 < len(group.ours) < group.count:
                edits += _shared(group)
                if dialect.positional and group.ours[0] < group.count - len(group.ours):
                    moved.append(event)
        held = {at for at in going if dialect.positional and _stands_behind(groups, going, at)}
        for at in held:
            put = new[event] if event in new and at == going[-1] else _PLACEHOLDER
            node = groups[at].node
            edits.append(
                Edit(
                    node.start,
                    node.end,
                    layout.write(put, layout.indent(array) if put.get("hooks") else None),
                )
            )
        edits += without(array, set(going) - held)
    return edited(hooks.text, edits), tuple(moved)


def _stands_behind(groups: Sequence[Group], going: Collection[int], at: int) -> bool:
    return any(group.count and place not in going for place, group in enumerate(groups) if place > at)


def _shared(group: Group) -> list[Edit]:
    handlers = group.node.get("hooks")
    assert handlers is not None
    return without(handlers, set(group.ours))


def _appended(text: str, dialect: Dialect, wanted: Sequence[Wanted]) -> tuple[str, Added]:
    hooks = read(text)
    if hooks.root is None:
        begun = (BOM if text.startswith(BOM) else "") + "{}\n"
        whole, added = _appended(begun, dialect, wanted)
        return whole, Added(blank=text).then(added)
    missing = look(hooks, wanted).missing
    groups = {one.event: {"hooks": [one.values[0]]} for one in wanted if one.event in missing}
    if not groups:
        return text, Added()  # all found their place in an old entry's
    layout, root = Layout.of(text, hooks.root), hooks.root
    if hooks.hooks is None:
        value = {event: [group] for event, group in groups.items()}
        edit = append(layout, root, [("hooks", value)], base_of(layout, None, root))
        return edited(text, [edit]), Added(
            root=None if root.members else inner(text, root), hooks_key=True, events=tuple(groups)
        )
    edits, arrays, created = [], {}, []
    for event, group in groups.items():
        array = hooks.hooks.get(event)
        if array is None:
            created.append((event, [group]))
            continue
        edits.append(append(layout, array, [(None, group)], base_of(layout, hooks.hooks, array)))
        if not array.items:
            arrays[event] = inner(text, array)
    if created:
        edits.append(append(layout, hooks.hooks, created, base_of(layout, root, hooks.hooks)))
    return edited(text, edits), Added(
        hooks=None if hooks.hooks.members else inner(text, hooks.hooks),
        events=tuple(event for event, _ in created),
        arrays=arrays,
    )


def _without_arrays(hooks: Hooks, added: Added) -> list[Edit]:
    """Events that we made and that are empty go; events that were empty get back what stood in them."""
    if hooks.hooks is None:
        return []
    edits: list[Edit] = []
    gone = set()
    for at, member in enumerate(hooks.hooks.members):
        node = member.value
        if node.items:
            continue
        if member.key in added.events:
            gone.add(at)
        elif member.key in added.arrays:
            edits.append(Edit(node.start + 1, node.end - 1, added.arrays[member.key]))
    return edits + without(hooks.hooks, gone, added.hooks or "")


def _without_hooks(hooks: Hooks, added: Added) -> list[Edit]:
    if hooks.root is None or hooks.hooks is None or hooks.hooks.members or not added.hooks_key:
        return []
    place = next(at for at, member in enumerate(hooks.root.members) if member.key == "hooks")
    return without(hooks.root, {place}, added.root or "")
