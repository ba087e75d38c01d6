"""The file that a daemon writes two seconds after its first start, put there beforehand: it takes one second of CPU."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from coffer.disk.put import put
from coffer.mcp import hello
from coffer.store.home import Home


def put_hello(home: Home) -> None:
    """Leave it in a home as a daemon's start does."""
    home.make(home.root)
    put(hello.path(home), _made(), 0o600)


@cache
def _made() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        hello.write(Home(Path(folder)))
        return hello.path(Home(Path(folder))).read_bytes()
