"""The line beside a prompt that may be a correction: the agent in the room is asked to word the rule.

Coffer counts by itself what it understands for certain. Where it only notices something, the agent that just did
what the person speaks of knows best what was meant. The line is worded as the person's standing wish: an order in
the middle of a session was told to the person as an attack (lessons 7).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from coffer.agents.claude_turn_lines import is_program
from coffer.agents.table import AGENTS
from coffer.core.rule import Rules
from coffer.core.turn import own_words
from coffer.core.verdict import decide
from coffer.store.home import Home
from coffer.work.agent_settings.mcp_entries import look_up
from coffer.work.delivery.deliver import REHEARSAL, Asked
from coffer.work.rules.effective import user_home
from coffer.work.rules.propose import by_words, issue
from coffer.work.rules.shelf import Shelf
from coffer.work.rules.turns import stands
from coffer.work.settings import load

LINE = (
    "The user's standing wish: when they say how they want you to work, it is kept as a rule for next time. Their "
    "message may say so. If it does, do what they ask, and call the tool `propose_rule` of the server `coffer` once, "
    "with the ticket {ticket} and the rule in one sentence, in their language. If it doesn't, pass this over."
)


def ticket_line(asked: Asked, said: Mapping[str, Any], home: Home, now: datetime | None = None) -> str:
    """The line for the prompt of this hook; "" for nearly every prompt.

    None for a program's prompt or a subagent's, none twice for a turn, and none where the agent has no tool of ours
    to call. Raises what reading the settings, the transcript and the digests raises.
    """
    if asked.event != "UserPromptSubmit" or asked.child or asked.transcript is None:
        return ""
    prompt = said.get("prompt")
    words = own_words(prompt) if isinstance(prompt, str) else ""
    if (
        not words
        or asked.session == REHEARSAL
        or is_program(asked.environment.get("CLAUDE_CODE_ENTRYPOINT", ""))
    ):
        return ""
    settings = load(home)
    if not settings.learn.ask:
        return ""
    place, persons = stands(AGENTS[asked.agent], asked.transcript)
    tools = [f"{action.tool} {action.target}".strip() for action in place.actions]
    if not persons or decide(words, place.before, tools, Rules(())).kind != "noticed":
        return ""
    moment = now or datetime.now(UTC)
    shelf = Shelf(home, user_home(asked.environment), settings.digest, moment, patience=0.0)  # a hook waits
    rules = shelf.reach(shelf.project(str(asked.folder))).rules
    if decide(words, place.before, tools, rules).kind != "noticed":
        return ""  # it says again what a rule says, and is counted for that
    if not look_up(asked.agent, asked.environment).present:
        return ""
    ticket = issue(home, str(asked.transcript), by_words(words), str(asked.folder), moment)
    return LINE.format(ticket=ticket) if ticket else ""
