"""Whether what a receipt tells of is in place, also where the new bytes are the beginning of the old ones."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from coffer.store.db import DONE, PREPARED, Receipt, begun
from coffer.work.pruning.exchange import is_in_place

OLD = b'{"uuid":"1"}\n{"uuid":"2"}\n'
NEW = b'{"uuid":"1"}\n'


def told(kind: str, path: Path, new: bytes) -> Receipt:
    of = ("original_bytes", "original_digest") if kind == "undo" else ("bytes_after", "digest_after")
    receipt = begun(kind, "claude", "s", path)
    digest = hashlib.sha256(new).hexdigest()
    receipt.data |= {"backup": str(path.with_name("backup")), of[0]: len(new), of[1]: digest}
    return receipt


@pytest.mark.parametrize("kind", ["prune", "repair", "undo"])
def test_killed_before_the_swap_it_is_not_in_place_and_behind_it_it_is(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(OLD)
    receipt = told(kind, path, NEW)
    assert receipt.status == PREPARED
    assert not is_in_place(path, receipt), "without a backup nothing was swapped"
    os.link(path, receipt.data["backup"])
    assert not is_in_place(path, receipt), "the file is still the old one"
    (tmp_path / "new").write_bytes(NEW + b'{"uuid":"3"}\n')
    (tmp_path / "new").replace(path)
    assert is_in_place(path, receipt)
    path.write_bytes(b'{"uuid":"4"}\n')
    assert not is_in_place(path, receipt)


def test_of_what_is_done_the_bytes_alone_tell(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(OLD)
    receipt = told("prune", path, NEW)
    receipt.status = DONE
    assert is_in_place(path, receipt)
    path.write_bytes(NEW[:-1])
    assert not is_in_place(path, receipt)
