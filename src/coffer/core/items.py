"""The vocabulary of a view: what a request is made of, as pointers into a transcript.

An item names a record and a block, or carries the few words that the client adds by itself; it never copies
content, so a view of a 200 MB session is small. `content` reads an item's exact content where it is shown.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct, field

from coffer.core.record import Attached, Block, Record


class Edit(Enum):
    """How the client changes a block's content on its way into a request."""

    NONE = "none"
    TEXT_ONLY = "text only"
    """A failed result keeps its texts and loses its images."""
    WITHOUT_PLAN = "plan removed"
    """ExitPlanMode's input without plan and planFilePath."""
    MULTI_EDIT = "edits"
    """Edit's input with `edits`: old_string, new_string and replace_all are removed."""
    RENAMED = "renamed"
    """A call of a tool that has another name now."""


class Item(Struct, frozen=True, gc=False):
    """A content block that the model is sent.

    role: user or assistant. kind: text, thinking, tool_use, tool_result, image … record: where it is from,
    None for words of the client itself, which stand in `text`. index: which block of the record. block: its
    facts. Made by `pointing` and `worded`.
    """

    role: str
    kind: str
    record: Record | None
    index: int
    block: Block
    text: str = ""
    edit: Edit = Edit.NONE


def pointing(record: Record, index: int) -> Item:
    """The item for a block of a record."""
    block = record.blocks[index]
    return Item(record.role, block.kind, record, index, block)


def worded(role: str, text: str, kind: str = "text") -> Item:
    """An item of the client's own words; for a made-up result `text` is the call's id."""
    return Item(role, kind, None, 0, Block(kind, len(text)), text)


class Context(Struct, frozen=True, gc=False):
    """An attachment whose payload reaches the model in the client's own wording."""

    record: Record

    @property
    def attached(self) -> Attached:
        """The payload's facts."""
        assert isinstance(self.record.detail, Attached)
        return self.record.detail


class Message(Struct):
    """A message on its way into the request: kind user, assistant or attachment."""

    kind: str
    record: Record | None
    items: list[Item] = field(default_factory=list)
    id: str = ""
    model: str = ""
    meta: bool = False
