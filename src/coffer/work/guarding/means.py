"""The means by which a client reloads a session from its file, from the best to the last.

A means is found for a session, says what is in the way of it now, and reloads once. It types nothing that it does not
read back, and ends no process that Coffer did not start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from coffer.core.settings import Guard
from coffer.core.typed_reload import SETTLE_SECONDS, TYPED
from coffer.disk.places import Places
from coffer.disk.tmux import Pane
from coffer.store.home import Home
from coffer.work.guarding import runs
from coffer.work.guarding.guard_errors import LauncherSilent
from coffer.work.guarding.tmux import TmuxClient, find_client
from coffer.work.sessions.window import report_of

MeansName = Literal["typed", "tmux", "restart", "none"]
"""typed: by the launcher. restart: by the launcher, the agent is ended and started again. none: the person types it."""
Kind = Literal["done", "refused", "unknown"]
DONE: Kind = "done"
REFUSED: Kind = "refused"
UNKNOWN: Kind = "unknown"


@dataclass(frozen=True, slots=True)
class Reloaded:
    """How a reload went. kind: done; refused: nothing was sent; unknown: something was, perhaps. why: a phrase."""

    kind: Kind
    why: str = ""
    seconds: float = 0.0


class Means(Protocol):
    """One way to reload one session."""

    @property
    def name(self) -> MeansName:
        """Which one it is."""

    def obstacles(self) -> list[str]:
        """Everything that is in the way of a reload now, as phrases; empty: it may be done."""

    def reload(self, wait: float) -> Reloaded:
        """Reload it, at a safe moment within `wait` seconds. Never raises for what the client or its terminal does."""


@dataclass(frozen=True, slots=True)
class Sought:
    """The session for which a means is sought. words: of `work.reread`: they must be on the screen."""

    session: str
    home: Home
    environment: Mapping[str, str]
    settings: Guard
    words: str = ""


@dataclass(frozen=True, slots=True)
class Tmux:
    """A pane of tmux, where the person allowed it (`[guard] tmux`): the same line, typed and read back."""

    client: TmuxClient

    @property
    def name(self) -> MeansName:
        """The one."""
        return "tmux"

    def obstacles(self) -> list[str]:
        """As the pane shows it."""
        return self.client.obstacles()

    def reload(self, wait: float) -> Reloaded:
        """Read back before Enter. What was typed and could not be deleted is told."""
        done = self.client.reload(wait)
        if done.kind == TYPED:
            return Reloaded(DONE, done.why, done.seconds)
        left = f"; “{done.left}” still stands in the line" if done.left else ""
        return Reloaded(REFUSED, f"{done.why}{left}")


@dataclass(frozen=True, slots=True)
class Launcher:
    """`coffer run`: it types `/resume`; where it can't, since the editor has modes, it starts the agent again."""

    home: Home
    run: str
    session: str
    model: str = ""
    settle: float = SETTLE_SECONDS
    words: str = ""

    @property
    def name(self) -> MeansName:
        """By whether a model is given: a restart has to name one."""
        return "restart" if self.model else "typed"

    def obstacles(self) -> list[str]:
        """As the launcher sees its screen."""
        try:
            said = runs.ask(self.home, self.run, {"do": runs.STATE, "words": self.words})
        except LauncherSilent as error:
            return [str(error)]
        if said is None:
            return ["its launcher has ended"]
        if said.get("session") != self.session:
            return ["another session is on its screen"]
        found = said.get("restart" if self.model else "why")
        return [str(each) for each in found] if isinstance(found, list) else ["its launcher does not say"]

    def reload(self, wait: float) -> Reloaded:
        """By the launcher, which reads back what it types."""
        found = {"run": self.run, "session": self.session, "words": self.words}
        model = self.model or None
        try:
            said = runs.reload(self.home, found, settle=self.settle, wait=wait, model=model)
        except LauncherSilent as error:
            return Reloaded(UNKNOWN, str(error))
        return _understood(said)


def _understood(said: Mapping[str, Any]) -> Reloaded:
    why, seconds = str(said.get("why") or ""), said.get("seconds")
    took = float(seconds) if isinstance(seconds, int | float) else 0.0
    if said.get("kind") == "typed":
        return Reloaded(DONE, why, took)
    if said.get("kind") == runs.UNSURE:
        return Reloaded(UNKNOWN, why, took)
    return Reloaded(REFUSED, why or str(said.get("error") or "it does not say why"), took)


def _launcher(sought: Sought) -> Means | None:
    """The run that holds the session."""
    for said in runs.launched(sought.home):
        if said["session"] != sought.session or said.get("agent") != "claude":
            continue
        model = ""
        if said.get("vim"):
            reported = report_of(sought.session, sought.environment)
            model = reported.model if reported is not None else ""
        return Launcher(sought.home, str(said["run"]), sought.session, model, words=sought.words)
    return None


def _tmux(sought: Sought) -> Means | None:
    """The pane that the session's own environment names, if its client is there."""
    pane = Pane.of(sought.environment) if sought.settings.tmux else None
    if pane is None:
        return None
    client = find_client(sought.session, Places.of(sought.environment), pane, sought.words)
    return Tmux(client) if client is not None else None


MEANS: tuple[Callable[[Sought], Means | None], ...] = (_launcher, _tmux)
"""What finds each, from the best to the last."""


def means_for(sought: Sought) -> Means | None:
    """The best means for a session; None: only the person can reload it."""
    return next((found for find in MEANS if (found := find(sought)) is not None), None)
