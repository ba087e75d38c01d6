"""What the lab tests of delivery share: a person's digest, hooks of ours written by hand, and what was recorded."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coffer.core.digest import new_digest
from coffer.core.rule import Rule, Rules
from coffer.disk.places import Places
from coffer.disk.project import user_digest
from coffer.store import trust
from coffer.store.db import database
from coffer.store.deliveries import Delivery, of_transcript
from coffer.store.home import Home
from coffer.work.delivery.confirm import confirm
from coffer.work.delivery.deliver import EVENTS
from coffer.work.delivery.held import Holdings

HARD = "Do not add Co-Authored-By lines to git commit messages."
SOFT = "Do not use the Write tool to modify existing files — use Edit."
LATER = "Do not push to main on a Friday."
SOURCE = Path(__file__).resolve().parents[2] / "src"
HOOK = Path(__file__).with_name("hook_here.py")
Json = dict[str, Any]


def write_rules(house: Path, home: Home, *texts: str) -> None:
    """The person's digest, of hard rules, all trusted."""
    path = user_digest(house)
    path.parent.mkdir(parents=True, exist_ok=True)
    rules = tuple(
        Rule(
            f"R{at:03}",
            text[:20],
            text,
            "hard" if text == HARD else "soft",
            "active",
            scope="file operations",
        )
        for at, text in enumerate(texts, 1)
    )
    made = new_digest(None, datetime(2026, 11, 1, tzinfo=UTC)).with_rules(Rules(rules))
    path.write_text(made.render())
    with database(home) as connection:
        trust.grant(connection, str(path), texts, "person")


def hooks(
    home: Home, agent: str, script: Path, events: Sequence[str] = EVENTS, tools: Collection[str] = ()
) -> Json:
    """The value of "hooks" for either agent: a small shell script that runs ours. tools: that the server offers."""
    script.write_text(
        "#!/bin/sh\n"
        f"export COFFER_HOME={shlex.quote(str(home.root))} PYTHONPATH={shlex.quote(str(SOURCE))}\n"
        f"export PYTHONDONTWRITEBYTECODE=1 HOOK_TOOLS={shlex.quote(' '.join(sorted(tools)))}\n"
        f'exec {shlex.quote(sys.executable)} {shlex.quote(str(HOOK))} "$@"\n'
    )
    script.chmod(0o755)
    return {event: [{"hooks": [_entry(agent, event, script)]}] for event in events}


def _entry(agent: str, event: str, script: Path) -> Json:
    if agent == "claude":
        return {"type": "command", "command": str(script), "args": [agent, event]}
    return {"type": "command", "command": f"{shlex.quote(str(script))} {agent} {event}"}


@dataclass(frozen=True, slots=True)
class Record:
    """What was recorded of one home."""

    home: Home
    places: Places

    def asked(self) -> list[Json]:
        return [json.loads(line) for line in (self.home.root / "asked.jsonl").read_text().splitlines()]

    def states(
        self, agent: str, transcript: Path, child: str = "", *, ended: bool = True
    ) -> list[tuple[str, str]]:
        """(event, state) of what was sent into a context, after another look at its transcript."""
        confirm(self.home, Holdings(self.places), agent, transcript, child, settled=True, ended=ended)
        return [(one.event, one.state) for one in self.sent(transcript, child)]

    def sent(self, transcript: Path | None, child: str = "") -> list[Delivery]:
        with database(self.home, write=False) as connection:
            return of_transcript(connection, str(transcript or ""), child)


def times(request: Any, text: str) -> int:
    """How often the model was shown a rule."""
    return json.dumps(request, ensure_ascii=False).count(json.dumps(text, ensure_ascii=False)[1:-1])
