"""What a hook is answered: what the bundle has and the context lacks (DESIGN section 8).

A context is known by its transcript and, for a subagent, its id; session ids lie (a Claude fork names the old one, a
Codex child its parent's). What it holds is read from the view of that transcript, plus what was answered and can't
stand there yet: a client writes a context with the turn that it belongs to, so nothing of it is on disk before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from coffer.agents.hook_table import HOOK_AGENTS, envelope
from coffer.core.block import Held
from coffer.core.bundle import Bundle, delta
from coffer.core.text import is_text
from coffer.disk.admitted import admitted
from coffer.disk.places import Places
from coffer.store.db import database
from coffer.store.deliveries import Delivery, State, in_states, stamp
from coffer.store.home import Home
from coffer.work.delivery.bundles import TOOLS, Bundles, Made
from coffer.work.delivery.held import IN_FLIGHT, QUICK, Holding, Holdings, child_file

EVENTS = ("SessionStart", "SubagentStart", "UserPromptSubmit")
REHEARSAL = "coffer-rehearsal"
"""The session of a hook that Coffer runs to see that it works: answered as any other, and no delivery, since it would
hide that no real one ever came."""
_REMEMBERED = timedelta(days=1)
_MOST_REMEMBERED = 2_000
_ENVIRONMENT = "x-coffer-env-"
LATE = "x-coffer-late"
"""Set where nobody waits for the answer any more: what is heard counts, what would be said reaches no session."""


@dataclass(frozen=True, slots=True)
class Reply:
    """body: what the hook prints, b"" for nothing. delivery: to be saved, None for nothing to tell.

    changed: earlier deliveries to be saved again, because their context goes on in another transcript.
    """

    body: bytes = b""
    delivery: Delivery | None = None
    changed: tuple[Delivery, ...] = ()


class World:
    """What answering needs and remembers; one for a process that lives. recent: what may be in flight, oldest first."""

    def __init__(self, home: Home, environment: Mapping[str, str], tools: Collection[str] = TOOLS) -> None:
        self.home, self.environment = home, environment
        self.bundles = Bundles(home, frozenset(tools))
        self.recent: list[Delivery] = []
        self._holdings: dict[Places, Holdings] = {}

    def remember(self, now: datetime) -> None:
        """Take over what another process of ours has answered lately."""
        if self.home.database.exists():
            with database(self.home, write=False) as connection:
                self.recent = in_states(connection, ("sent", "held"), now - _REMEMBERED)

    def holdings(self, places: Places) -> Holdings:
        """What was read of the transcripts below these places."""
        return self._holdings.setdefault(places, Holdings(places))

    def add(self, delivery: Delivery) -> None:
        """Remember an answer, from now on or in place of what it was."""
        self.recent = [one for one in self.recent[-_MOST_REMEMBERED:] if one.id != delivery.id] + [delivery]


@dataclass(frozen=True, slots=True)
class Asked:
    """A hook's question, with nothing in it that was not checked. transcript: None for a session without one."""

    agent: str
    event: str
    source: str
    folder: Path
    session: str
    transcript: Path | None
    child: str
    process: int
    environment: Mapping[str, str] = field(repr=False)

    @property
    def places(self) -> Places:
        """Where this session's agent keeps its files."""
        return Places.of(self.environment)

    @property
    def label(self) -> str:
        """The event with its source."""
        return f"{self.event}:{self.source}" if self.source else self.event


def answer(  # noqa: PLR0913  (the last three have a default)
    agent: str,
    event: str,
    said: Mapping[str, Any],
    headers: Mapping[str, str],
    world: World,
    now: datetime | None = None,
    more: str = "",
    behind: Callable[[str], str] | None = None,
) -> Reply:
    """The reply to a hook. said: its stdin, parsed. headers: of the request, values percent-encoded. now: aware.

    more: a text beside the rules, which is no delivery. behind: makes another one for the room that these leave. What
    is in the reply is not written by this function; the caller saves it before it answers the same context again, and
    it is remembered in `world`.
    """
    moment = now or datetime.now(UTC)
    if agent not in HOOK_AGENTS or event not in EVENTS or LATE in headers:
        return Reply()
    asked = asked_of(agent, event, said, headers, world.environment)
    made = world.bundles.of(asked.folder, asked.environment)
    found = _holds(asked, made.project, world, moment)
    text = _text(asked, made.bundle, found.held)
    delivery = _delivery(asked, made, found.held, text, moment)
    if delivery is not None:
        world.add(delivery)
    before = "\n\n".join(part for part in (text, more) if part)
    last = behind(before) if behind is not None else ""
    body = envelope(agent, event, "\n\n".join(part for part in (before, last) if part))
    return Reply(body, delivery, found.changed)


def asked_of(
    agent: str,
    event: str,
    said: Mapping[str, Any],
    headers: Mapping[str, str],
    environment: Mapping[str, str],
) -> Asked:
    """The question in a hook's stdin and headers; what is not of the right kind counts as not said."""
    known = {name.lower(): unquote(value, errors="surrogateescape") for name, value in headers.items()}
    told = {
        name[len(_ENVIRONMENT) :].upper(): value
        for name, value in known.items()
        if name.startswith(_ENVIRONMENT)
    }
    world = {**environment, **told}
    began = (
        told.get("CLAUDE_PROJECT_DIR", "") if agent == "claude" else ""
    )  # `cd` moves cwd, and not the session
    folder = next((one for one in (began, _word(said, "cwd"), known.get("x-coffer-cwd", "")) if one), "")
    process = known.get("x-coffer-ppid", "")
    return Asked(
        agent,
        event,
        _word(said, "source") if event == "SessionStart" else "",
        Path(folder) if folder.startswith("/") else Path("/"),
        _word(said, "session_id"),
        admitted(said.get("transcript_path"), agent, Places.of(world)),
        _word(said, "agent_id"),
        int(process) if process.isdecimal() else 0,
        world,
    )


def _word(said: Mapping[str, Any], name: str) -> str:
    """A word of a hook's stdin; "" for what no folder's or session's name can be."""
    value = said.get(name)
    if not isinstance(value, str) or "\0" in value or not is_text(value):
        return ""
    return value if name == "cwd" or "/" not in value else ""


@dataclass(frozen=True, slots=True)
class _Found:
    """held: None in doubt. changed: deliveries whose context goes on in another transcript."""

    held: Held | None
    changed: tuple[Delivery, ...] = ()


def _holds(asked: Asked, project: str, world: World, now: datetime) -> _Found:
    """What the context holds, in flight or written."""
    if asked.source == "compact":  # the boundary isn't written yet, and nothing of a hook's stays behind it
        return _Found(Held().after(one.text for one in _just_resumed(asked, world, now)))
    if asked.transcript is None:
        fresh = asked.event == "SubagentStart" or asked.source in ("startup", "clear")
        return _Found(Held() if fresh else None)
    holdings = world.holdings(asked.places)
    path = child_file(asked.agent, asked.transcript, asked.child)
    holding = holdings.look(asked.agent, path, most=QUICK)
    if holding is None:
        return _Found(None)
    origin = None if holding.exists else _origin(asked, world, project, now)
    if origin is None:
        own = _sent_into(world, str(asked.transcript), asked.child)
        return _Found(_with(holding, _alive(own, asked), now))
    before = holdings.look(asked.agent, Path(origin.transcript), most=QUICK)
    moved = replace(
        origin, transcript=str(asked.transcript)
    )  # what it was answered went into this one's memory
    world.add(moved)
    sent = [moved] if moved.state == "sent" else []
    return _Found(_with(before, sent, now) if before is not None else None, (moved,))


def _just_resumed(asked: Asked, world: World, now: datetime) -> list[Delivery]:
    """Codex compacts between a resume and its first turn, and puts the texts of both events into the window."""
    if asked.agent != "codex":
        return []
    sent = _sent_into(world, str(asked.transcript or ""), asked.child)
    return [
        one
        for one in sent
        if one.event == "SessionStart:resume" and now.timestamp() - one.moment <= IN_FLIGHT
    ]


def _origin(asked: Asked, world: World, project: str, now: datetime) -> Delivery | None:
    """The delivery of the session that this one was forked from.

    `claude --resume --fork-session` says SessionStart with the old transcript, and all later events with a new one
    that isn't there yet and was never announced. The same process joins them, with nothing else from it since; where
    a shell stands between, the same project within seconds.
    """
    if asked.agent != "claude" or asked.event == "SessionStart" or asked.child or asked.transcript is None:
        return None
    mine = [one for one in world.recent if one.agent == asked.agent and not one.child and one.transcript]
    if any(one.transcript == str(asked.transcript) for one in mine):
        return None
    same = [one for one in mine if one.process == asked.process and one.process]
    near = [one for one in mine if one.project == project and now.timestamp() - one.moment <= IN_FLIGHT]
    last = (same or near)[-1:]
    return last[0] if last and last[0].event == "SessionStart:resume" else None


def _sent_into(world: World, transcript: str, child: str) -> list[Delivery]:
    """What was sent into a context, since its last compaction."""
    sent: list[Delivery] = []
    for one in world.recent:
        if (one.transcript, one.child) == (transcript, child) and one.state == "sent":
            sent = [one] if one.event == "SessionStart:compact" else [*sent, one]
    return sent


def _alive(sent: list[Delivery], asked: Asked) -> list[Delivery]:
    """Without what was sent into another process's memory, where a new one begins from the file."""
    if asked.agent != "claude" or asked.source != "resume" or not asked.process:
        return sent
    return [one for one in sent if one.process in (0, asked.process)]


def _with(holding: Holding, sent: list[Delivery], now: datetime) -> Held:
    """What is written, and what is in flight: unwritten, and sent just now or since the last answer."""
    flying = [
        one.text
        for one in sent
        if one.text not in holding.held.texts
        and (now.timestamp() - one.moment <= IN_FLIGHT or holding.answered <= one.moment)
    ]
    return holding.held.after(flying)


def _text(asked: Asked, bundle: Bundle, held: Held | None) -> str:
    if held is not None:
        return delta(bundle, held.rules)
    return bundle.text if asked.agent == "claude" and asked.event != "UserPromptSubmit" else ""


def _delivery(asked: Asked, made: Made, held: Held | None, text: str, now: datetime) -> Delivery | None:
    """The record of a reply: also of a session start at which nothing had to be said, since that is an answer."""
    bundle = made.bundle
    if asked.session == REHEARSAL:
        return None
    if not text and (asked.event == "UserPromptSubmit" or not bundle.lines):
        return None
    state: State = "sent" if text else "held"
    if asked.transcript is None or (not text and held is None):
        state = "unverifiable"
    known = held.rules if held is not None and text else frozenset()
    return Delivery(
        stamp(now),
        asked.agent,
        asked.session,
        str(asked.transcript or ""),
        asked.child,
        asked.label,
        made.project,
        bundle.hash,
        tuple(name for name, line in zip(bundle.rules, bundle.lines, strict=True) if line not in known),
        text,
        state=state,
        process=asked.process,
    )
