"""The window of a session, from the first source that answers (DESIGN section 6).

Before what a transcript says stands what a client said by itself: its statusline, and SessionStart. A session that
/clear began has said nothing yet: it has the window of the one before it in the same process.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from coffer.core.usage import Reported, WindowMeasure, overridden, reported_window
from coffer.core.view import View
from coffer.disk.live import holders
from coffer.disk.places import Places
from coffer.disk.replace import refusals
from coffer.errors import SettingsBroken
from coffer.store.db import database
from coffer.store.deliveries import of_transcript
from coffer.store.home import Home
from coffer.store.windows import merge_report, newest_of, read_report, said_at_start, said_in_statusline
from coffer.work.sessions.read import Opened


def window(session: Opened, view: View, environment: Mapping[str, str]) -> WindowMeasure:
    """How large a session's window is, and what says so."""
    said = overridden(environment)
    if said is None and session.agent.name == "claude":
        found = report_of(session.source.path.stem, environment)
        said = reported_window(found, view.branch.records) if found is not None else None
    return said or session.agent.window(session.transcript, view, environment)


def report_of(session: str, environment: Mapping[str, str]) -> Reported | None:
    """What a client said of a session's window, or of the one before it in its process."""
    if not environment.get("HOME") and not environment.get("COFFER_HOME"):
        return None  # nobody's: nothing was said to Coffer
    root = Home.of(environment).root
    found = reported(read_report(root, session))
    if found is not None:
        return found
    for holder in holders(Places.of(environment)).get(session, []):
        found = reported(newest_of(root, holder.pid, session))
        if found is not None:
            return Reported(found.model, found.window, f"{found.source}, before /clear", found.time)
    return None


def reported(said: Mapping[str, Any]) -> Reported | None:
    """A report as it is kept; None where it says nothing of a window, or what a person's hand broke."""
    model, size, source, time = (said.get(key) for key in ("model", "window", "source", "time"))
    if not isinstance(model, str) or not model or not isinstance(source, str):
        return None
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        return None
    if isinstance(time, bool) or not isinstance(time, int | float):
        return None
    return Reported(model, size, source, float(time))


STATUSLINE = "Statusline"
"""The name under which `coffer statusline` tells the daemon; no event of a client's."""


def hear(home: Home, event: str, said: Mapping[str, Any], places: Places, now: float) -> None:
    """Keep what an event of Claude Code's says of its session's window. now: Unix seconds. Raises WriteFailed.

    SessionStart knows the model by its name alone: of the model that the statusline spoke of it says nothing new.
    """
    session = said.get("session_id")
    if not isinstance(session, str) or event not in (STATUSLINE, "SessionStart", "UserPromptSubmit"):
        return
    known = read_report(home.root, session)
    found: dict[str, Any] = {}
    if event == STATUSLINE:
        found = said_in_statusline(dict(said), now) | _beside(home, said)
    elif event == "SessionStart":
        found = said_at_start(dict(said), now)
        found = {} if found.get("model") == known.get("model") else found
    mine = holders(places).get(session, [])
    if mine:
        found["process"] = mine[0].pid
    if found:
        with refusals(home.root):
            merge_report(home.root, session, {**found, "session": session})


def _beside(home: Home, said: Mapping[str, Any]) -> dict[str, Any]:
    """What the next line is to tell that the client does not know: rules that arrived, and the person's tiers."""
    from coffer.work.settings import load  # noqa: PLC0415  (a command that shows a session needs none of them)

    found: dict[str, Any] = {}
    with suppress(SettingsBroken):  # the defaults stay; every command tells what is wrong
        found["shares"] = {tier.name: tier.share for tier in load(home).guard.tiers}
    transcript = said.get("transcript_path")
    if isinstance(transcript, str) and transcript.startswith("/") and home.database.exists():
        path = Path(transcript)
        with database(home, write=False) as connection:
            sent = of_transcript(connection, str(Path(os.path.realpath(path.parent)) / path.name))
        found["rules"] = len({rule for one in sent if one.state == "confirmed" for rule in one.rules})
    return found
