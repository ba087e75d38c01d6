"""`toolUseResult`: the result once more, for the screen. The model never sees it (facts/claude-code §4 j).

no-op: small ones; those of the protected tail, and of what a person protected; those of agents, shells and
workflows, in which the client looks for work that is still running.
"""

from __future__ import annotations

from collections.abc import Iterator

from coffer.core.plan import Trim
from coffer.core.scene import Scene

SMALLEST = 512
"""Bytes below which a sidecar is not worth a changed record."""
KEPT_TOOLS = frozenset(
    {
        "Agent",
        "Bash",
        "BashOutput",
        "CronCreate",
        "KillBash",
        "KillShell",
        "Monitor",
        "ScheduleWakeup",
        "SendMessage",
        "Task",
        "TaskOutput",
        "TaskStop",
        "Workflow",
    }
)


def propose(scene: Scene) -> Iterator[Trim]:
    """Trim large sidecars of results outside the protected tail."""
    tail = min(
        (p.result.record.start for p in scene.pairs if p.turn >= scene.tail and p.result.record), default=None
    )
    tools = {p.result.record.start: p.tool for p in scene.pairs if p.result.record is not None}
    for record in scene.transcript.records:
        if tail is not None and record.start >= tail:
            break
        tool = tools.get(record.start, "")
        is_free = scene.is_free(record, scene.tail - 1)
        if (
            record.sidecar >= SMALLEST
            and record.type == "user"
            and tool not in KEPT_TOOLS
            and tool
            and is_free
        ):
            yield Trim(record, why="a result kept beside its message")
