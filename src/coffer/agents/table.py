"""The agents that Coffer knows: one row each, read from left to right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from coffer.agents import claude, claude_about, codex, codex_about
from coffer.core import parts, rollout, usage
from coffer.core import view as claude_view
from coffer.core.composition import Mark, Part
from coffer.core.content import content as claude_content
from coffer.core.items import Item
from coffer.core.json_lines import Oddity
from coffer.core.record import Record
from coffer.core.transcript import About, Transcript
from coffer.core.usage import Measure, WindowMeasure
from coffer.core.view import View

if TYPE_CHECKING:
    from coffer.core.steps import Scribe
    from coffer.core.turn import Listener


class Agent(Struct, frozen=True):
    """One agent's dialect and the model of its loader.

    translate: a line and its offset → records. view: what a resume sends. content: an item and its line → the
    block as sent. measure, window, marks: tokens now, the window, and which requests are counted.
    about: the first and last lines of a transcript → what they say of the session. listener: a new hearer of
    one file's human turns. scribe: a new hearer of one file's steps.
    """

    name: str
    title: str
    translate: Callable[[bytes, int], list[Record | Oddity]]
    view: Callable[[Transcript, str], View]
    content: Callable[[Item, bytes], dict[str, Any]]
    measure: Callable[[View], Measure | None]
    window: Callable[[Transcript, View, Mapping[str, str]], WindowMeasure]
    marks: Callable[[View, Sequence[Part]], list[Mark]]
    about: Callable[[bytes, bytes], About]
    listener: Callable[[], Listener]
    scribe: Callable[[], Scribe]


def _claude_marks(view: View, found: Sequence[Part]) -> list[Mark]:
    return parts.marks_of(found, usage.answers(view.branch.records))


def _claude_window(transcript: Transcript, view: View, environment: Mapping[str, str]) -> WindowMeasure:
    return usage.window_of(transcript.records, view.branch.records, environment)


def _codex_window(transcript: Transcript, _view: View, environment: Mapping[str, str]) -> WindowMeasure:
    return (
        usage.overridden(environment)
        or rollout.window_of(transcript.records)
        or WindowMeasure(usage.DEFAULT_WINDOW, "default")
    )


# Hearing turns and steps takes most of the modules of an agent, and a command that shows a session hears nothing.


def _claude_listener() -> Listener:
    from coffer.agents.claude_turns import ClaudeListener  # noqa: PLC0415  (see above)

    return ClaudeListener()


def _claude_scribe() -> Scribe:
    from coffer.agents.claude_steps import ClaudeScribe  # noqa: PLC0415

    return ClaudeScribe()


def _codex_listener() -> Listener:
    from coffer.agents.codex_turns import CodexListener  # noqa: PLC0415

    return CodexListener()


def _codex_scribe() -> Scribe:
    from coffer.agents.codex_steps import CodexScribe  # noqa: PLC0415

    return CodexScribe()


CLAUDE = Agent(
    "claude",
    "Claude Code",
    claude.translate,
    claude_view.view,
    claude_content,
    lambda view: usage.context_now(view.branch.records),
    _claude_window,
    _claude_marks,
    claude_about.about,
    _claude_listener,
    _claude_scribe,
)
CODEX = Agent(
    "codex",
    "Codex",
    codex.translate,
    rollout.view,
    codex_about.content,
    lambda view: rollout.context_now(view.branch.records),
    _codex_window,
    lambda view, found: rollout.marks_of(found, view.branch.records),
    codex_about.about,
    _codex_listener,
    _codex_scribe,
)
AGENTS = {agent.name: agent for agent in (CLAUDE, CODEX)}


def recognise(head: bytes) -> Agent | None:
    """The agent whose transcript begins with these bytes, or None."""
    if codex_about.is_rollout(head):
        return CODEX
    if claude_about.is_transcript(head):
        return CLAUDE
    return None
