"""Whether a line may hold something that a person said, decided by its bytes.

It may say yes too often, never too seldom: a yes costs a look by a process of its own, a no is final until the
session ends (`claude_turns.py` and `codex_turns.py` say what really is a human turn).
"""

from __future__ import annotations

import re

from coffer.core.regex import regex

PERSON: dict[str, re.Pattern[bytes]] = {
    "claude": regex(rb'"type":\s*"user"|"queued_command"|"queue-operation"'),
    "codex": regex(rb'"UserMessage"|"user_message"|"role":\s*"user"'),
}
"""Agent → what stands in every line that may hold a person's words."""
_RETURNED = regex(rb'"type":\s*"tool_result"')
_REFUSED = b"want to proceed with this tool use"
"""What the client writes into the result of a call that the person refused, before what they said to it."""


def may_be_persons(agent: str, line: bytes) -> bool:
    """Whether the line may hold a person's words."""
    found = len(PERSON[agent].findall(line))
    if agent != "claude" or _REFUSED in line or _RETURNED.search(line) is None:
        return found > 0
    return found > 1  # two records on one line, by a client that was killed in the middle of the first
