"""The database of receipts and deliveries: how it comes to be."""

from __future__ import annotations

from pathlib import Path

from coffer.store.db import database
from coffer.store.home import Home


def test_all_tables_come_in_one_transaction(tmp_path: Path) -> None:
    """A commit a table waits for the disk eighty times: seconds, on a slow one, before the first delivery is kept."""
    home = Home(tmp_path / ".coffer")
    with database(home) as connection:
        connection.execute("SELECT count(*) FROM deliveries").fetchone()
    commits = int.from_bytes(home.database.read_bytes()[24:28])  # SQLite's file format: the change counter
    assert commits == 1
