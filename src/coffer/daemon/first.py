"""When the first daemon of a home started: what was said long before it is learned only on the person's word."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime

from coffer.core.loads import loads
from coffer.disk.put import put
from coffer.errors import WriteFailed
from coffer.store.home import Home


def first_start(home: Home) -> datetime:
    """That moment: this one, where no daemon was there before."""
    path = home.root / "first-start.json"
    try:
        return datetime.fromisoformat(loads(path.read_text("utf-8", "replace"))["time"]).astimezone(UTC)
    except (OSError, ValueError, KeyError, TypeError):
        now = datetime.now(UTC)
    with suppress(WriteFailed):  # asked again next time
        put(path, json.dumps({"time": now.isoformat(timespec="seconds")}).encode(), 0o600)
    return now
