"""The daemon's log: what it did, when, and what went wrong. Never what anybody said."""

from __future__ import annotations

import logging
import os
from logging.handlers import RotatingFileHandler
from pathlib import Path

LARGEST = 1 << 20
OLDER = 3
"""Files that are kept besides the one that is written."""
_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class _Private(RotatingFileHandler):
    """Files that only their owner may read."""

    def _open(self):  # type: ignore[no-untyped-def]  # noqa: ANN202  (the library's own text file)
        stream = super()._open()
        os.fchmod(stream.fileno(), 0o600)
        return stream


def begin(path: Path) -> None:
    """Write the log to this file from now on. Raises OSError."""
    logging.raiseExceptions = (
        False  # a full disk must not stop the daemon, nor fill a stderr that is not there
    )
    handler = _Private(path, maxBytes=LARGEST, backupCount=OLDER, encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(logging.Formatter(_FORM))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("coffer").setLevel(logging.INFO)
