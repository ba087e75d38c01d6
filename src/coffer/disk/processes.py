"""Running agents, for clients that keep no registry."""

from __future__ import annotations

import os

_NAMES = ("claude", "node", "bun", "deno")


def agents_in(folder: str) -> list[int]:
    """Pids of processes that may be a Claude Code and work in a folder; others' processes are not seen."""
    import psutil  # noqa: PLC0415  (11 ms that only a client without a registry needs)

    wanted = os.path.realpath(folder)
    found = []
    for process in psutil.process_iter(["pid", "name", "cmdline"]):
        name, line = process.info["name"] or "", process.info["cmdline"] or []
        if not name.startswith(_NAMES) or not any("claude" in part for part in line[:3]):
            continue
        try:
            if os.path.realpath(process.cwd()) == wanted:
                found.append(process.pid)
        except psutil.Error:
            continue  # gone, or another user's: it can't be this user's session
    return found
