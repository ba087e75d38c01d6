"""How a session stands by its transcript, folded from its records as they come.

Nothing is kept but the last of each kind, so a fold costs what is new and holds as much for a large session as for a
small one. It goes by the order of the file: where a person rewound, the counts are those of the branch that was left,
until the next answer (`unsure`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from coffer.core.dialect import SYNTHETIC
from coffer.core.evidence import Call, moment
from coffer.core.open_calls import OpenCalls
from coffer.core.record import Boundary, Pointer, Record, Window
from coffer.core.usage import (
    DEFAULT_WINDOW,
    Reported,
    WindowMeasure,
    evident_window,
    overridden,
    reported_window,
)

_GOES_ON = ("", "tool_use")
"""Reasons to stop after which the model goes on by itself."""
_CODEX_ENDS = ("task_complete", "turn_aborted")
_ANSWERED_ELSEWHERE = ("web_search",)
"""As in `core.rollout`."""


@dataclass(slots=True)
class Tally:
    """What was heard of one session. agent: whose dialect it is.

    answer: the last that counts its tokens. compacted: tokens after a compaction, until the next answer. model: that
    answers. stated: the window that a record stated. largest: tokens that this model had in its context. unsure: a
    person rewound, and nothing was answered since. turning: a turn goes on, by what was written. ended: when the last
    turn ended, in Unix seconds; None where none was seen.
    """

    agent: str
    answer: Record | None = None
    compacted: int | None = None
    model: str = ""
    stated: Window | None = None
    largest: int = 0
    unsure: bool = False
    turning: bool = False
    ended: float | None = None
    calls: OpenCalls = field(default_factory=OpenCalls)

    def hear(self, record: Record) -> None:
        """The next record of the file."""
        _HEARS[self.agent](self, record)

    @property
    def tokens(self) -> int | None:
        """Tokens in the context; None where nothing said so yet."""
        if self.answer is not None and self.answer.usage is not None:
            return self.answer.usage.context
        return self.compacted

    @property
    def open(self) -> tuple[Call, ...]:
        """Calls that wait for their result."""
        return self.calls.calls()

    def window(self, reported: Reported | None, environment: Mapping[str, str]) -> WindowMeasure:
        """The window, from the first source that answers (DESIGN section 6). reported: by the client itself."""
        said = overridden(environment)
        if said is None and reported is not None:
            said = reported_window(reported, [self.answer] if self.answer is not None else [])
        if said is not None:
            return said
        if self.agent == "codex":
            found = self.stated
            return WindowMeasure(found.tokens, found.source) if found else _DEFAULT
        return evident_window(self.stated, self.answer.model if self.answer is not None else "", self.largest)

    # --- what both dialects share

    def begin_anew(self, tokens: int | None) -> None:
        """The context was compacted."""
        self.answer, self.compacted, self.largest, self.unsure = None, tokens, 0, False

    def over(self, record: Record) -> None:
        """The turn ended with this record."""
        self.turning, self.ended = False, moment(record.time) or self.ended

    def counted(self, record: Record) -> None:
        """An answer counts its tokens. One API message is several records: the largest of its counts holds."""
        assert record.usage is not None
        before = self.answer
        if before is not None and before.usage is not None:
            if record.model != before.model:
                self.largest = 0
            name = record.message or record.uuid  # Codex's counts have none: each stands for itself
            same = bool(name) and name == (before.message or before.uuid)
            if same and record.usage.context < before.usage.context:
                return
        self.answer, self.unsure = record, False
        self.largest = max(self.largest, record.usage.context)


_DEFAULT = WindowMeasure(DEFAULT_WINDOW, "default")


def _claude(tally: Tally, record: Record) -> None:
    if record.sidechain:
        return
    if isinstance(record.detail, Boundary):
        tally.begin_anew(record.detail.after)
    elif isinstance(record.detail, Pointer):
        tally.unsure = tally.unsure or record.detail.rewound
    elif isinstance(record.detail, Window):
        tally.stated = record.detail
    if record.type == "assistant":
        _claude_answer(tally, record)
    elif record.type == "user":
        _claude_user(tally, record)


def _claude_answer(tally: Tally, record: Record) -> None:
    tally.calls.hear(record)
    if record.usage is not None and record.model not in ("", SYNTHETIC):
        if tally.model and record.model != tally.model:
            tally.stated = None  # it was stated of another model
        tally.model = record.model
    if record.usage is not None and record.usage.prompt and record.model != SYNTHETIC:
        tally.counted(record)
    if record.failed or record.stop not in _GOES_ON:
        tally.over(record)
    else:
        tally.turning = True


def _claude_user(tally: Tally, record: Record) -> None:
    if record.meta or record.summary:
        return  # the client's own: no turn begins by it, and no call ends
    tally.calls.hear(record)
    if any(block.interruption for block in record.blocks):
        tally.over(record)
    else:
        tally.turning = True


def _codex(tally: Tally, record: Record) -> None:
    if isinstance(record.detail, Boundary):
        tally.begin_anew(None)
        tally.calls.close()
    elif isinstance(record.detail, Window):
        tally.stated = record.detail
    if record.type == "turn_context":
        tally.model = record.model or tally.model
    elif record.type == "response_item":
        if not any(block.name in _ANSWERED_ELSEWHERE for block in record.blocks):
            tally.calls.hear_item(record)
    elif record.type == "event_msg":
        if record.subtype == "task_started":
            tally.turning = True
        elif record.subtype in _CODEX_ENDS:
            tally.over(record)
            tally.calls.close()
    if record.usage is not None and record.usage.context:
        tally.counted(record)


_HEARS: Mapping[str, Callable[[Tally, Record], None]] = {"claude": _claude, "codex": _codex}
