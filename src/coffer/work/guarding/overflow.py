"""Whether the API refused a session's last request for its length, and nothing helped since."""

from __future__ import annotations

import os
from pathlib import Path

from coffer.core.loads import object_in
from coffer.core.overflow import NEEDLE, refused
from coffer.disk.tail_lines import last_lines

TAIL = 1 << 18
"""Bytes of the end that are looked at: a refusal is short, and what follows it is shorter."""


def overflow_in(transcript: Path) -> str:
    """The uuid of the refusal; "" where there is none, or an answer or a compaction came after it."""
    try:
        with transcript.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            for _, line in last_lines(file.fileno(), size, TAIL):
                if NEEDLE in line.replace(b" ", b""):
                    return refused(object_in(line) or {})
                if b'"compact_boundary"' in line or (b'"usage"' in line and b'"assistant"' in line):
                    return ""
    except OSError:
        pass  # not there yet, or gone: nobody refused anything
    return ""
