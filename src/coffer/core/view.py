"""What the model would be sent after a resume: the view of a transcript.

`view(transcript, model)` models what Claude Code 2.1.197 does between its file and its request: the live
branch (`loader`, `chain`), what a resume repairs (`resume`), and how messages are formed (`request`). The
result is a list of items in the order of the request. It is proven against the real client (docs/formats.md).
"""

from __future__ import annotations

from msgspec import Struct, field

from coffer.core.chain import Branch, live_branch
from coffer.core.dialect import SYNTHETIC
from coffer.core.items import Context, Item
from coffer.core.record import Record
from coffer.core.request import formed
from coffer.core.resume import resumed
from coffer.core.transcript import Transcript


class View(Struct):
    """The items of the request in order, without system prompt, tools and the next prompt.

    model: the model id that the request names, without `[1m]`; it decides which thinking is sent.
    """

    items: list[Item | Context] = field(default_factory=list)
    model: str = ""
    branch: Branch = field(default_factory=Branch)

    def blocks(self) -> list[Item]:
        """The content blocks alone."""
        return [item for item in self.items if isinstance(item, Item)]

    def contexts(self) -> list[Context]:
        """The attachments alone."""
        return [item for item in self.items if isinstance(item, Context)]

    def records(self) -> set[int]:
        """Where the records begin that any item comes from."""
        return {item.record.start for item in self.items if item.record is not None}


def view(transcript: Transcript, model: str = "") -> View:
    """The view for a model id; without one, for the model that answered last, as the client resumes it."""
    branch = live_branch(transcript)
    model = model.removesuffix("[1m]") or last_model(branch.records)
    return View(formed(resumed(branch), model), model, branch)


def last_model(records: list[Record]) -> str:
    """The model of the last answer that a model wrote, or ""."""
    for record in reversed(records):
        if record.type == "assistant" and record.model not in ("", SYNTHETIC):
            return record.model
    return ""
