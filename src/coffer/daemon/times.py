"""When the daemon looks, how often, and how much it keeps in mind."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

RESCAN_SECONDS = 60.0
"""Between looks at all transcripts: what the system did not tell of is found then."""
FIRST_SECONDS = 5.0
"""Between looks for a folder that is not there yet, so that nothing can tell of what comes into it."""
AFTER_EVENT = {
    "SessionStart": (1.0,),
    "UserPromptSubmit": (0.2, 1.0, 3.0),
    "Stop": (0.2, 1.0, 3.0),
    "StopFailure": (0.5,),
    "SessionEnd": (0.5, 2.0),
}
"""Seconds after an event at which its transcript is looked at, whatever the file system tells: a client writes a
prompt after it asked us, and its last answer up to a second after it said Stop (facts/claude-code §2)."""
PUBLISH_SECONDS = 0.2
TAKE_SECONDS = 0.2
RETRY_SECONDS = 5.0
UNCONFIRMED = timedelta(days=1)
MOST_FOLDERS = 300
MOST_SESSIONS = 2_000


@dataclass(frozen=True, slots=True)
class Look:
    """A look at a transcript that is due. settled: its turn is over. ended: its session is."""

    settled: bool = False
    ended: bool = False
