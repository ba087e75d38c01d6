"""One undo for every kind of receipt (DESIGN section 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from coffer.disk import config_file
from coffer.disk.places import Places
from coffer.disk.replace import refusals
from coffer.errors import ChangedSince, PrunedContentMissing
from coffer.store.db import DONE, FAILED, PREPARED, UNDONE, Receipt, begun, database, record, save
from coffer.store.home import Home
from coffer.work.agent_settings import config_write, native_memory
from coffer.work.memory import archive, handoff, organize, remember
from coffer.work.memory.undo_journal import undo_journal
from coffer.work.project import projects
from coffer.work.pruning.undo import undo
from coffer.work.rules import draft, trust
from coffer.work.rules.undo_digest import undo_digest

Undo = Callable[[Receipt, Home, Places, datetime | None], Receipt]


def _trust(receipt: Receipt, home: Home, _places: Places, now: datetime | None) -> Receipt:
    done = begun("undo", receipt.agent, receipt.session, Path(receipt.path), now)
    done.data["undoes"] = receipt.id
    receipt.status, done.status = UNDONE, DONE
    with refusals(home.root), database(home) as connection:
        trust.undo_trust(receipt, connection)
        save(connection, receipt)
        save(connection, done)
    return done


def _config(receipt: Receipt, home: Home, _places: Places, now: datetime | None) -> Receipt:
    """A write to an agent's settings; one that a killed Coffer never made is only closed."""
    if receipt.status == PREPARED:
        there = config_write.digest(config_file.read(Path(receipt.path)).data)
        if there == receipt.data.get("digest_before"):
            receipt.status, receipt.data["open"] = FAILED, False
            record(home, receipt)
            return receipt
    return config_write.bring_back(receipt, home, now)


def _memory(receipt: Receipt, home: Home, places: Places, now: datetime | None) -> Receipt:
    """The agent's own memory put back: to the byte where nobody wrote since, else our values only."""
    try:
        return _config(receipt, home, places, now)
    except (ChangedSince, PrunedContentMissing):
        if not receipt.data.get("open"):
            raise
        done = native_memory.restore(native_memory.plan_restore(receipt.agent, places, home), home)
        return done or receipt


def _of_home(act: Callable[[Receipt, Home, datetime | None], Receipt]) -> Undo:
    """What needs nothing of the agents' folders."""
    return lambda receipt, home, _places, now: act(receipt, home, now)


UNDO: Mapping[str, Undo] = {
    "prune": undo,
    "repair": undo,
    draft.KIND: _of_home(undo_digest),
    handoff.KIND: _of_home(handoff.undo_handoff),
    projects.KIND: _of_home(projects.undo_project),
    "journal": _of_home(undo_journal),
    trust.KIND: _trust,
    archive.KIND: _of_home(archive.undo_import),
    remember.KIND: _of_home(remember.undo_remember),
    organize.KIND: _of_home(organize.undo_organize),
    **dict.fromkeys(config_write.KINDS, _config),
    config_write.DISABLED: _memory,
}
"""Kind of receipt → what takes it back."""


def undo_any(receipt: Receipt, home: Home, places: Places, now: datetime | None = None) -> Receipt:
    """Take back what a receipt says; the receipt of the undo, or the receipt itself where nothing was left to do.

    Raises what the undo of its kind raises; then nothing changed.
    """
    return UNDO[receipt.kind](receipt, home, places, now)
