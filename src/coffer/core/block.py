"""The seed's block: how a delivered text begins, is grouped and ends, and how blocks are read back.

A block, from its marker line to its end line, is paragraphs. One that begins with a `**heading:**` is a group, and
each of its further lines is a rule; any other is a remark. `held_in` reads by that alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from coffer.core.digest_text import MARKER
from coffer.core.regex import regex

TITLE = "[BEHAVIORAL CONTRACT]"
END = "[End of behavioral contract — Cozempic v1.x]"
WITHDRAWN = "**Withdrawn:**"
NO_LONGER = "no longer applies: "
"""Before each line of that group."""


def block(opening: str, groups: Mapping[str, Sequence[str]], remarks: Sequence[str] = ()) -> str:
    """A block: an opening sentence, rule lines by heading, and remarks behind them."""
    paragraphs = [opening, *("\n".join([heading, *lines]) for heading, lines in groups.items()), *remarks]
    return "\n\n".join([f"{MARKER}\n{TITLE}", *paragraphs, END])


@dataclass(frozen=True, slots=True)
class Held:
    """What a context holds. rules: the rule lines that apply there. blocks: how many blocks were read.

    texts: the blocks themselves, as they stand there.
    """

    rules: frozenset[str] = frozenset()
    blocks: int = 0
    texts: tuple[str, ...] = field(default=(), repr=False)

    def after(self, texts: Iterable[str]) -> Held:
        """The same context with these texts behind what it holds."""
        rules, found = set(self.rules), list(self.texts)
        for text in texts:
            for block in blocks_in(text):
                found.append(block)
                for heading, line in _lines(block):
                    if heading == WITHDRAWN:
                        rules.discard(line.removeprefix(NO_LONGER))
                    else:
                        rules.add(line)
        return Held(frozenset(rules), len(found), tuple(found))


def held_in(texts: Iterable[str]) -> Held:
    """Read the blocks in texts back, the oldest first: whole bundles and deltas, withdrawals applied."""
    return Held().after(texts)


_BLOCK = regex(rf"{re.escape(MARKER)}.*?(?:{re.escape(END)}|(?={re.escape(MARKER)})|\Z)", re.DOTALL)


def blocks_in(text: str) -> Iterator[str]:
    """The blocks in a text, as they stand there; one that was cut is without its end line."""
    if MARKER in text:
        yield from (match[0] for match in _BLOCK.finditer(text))


def _lines(block: str) -> Iterator[tuple[str, str]]:
    """(heading, rule line) of each rule of a block. Of a block that was cut the last line isn't whole."""
    lines = block.replace("\r\n", "\n").split("\n")
    heading, first = "", False
    for line in lines[1:-1]:
        if not line.strip():
            heading, first = "", True
        elif first and line.startswith("**") and line.endswith(":**"):
            heading, first = line, False
        elif heading:
            yield heading, line
        else:
            first = False
