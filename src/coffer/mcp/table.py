"""The tools that agents may call: name, what it takes, what does the work. A tool is a row of TABLE.

No row has its session or project from its arguments: they come from the caller. What is said to an agent when
something fails tells it what to do next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from coffer.errors import CofferError
from coffer.mcp.caller import Caller, House
from coffer.mcp.handoff_tools import HANDOFF_TOOLS
from coffer.mcp.memory_tools import MEMORY_TOOLS
from coffer.mcp.rule_tools import RULE_TOOLS
from coffer.mcp.tool import Answer, Tool

INSTRUCTIONS = (
    "Coffer keeps rules, notes and handoffs for all of the person's agents. "
    "To go on with earlier work call `resume` first; when the person stops, `set_handoff`. "
    "Before deciding or debugging what may have come up before, `recall`; keep what was decided with `remember`. "
    "Where `[coffer: …; coffer restore ID]` stands, `restore` brings content back. "
    "`propose_rule` only with a ticket."
)

TABLE: tuple[Tool, ...] = (*RULE_TOOLS, *HANDOFF_TOOLS, *MEMORY_TOOLS)
_FOR_THE_PERSON = "This is nothing that you can mend: tell the person, and go on with your work."


def call(name: str, arguments: Mapping[str, Any] | None, caller: Caller, house: House) -> tuple[Answer, str]:
    """Do what a tool is for; its answer, and one word for the log that holds nothing of what was said."""
    tool = next((row for row in TABLE if row.name == name), None)
    if tool is None:
        known = ", ".join(row.name for row in TABLE)
        return Answer(f"There is no tool of that name; there are {known}.", failed=True), "unknown"
    try:
        taken = msgspec.convert(dict(arguments or {}), tool.takes)
    except msgspec.ValidationError as error:
        return Answer(
            f"Nothing was done: {error}. Mend that and call {name} again.", failed=True
        ), "arguments"
    try:
        return tool.work(taken, caller, house), "done"
    except CofferError as error:
        advice = next((say for kind, say in tool.advice if isinstance(error, kind)), _FOR_THE_PERSON)
        return Answer(f"{error} {advice}", failed=True), type(error).__name__
