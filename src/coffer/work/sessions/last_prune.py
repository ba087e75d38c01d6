"""Whether a session was pruned, for all who only look at it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from coffer.errors import CofferError
from coffer.store.home import Home

if TYPE_CHECKING:
    from coffer.store.db import Receipt


def last_prune(environment: Mapping[str, str], path: Path) -> Receipt | None:
    """The newest prune of a file that stands; None also where there is no database that could tell."""
    if not environment.get("HOME") and not environment.get("COFFER_HOME"):
        return None
    home = Home.of(environment)
    try:
        if not home.database.exists():
            return None
    except OSError:
        return None  # a folder that may not be entered
    from coffer.store.db import DONE, database, receipts  # noqa: PLC0415  (SQLite costs 5 ms, and few have receipts)

    try:
        with database(home, write=False) as connection:
            found = receipts(connection, os.path.realpath(path))
    except CofferError:
        return None  # looking at a session needs no database; `coffer receipts` tells what is wrong with it
    return next((item for item in found if item.kind == "prune" and item.status == DONE), None)
