"""What the agents' own commands write on our behalf, kept so that it can be brought back byte for byte.

`claude mcp add` and Codex's `config/batchWrite` write their configuration anew. Their own way back leaves traces (an
empty table, another indentation), so what the file was is kept: where nobody wrote since, it is put back whole.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from coffer.disk import config_file
from coffer.disk.config_file import Config
from coffer.disk.replace import refusals
from coffer.errors import ChangedSince, CofferError
from coffer.store.db import DONE, UNDONE, Receipt, begun, record
from coffer.store.home import Home
from coffer.work.agent_settings.config_write import ADDED, TRUSTED, bring_back, digest, open_installs

_OURS: Mapping[str, tuple[str, ...]] = {ADDED: ("mcpServers", "mcp_servers"), TRUSTED: ("hooks",)}
"""Kind → keys at the top of the file that such a write is about."""
_Result = TypeVar("_Result")


def through_client(  # noqa: PLR0913  (what a receipt says)
    kind: str,
    agent: str,
    path: Path,
    home: Home,
    act: Callable[[], _Result],
    data: Callable[[_Result], dict[str, Any]] | None = None,
) -> tuple[_Result, Receipt | None]:
    """Do something by a client's own command that writes a file of its own; its result, and the receipt of the write.

    data: what the receipt keeps besides. None where nothing was written. Raises what act raises, ConfigBroken,
    WriteFailed, StoreFailed.
    """
    before = config_file.read(path)
    result = act()
    after = config_file.read(path)
    if after.data == before.data:
        return result, None
    receipt = begun(kind, agent, "", path)
    backup = home.backups / receipt.id / path.name if before.data is not None else None
    if backup is not None and before.data is not None:
        with refusals(home.root):
            home.make(home.backups)
        config_file.keep(backup, before.data)
    receipt.status = DONE
    receipt.data = {
        "digest_before": digest(before.data),
        "digest_after": digest(after.data),
        "bytes_before": len(before.data or b""),
        "bytes_after": len(after.data or b""),
        "backup": str(backup or ""),
        "folder": False,
        "open": True,
        "exact": _only_ours(kind, before, after),
    } | (data(result) if data else {})
    record(home, receipt)
    return result, receipt


def put_back(kind: str, path: Path, home: Home) -> Receipt | None:
    """Put a file back as it was before the last such write, where nobody wrote since.

    The receipt of that write, now undone; None where it can't be: then the client's own command is the way.
    Raises WriteFailed, Busy, StoreFailed.
    """
    found = open_installs(home, path, config_file.read(path).data, kind)
    last = found[-1] if found else None
    if last is None or not last.data.get("exact"):
        return None
    try:
        bring_back(last, home)
    except ChangedSince:
        return None
    last.status, last.data["open"] = UNDONE, False
    return last


def close_open(kind: str, path: Path, home: Home) -> None:
    """Say of such writes that they are no more: the client's own command took them back. Raises StoreFailed."""
    found = open_installs(home, path, None, kind)
    for one in found:
        one.status, one.data["open"] = UNDONE, False
    if found:
        record(home, *found)


def kept_keys(path: Path, home: Home) -> list[str]:
    """Codex's keys of the entries that were trusted through us and are still."""
    return [str(key) for one in open_installs(home, path, None, TRUSTED) for key in one.data.get("keys", ())]


def _only_ours(kind: str, before: Config, after: Config) -> bool:
    """Whether the write changed no value that is not ours.

    Another program may have written in the same moment, and putting the file back would lose that. What a client adds
    for itself comes again, and so does its clearing up of what it no longer keeps.
    """
    if before.data is None:
        return after.data is not None
    try:
        was, now = _parsed(before), _parsed(after)
    except (ValueError, CofferError):
        return False
    ours = _OURS.get(kind, ())
    return all(now[key] == value for key, value in was.items() if key in now and key not in ours) and all(
        _within(was[key], now.get(key)) for key in ours if key in was
    )


def _parsed(config: Config) -> dict[str, Any]:
    text = (config.data or b"").decode("utf-8")
    said = tomllib.loads(text) if config.path.suffix == ".toml" else json.loads(text or "{}")
    if not isinstance(said, dict):
        raise ValueError("no object")  # noqa: TRY004  (as a file that can't be parsed)
    return said


def _within(was: Any, now: Any) -> bool:
    """Whether all that was there is there still."""
    if isinstance(was, dict) and isinstance(now, dict):
        return all(_within(value, now.get(key)) for key, value in was.items())
    return bool(was == now)
