"""What hooks answered without the daemon: the spool says what was asked, the bundle file what was said."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from coffer.core.block import held_in
from coffer.core.bundle_files import SpoolEntry, file_name
from coffer.core.loads import object_in
from coffer.core.text_hash import text_hash
from coffer.store.deliveries import Delivery, stamp
from coffer.work.delivery.bundle_files import bundles
from coffer.work.delivery.deliver import REHEARSAL, Asked, World, asked_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LARGEST = 65_536
"""Bytes of a bundle file that a hook prints."""


def delivery_of(entry: SpoolEntry, world: World) -> Delivery | None:
    """The delivery that a spooled answer was; None for a rehearsal, and where nobody knows what was said any more.

    It is neither saved nor remembered; the caller does both, before it drops the entry.
    """
    text = _answered(entry, world)
    if not text:
        return None
    asked = asked_in(entry, world)
    if asked.session == REHEARSAL:
        return None
    made = world.bundles.of(asked.folder, asked.environment)
    sent = held_in([text]).rules
    return Delivery(
        stamp(_EPOCH + timedelta(microseconds=entry.at // 1000)),
        entry.agent,
        asked.session,
        str(asked.transcript or ""),
        asked.child,
        asked.label,
        made.project,
        text_hash(text, 16),
        tuple(name for name, line in zip(made.bundle.rules, made.bundle.lines, strict=True) if line in sent),
        text,
        state="sent" if asked.transcript is not None else "unverifiable",
        id=text_hash(entry.name, 16),
    )


def asked_in(entry: SpoolEntry, world: World) -> Asked:
    """What a hook without the daemon was asked; the session's own folders before the daemon's."""
    told = {"Cwd": entry.cwd, **{f"Env-{name}": value for name, value in entry.environment}}
    headers = {f"X-Coffer-{name}": quote(value, errors="surrogateescape") for name, value in told.items()}
    return asked_of(entry.agent, entry.event, object_in(entry.stdin) or {}, headers, world.environment)


def _answered(entry: SpoolEntry, world: World) -> str:
    path = bundles(world.home) / entry.key / file_name(entry.agent, entry.event)
    try:
        with path.open("rb") as file:
            said = json.loads(file.read(LARGEST + 1))
    except (OSError, ValueError):
        return ""
    output = said.get("hookSpecificOutput") if isinstance(said, dict) else None
    text = output.get("additionalContext") if isinstance(output, dict) else None
    return text if isinstance(text, str) else ""
