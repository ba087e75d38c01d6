"""A hook that answers by itself, for tests without a daemon: `hook_here.py AGENT EVENT`, with COFFER_HOME set.

What it was asked and answered is noted in `asked.jsonl` there.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from coffer.store.db import database
from coffer.store.deliveries import save
from coffer.store.home import Home
from coffer.work.delivery.deliver import World, answer


def main() -> None:
    agent, event = sys.argv[1:3]
    said = json.load(sys.stdin)
    home, now = Home.of(os.environ), datetime.now(UTC)
    tools = os.environ.get("HOOK_TOOLS", "").split()
    world = World(home, os.environ, tools)
    world.remember(now)
    headers = {"X-Coffer-Cwd": str(Path.cwd()), "X-Coffer-Ppid": str(os.getppid())}
    reply = answer(agent, event, said, headers, world, now)
    with database(home) as connection:
        for one in (*reply.changed, *([reply.delivery] if reply.delivery else [])):
            save(connection, one)
    note = {
        name: said.get(name) for name in ("source", "session_id", "transcript_path", "agent_id", "prompt")
    }
    note |= {"event": event, "process": os.getppid(), "bytes": len(reply.body), "moved": len(reply.changed)}
    with (home.root / "asked.jsonl").open("a") as file:
        file.write(json.dumps(note) + "\n")
    sys.stdout.buffer.write(reply.body)


main()
