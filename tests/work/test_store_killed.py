"""The database after a process was killed in the middle of a transaction."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from coffer.store.db import database, receipts
from tests.work.learning import Desktop

_KILLED = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN IMMEDIATE")
for number in range(2000):
    connection.execute("INSERT INTO model_days (day, calls) VALUES (?, 1)", (f"{number} {'x' * 500}",))
connection.execute("DELETE FROM receipts")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_who_only_looks_after_a_kill_sees_what_was_there(tmp_path: Path) -> None:
    desktop = Desktop(tmp_path)
    tide = desktop.project("tide")
    done = desktop.desk(tide).add("Do not rebase.")
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(desktop.home.database)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (desktop.home.root / "coffer.db-journal").exists(), "else nothing was half done"
    with database(desktop.home, write=False) as connection:
        assert [receipt.id for receipt in receipts(connection)] == [done.receipt.id]
        assert connection.execute("SELECT count(*) FROM model_days").fetchone() == (0,)
    assert [rule.text for rule in desktop.rules(tide)] == ["Do not rebase."]
