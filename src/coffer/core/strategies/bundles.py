"""Injected contexts that are repeated: Coffer's own bundle, and what other hooks add again and again.

no-op: the newest of each; contexts that stand once; other attachments.
"""

from __future__ import annotations

from collections.abc import Iterator

from coffer.core.items import Context
from coffer.core.plan import Drop, Worth
from coffer.core.scene import Scene

HOOKS = frozenset({"hook_additional_context", "hook_success"})


def propose(scene: Scene) -> Iterator[Drop]:
    """Drop all but the newest: of Coffer's bundles whatever they say, of others where they say the same."""
    newest: dict[int | str, int] = {}
    for place, entry in enumerate(scene.entries):
        if isinstance(entry.item, Context) and entry.item.attached.kind in HOOKS:
            newest[_key(entry.item)] = place
    for place, entry in enumerate(scene.entries):
        item = entry.item
        if not isinstance(item, Context) or item.attached.kind not in HOOKS:
            continue
        if newest[_key(item)] > place and scene.is_free(item.record, entry.turn):
            yield Drop(item.record, Worth.REPEATED, "a context that is repeated later", entry.tokens)


def _key(item: Context) -> int | str:
    return "bundle" if item.attached.bundle else item.attached.digest
