"""A model's answers by their question, and how often it was asked on a day."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from datetime import UTC, datetime


def question_of(provider: str, model: str, prompt: str) -> str:
    """The name under which an answer is kept: sha256, in hex."""
    return hashlib.sha256(json.dumps([provider, model, prompt]).encode()).hexdigest()


def kept_answer(connection: sqlite3.Connection, question: str) -> str | None:
    """The answer that was once given, "" where none could be read."""
    row = connection.execute("SELECT answer FROM answers WHERE question = ?", (question,)).fetchone()
    return None if row is None else str(row[0])


def keep_answer(connection: sqlite3.Connection, question: str, answer: str, now: datetime) -> None:
    """Keep an answer, which must be without secrets. now: aware."""
    time = now.astimezone(UTC).isoformat(timespec="seconds")
    connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", (question, answer, time))


def take_call(connection: sqlite3.Connection, now: datetime, most: int) -> bool:
    """Count one request of the UTC day, unless `most` were made already; whether it may be made.

    The transaction must be open for writing from its start, else two processes count the same request.
    """
    day = now.astimezone(UTC).date().isoformat()
    row = connection.execute("SELECT calls FROM model_days WHERE day = ?", (day,)).fetchone()
    if (row[0] if row else 0) >= most:
        return False
    connection.execute(
        "INSERT INTO model_days VALUES (?, 1) ON CONFLICT (day) DO UPDATE SET calls = calls + 1", (day,)
    )
    return True
