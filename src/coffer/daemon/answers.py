"""Answers to hooks: one thread that knows what every context holds, and notes each answer before it is given."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from coffer.agents.hook_envelope import with_system_message
from coffer.agents.hook_table import HOOK_AGENTS
from coffer.agents.table import CLAUDE
from coffer.core.loads import object_in
from coffer.daemon.threads import in_thread
from coffer.errors import CofferError
from coffer.store.deliveries import Delivery
from coffer.store.fired import note_fired
from coffer.store.home import Home
from coffer.store.hook_events import drop_old, keep
from coffer.store.sent import Outbox, save_new, take_in
from coffer.work.delivery.bundle_files import drop_spooled, read_spool
from coffer.work.delivery.bundles import session_context
from coffer.work.delivery.deliver import EVENTS, REHEARSAL, Asked, World, answer, asked_of
from coffer.work.delivery.held import QUICK, child_file
from coffer.work.delivery.spooled import asked_in, delivery_of
from coffer.work.delivery.ticket_line import ticket_line
from coffer.work.guarding.nudge import nudge
from coffer.work.sessions.window import STATUSLINE, hear

_LOG = logging.getLogger("coffer.daemon")
LARGE = 1 << 20
"""Bytes of a transcript above which it is looked at apart first, so that no other hook waits for that."""


@dataclass(frozen=True, slots=True)
class Answered:
    """body: what the hook prints. asked: None where no agent of ours asked. deliveries: that are new or changed."""

    body: bytes = b""
    asked: Asked | None = None
    deliveries: tuple[Delivery, ...] = ()
    source: str = ""


class Keeps(Protocol):
    """What keeps that which a compaction loses (daemon/keeping)."""

    async def compacting(self, asked: Asked) -> None:
        """A compaction may begin. Returns after a moment, whatever came of it."""

    async def behind(self, asked: Asked) -> Callable[[str], str] | None:
        """What makes the text that goes behind the rules of this answer; None where there is none."""


EVENTS_LAST = 30 * 86_400.0
"""Seconds for which the hook events of a silent session are kept."""


class Answers:
    """One for a daemon."""

    def __init__(self, home: Home, environment: Mapping[str, str]) -> None:
        self.world = World(home, environment)
        self.outbox = Outbox(home)
        self.keeping: Keeps | None = None
        self._home = home
        self._thread = ThreadPoolExecutor(1, "answers")
        self._looks = ThreadPoolExecutor(2, "looks")
        self._events = ThreadPoolExecutor(1, "events")

    def begin(self) -> None:
        """Take over what the daemon before this one answered. A database that can't be written is told, no error."""
        try:
            found = take_in(self._home)
            if found:
                _LOG.info("%d deliveries of the daemon before this one were taken in", len(found))
            self.world.remember(datetime.now(UTC))
            drop_old(self._home, time.time() - EVENTS_LAST)
        except (CofferError, OSError) as error:
            _LOG.warning("what was sent before can't be taken in: %s", error)

    async def reply(self, agent: str, event: str, body: bytes, headers: Mapping[str, str]) -> Answered:
        """The reply to a hook, noted."""
        if agent not in HOOK_AGENTS:
            return Answered()
        said, asked = await in_thread(self._thread, self._asked, agent, event, body, headers)
        if event == "PreCompact" and self.keeping is not None:
            await self.keeping.compacting(asked)
        if event not in EVENTS:
            return Answered(asked=asked, source=str(said.get("reason") or ""))
        if asked.transcript is not None and _size(asked) > LARGE:
            await in_thread(self._looks, self._look, asked)
        more = await self._line(asked, said) if event == "UserPromptSubmit" else ""
        behind = await self.keeping.behind(asked) if self.keeping is not None else None
        reply = await in_thread(self._thread, self._reply, agent, event, said, headers, asked, more, behind)
        words = await self._nudge(asked) if event == "UserPromptSubmit" else ""
        return replace(reply, body=with_system_message(reply.body, words))

    async def _nudge(self, asked: Asked) -> str:
        """The guard's line for the person. Whatever keeps it from being made keeps no rules back."""
        try:
            return await in_thread(self._looks, nudge, asked, self._home)
        except (CofferError, OSError) as error:
            _LOG.warning("a person can't be nudged: %s", error)
            return ""

    async def _line(self, asked: Asked, said: Mapping[str, Any]) -> str:
        """The line that asks the agent for a rule. Apart, since judging a prompt takes longer than an answer may.

        Whatever keeps it from being made keeps no rules back.
        """
        try:
            return await in_thread(self._looks, ticket_line, asked, said, self._home)
        except (CofferError, OSError) as error:
            _LOG.warning("an agent can't be asked for a rule: %s", error)
            return ""

    def _asked(
        self, agent: str, event: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[Mapping[str, Any], Asked]:
        said = object_in(body) or {}
        asked = asked_of(agent, event, said, headers, self.world.environment)
        if event == STATUSLINE:  # no hook of the client's: it must not look as if one had fired
            if agent == CLAUDE.name:  # Codex has none
                self._events.submit(self._keep, event, said, time.time(), asked)
        elif asked.session != REHEARSAL:  # a hook that Coffer tries would hide that no agent ever did
            with suppress(OSError):  # it only tells a person when
                note_fired(self._home, agent)
            if agent == CLAUDE.name:
                self._events.submit(self._keep, event, said, time.time(), asked)
        return said, asked

    def _keep(self, event: str, said: Mapping[str, Any], now: float, asked: Asked) -> None:
        """Keep an event for the gate, in the order of their coming. One that can't be kept blocks; it tells so."""
        try:
            if event != STATUSLINE:
                keep(self._home, event, said, now)
            hear(self._home, event, said, asked.places, now)
        except (CofferError, OSError) as error:
            _LOG.warning("a hook event can't be kept for the guard: %s", error)

    def _look(self, asked: Asked) -> None:
        assert asked.transcript is not None
        path = child_file(asked.agent, asked.transcript, asked.child)
        self.world.holdings(asked.places).look(asked.agent, path, most=QUICK)

    def _reply(  # noqa: PLR0913  (the last two have a default)
        self,
        agent: str,
        event: str,
        said: Mapping[str, Any],
        headers: Mapping[str, str],
        asked: Asked,
        more: str = "",
        behind: Callable[[str], str] | None = None,
    ) -> Answered:
        began = time.perf_counter()
        reply = answer(agent, event, said, headers, self.world, more=more, behind=behind)
        deliveries = [*reply.changed]
        if reply.delivery is not None:
            spent = round((time.perf_counter() - began) * 1000, 3)
            deliveries.append(replace(reply.delivery, milliseconds=spent))
            self.world.add(deliveries[-1])
        if deliveries:
            self.outbox.put(deliveries)
        return Answered(reply.body, asked, tuple(deliveries), asked.source)

    async def context(self, agent: str, folder: Path) -> dict[str, Any]:
        """What a new session in this folder would be sent; makes nothing."""
        return await in_thread(
            self._thread, session_context, agent, folder, self._home, self.world.environment
        )

    async def spooled(self) -> list[tuple[Delivery, Mapping[str, str]]]:
        """Take in what hooks answered without us: what was new, with its session's environment.

        Raises StoreFailed: then it stays in the spool.
        """
        return await in_thread(self._thread, self._spooled)

    def _spooled(self) -> list[tuple[Delivery, Mapping[str, str]]]:
        entries = read_spool(self._home)
        found = [(one, entry) for entry in entries if (one := delivery_of(entry, self.world)) is not None]
        # an entry that was saved and not dropped, by a kill in between, is known
        new = save_new(self._home, [one for one, _ in found])
        drop_spooled(self._home, entries)
        for one in new:
            self.world.add(one)
        if new:
            _LOG.info("%d answers of hooks without us were taken in", len(new))
        known = {one.id for one in new}
        return [(one, asked_in(entry, self.world).environment) for one, entry in found if one.id in known]

    async def note(self, changed: list[Delivery]) -> None:
        """Remember what became of deliveries."""

        def remember() -> None:
            for one in changed:
                self.world.add(one)

        await in_thread(self._thread, remember)

    def close(self) -> None:
        """Wait for what is being answered."""
        self._looks.shutdown(cancel_futures=True)
        self._thread.shutdown()
        self._events.shutdown()
        self.outbox.close()


def _size(asked: Asked) -> int:
    assert asked.transcript is not None
    try:
        return os.stat(child_file(asked.agent, asked.transcript, asked.child)).st_size  # noqa: PTH116  (on the hot path)
    except OSError:
        return 0
