"""Every kind of receipt that `coffer undo` offers can be undone, and the other way round."""

from __future__ import annotations

from coffer.work.receipts import UNDOABLE
from coffer.work.undo_any import UNDO


def test_what_is_offered_can_be_done() -> None:
    assert set(UNDOABLE) == set(UNDO)
