"""Which calls of tools wait for their result at the end of what was read of a Claude Code conversation."""

from __future__ import annotations

from collections.abc import Iterable

from coffer.core.evidence import Call, moment
from coffer.core.record import Record


class OpenCalls:
    """Hears records one after the other.

    A prompt, an interruption, or another message of the model closes the calls before it: they were interrupted
    and their results are gone for good (lesson 15: any old interrupted call blocked for ever).
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._waiting: dict[str, Call] = {}
        self._message = ""
        for record in records:
            self.hear(record)

    def hear(self, record: Record) -> None:
        """The next record of a branch."""
        if record.type == "assistant":
            if not record.message or record.message != self._message:
                self._waiting.clear()
            self._message = record.message
            self._asked(record)
        elif record.type == "user" and not self._answered(record):
            self._waiting.clear()

    def hear_item(self, record: Record) -> None:
        """The next item of a Codex rollout: each item is a record, and parallel calls share no name."""
        if record.role == "assistant":
            self._asked(record)
        elif not record.meta and not self._answered(record):
            self._waiting.clear()

    def close(self) -> None:
        """A turn is over: what has no result gets none."""
        self._waiting.clear()

    def calls(self) -> tuple[Call, ...]:
        """Those that wait."""
        return tuple(self._waiting.values())

    def _asked(self, record: Record) -> None:
        for block in record.blocks:
            if block.kind == "tool_use":
                self._waiting[block.id] = Call(block.name, block.id, moment(record.time))

    def _answered(self, record: Record) -> bool:
        answered = [block.id for block in record.blocks if block.kind == "tool_result"]
        for each in answered:
            self._waiting.pop(each, None)
        return bool(answered)
