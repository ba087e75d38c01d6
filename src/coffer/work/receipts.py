"""Receipts: what was done, found again by id, by session, or as the last."""

from __future__ import annotations

from coffer.disk.machine import machine_id
from coffer.errors import ReceiptForeign, ReceiptNotFound
from coffer.store.db import DONE, PREPARED, Receipt, database, receipts
from coffer.store.home import Home
from coffer.work.agent_settings.config_write import KINDS

UNDOABLE = (
    "prune",
    "repair",
    "digest",
    "trust",
    "remember",
    "handoff",
    "project",
    "import",
    "organize",
    "journal",
    *KINDS,
)

BY_ID = ("journal", "handoff")
"""Kinds that Coffer or an agent makes by itself: what a person did last is none of them, so they are undone by id."""

AUDIT = "AGENT_"
"""How the kinds of audit events begin (DESIGN section 4)."""


def all_receipts(home: Home) -> list[Receipt]:
    """All receipts, newest first; none on a machine that has no database yet."""
    if not home.database.exists():
        return []
    with database(home) as connection:
        return receipts(connection)


def audited(found: list[Receipt]) -> list[Receipt]:
    """The audit events among receipts: what was done to the agents' own settings, and what undid it."""
    events = {receipt.id for receipt in found if receipt.kind.startswith(AUDIT)}
    return [receipt for receipt in found if receipt.id in events or receipt.data.get("undoes") in events]


def to_undo(home: Home, name: str) -> Receipt:
    """The receipt that `name` means: the unique start of an id, or "" for the last that can be undone.

    Raises ReceiptNotFound, ReceiptForeign.
    """
    every = all_receipts(home)
    own = [item for item in every if item.kind not in BY_ID and not (item.kind == "remember" and item.agent)]
    found = [item for item in every if item.id.startswith(name)] if name else own
    open_ones = [item for item in found if item.kind in UNDOABLE and item.status in (DONE, PREPARED)]
    if not open_ones:
        if found and name:
            raise ReceiptNotFound(
                f"Receipt {found[0].id} ({found[0].kind}) is {found[0].status}: there is nothing to undo."
            )
        raise ReceiptNotFound(f"No receipt starts with “{name}”." if name else "There is nothing to undo.")
    if name and len(open_ones) > 1:
        raise ReceiptNotFound(f"“{name}” fits {len(open_ones)} receipts.")
    here = [item for item in open_ones if item.machine == machine_id()]
    if not here:
        raise ReceiptForeign(open_ones[0].id)
    return here[0]
