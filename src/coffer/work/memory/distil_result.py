"""What became of a session that was to be told."""

from __future__ import annotations

from dataclasses import dataclass, field

from coffer.core.steps import Story

DISTILLED, ALREADY, NO_MODEL, NOT_FOUND = "distilled", "already_distilled", "no_model", "not_found"
NOTHING, FAILED, LATER = "skipped", "failed", "later"


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a session. file, entry: where its entry is. text: what would be written, where it was a trial.

    why: a sentence where nothing was written. note: what a configured model could not do. story: of the whole session,
    where it was read.
    """

    agent: str
    session: str
    path: str
    outcome: str
    why: str = ""
    file: str = ""
    entry: str = ""
    receipt: str = ""
    title: str = ""
    text: str = ""
    note: str = ""
    replaced: bool = False
    story: Story | None = field(default=None, compare=False, repr=False)
