"""What clients said of a session's window, by session: `<home>/guard/<session>.window.json`.

The statusline and SessionStart are the only places where a client says how large its window is (facts/claude-code
§5, §6); the transcript does not hold it. This module is imported by `coffer statusline`, which the client starts
several times a minute: it imports nothing that costs.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from coffer.core.regex import regex

FOLDER = "guard"
ENDING = ".window.json"
LARGEST = 1 << 16
"""Bytes; a longer file is none of ours."""
_SESSION = regex(r"[0-9A-Za-z][0-9A-Za-z._-]{0,99}", re.ASCII)


def window_path(root: Path | str, session: str) -> str | None:
    """Where a session's report lies below Coffer's folder; None where its id can't be a file's name."""
    if not _SESSION.fullmatch(session):
        return None
    return os.path.join(root, FOLDER, session + ENDING)  # noqa: PTH118  (a string is all that is needed)


def read_report(root: Path | str, session: str) -> dict[str, Any]:
    """What was reported of a session; empty where nothing was, or what lies there can't be read."""
    path = window_path(root, session)
    return _content(path) if path is not None else {}


def newest_of(root: Path | str, process: int, session: str) -> dict[str, Any]:
    """The newest report of another session in the same client process: /clear begins a session with its window."""
    best: dict[str, Any] = {}
    folder = os.path.join(root, FOLDER)  # noqa: PTH118
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except OSError:
        return best
    for name in names:
        if name.endswith(ENDING) and name != session + ENDING:
            found = _content(os.path.join(folder, name))  # noqa: PTH118
            if process and found.get("process") == process and _time(found) > _time(best):
                best = found
    return best


def merge_report(root: Path | str, session: str, said: dict[str, Any]) -> bool:
    """Put what is newly said over what was known; False where the id can't be a file's name or nothing changed.

    Two writers at once: one of them wins whole, and the statusline reports again within seconds. Raises OSError.
    """
    path = window_path(root, session)
    if path is None:
        return False
    before = _content(path)
    merged = {**before, **said}
    if merged == before:
        return False
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
    beside = f"{path}.{os.getpid()}"
    try:
        descriptor = os.open(
            beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(json.dumps(merged))
        os.replace(beside, path)  # noqa: PTH105
    except OSError:
        if os.path.exists(beside):  # noqa: PTH110  (a full disk: half a report is none)
            os.unlink(beside)  # noqa: PTH108
        raise
    return True


def said_in_statusline(said: dict[str, Any], now: float) -> dict[str, Any]:
    """What a statusline's JSON reports, as it is kept: tokens only after the first answer. now: Unix seconds."""
    found: dict[str, Any] = {}
    window = _table(said, "context_window")
    size = _count(window.get("context_window_size"))
    model = _table(said, "model").get("id")
    if size and isinstance(model, str):
        found |= {"window": size, "model": model[:200], "source": "statusline", "time": now}
    usage = window.get("current_usage")
    if isinstance(usage, dict):
        kinds = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        found |= {"tokens": sum(_count(usage.get(kind)) for kind in kinds), "tokens_time": now}
    return found


def said_at_start(said: dict[str, Any], now: float) -> dict[str, Any]:
    """What SessionStart reports: the model's name, with `[1m]` where its window is a million. window 0: by the name."""
    model = said.get("model")
    if not isinstance(model, str) or not model:
        return {}
    found: dict[str, Any] = {"model": model[:200], "source": "SessionStart", "time": now}
    return {**found, "window": 1_000_000 if model.endswith("[1m]") else 0}


def _content(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            found = json.loads(file.read(LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _table(said: dict[str, Any], name: str) -> dict[str, Any]:
    found = said.get(name)
    return found if isinstance(found, dict) else {}


def _count(value: object) -> int:
    """A count of tokens; 0 for anything else, also for `true` and for what no window holds."""
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 100_000_000
    return value if fits and isinstance(value, int) else 0


def _time(found: dict[str, Any]) -> float:
    time = found.get("time")
    return float(time) if isinstance(time, int | float) and not isinstance(time, bool) else 0.0
