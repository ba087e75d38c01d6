"""A whole transcript as a value: its records in file order, and what in the file is no record."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from coffer.core.json_lines import Oddity
from coffer.core.record import Naming, Record

CHAINED = frozenset({"user", "assistant", "attachment", "system"})
"""Record types that the client links by uuid and parentUuid (facts/claude-code §3)."""


class About(Struct):
    """What the records say of the session as a whole. Empty strings where nothing was said."""

    session: str = ""
    cwd: str = ""
    version: str = ""
    branch: str = ""
    model: str = ""
    started: str = ""
    title: str = ""
    parent: str = ""
    """Codex: the thread that spawned this one, or that it was forked from."""
    subagent: bool = False
    inherited: int = 0
    """Codex: bytes of the parent's file that a fork's own file leaves out."""


class Transcript(Struct):
    """Records and oddities of one file of `size` bytes, both in file order.

    unfinished: bytes after the last newline; the client's next append would be glued to them (facts §4 f).
    """

    agent: str
    records: list[Record] = field(default_factory=list)
    oddities: list[Oddity] = field(default_factory=list)
    size: int = 0
    unfinished: int = 0
    about: About = field(default_factory=About)

    def extend(self, found: Iterable[Record | Oddity]) -> None:
        """Add what one line held."""
        for item in found:
            if isinstance(item, Record):
                self.records.append(item)
            else:
                self.oddities.append(item)

    def titles(self) -> dict[str, str]:
        """The last title of each naming record type."""
        return {
            record.type: record.detail.title
            for record in self.records
            if isinstance(record.detail, Naming) and record.detail.title
        }
