"""Which machine this is, without naming it."""

from __future__ import annotations

import hashlib
import uuid
from pathlib import Path

_PLACES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))


def machine_id() -> str:
    """A short hash of the system's own machine id, or of the network card's address where it has none."""
    for place in _PLACES:
        try:
            said = place.read_text("utf-8").strip()
        except OSError:
            continue
        if said:
            return hashlib.sha256(f"coffer {said}".encode()).hexdigest()[:12]
    return hashlib.sha256(f"coffer {uuid.getnode()}".encode()).hexdigest()[:12]
