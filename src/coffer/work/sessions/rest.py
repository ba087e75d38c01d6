"""The proof that a transcript may be written: by default that it is at rest, so no client has it open."""

from __future__ import annotations

import re
from collections.abc import Callable

from coffer.core.transcript import About
from coffer.disk.places import Places
from coffer.disk.processes import agents_in
from coffer.disk.replace import WARM_SECONDS, Ticket
from coffer.errors import SessionLive
from coffer.work.sessions.holders import Holders

REGISTRY_SINCE = (2, 1, 197)
"""From this version on Claude Code was seen to keep its registry; older ones may not (facts §10)."""


Proof = Callable[[About, Ticket], None]
"""Raises unless the file may be written now, and then nothing is changed.

Whoever writes asks it before the work, when the new file lies ready, and right before the swap: what was true when a
large file was read may be so no more when it has been written.
"""


def at_rest(places: Places) -> Proof:
    """The proof for a session that nobody has open."""
    return lambda about, ticket: require_rest(about, ticket, places)


def require_rest(about: About, ticket: Ticket, places: Places) -> None:
    """Raise SessionLive unless the session is at rest.

    The client's own registry decides. For clients that may keep none: an agent process in the session's
    folder, or a file younger than 10 minutes.
    """
    held = Holders(places).of("claude", about.session)
    if held:
        status = f", {held[0].status}" if held[0].status else ""
        raise SessionLive(about.session, f"process {held[0].pid} holds it{status}")
    if _version(about.version) >= REGISTRY_SINCE:
        return
    running = agents_in(about.cwd) if about.cwd else []
    if running:
        raise SessionLive(about.session, f"an agent (process {running[0]}) works in its folder, {about.cwd}")
    if ticket.age < WARM_SECONDS:
        raise SessionLive(
            about.session,
            f"its file was written to {ticket.age:.0f} s ago, and version {about.version or 'unknown'} may keep "
            "no registry of open sessions",
        )


def _version(said: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", said)[:3])
