"""Is the end of the conversation on the screen? A rewind alone leaves no trace in the file, and a reload undoes it.

After a rewind the client shows the conversation without the turns that it took off, and the file still ends with
them. So while the last words of the file stand on the screen, nothing was rewound. Letters and digits are compared:
the client wraps lines and draws Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from coffer.core.chain import live_branch
from coffer.core.loads import loads
from coffer.core.record import Boundary, Record
from coffer.core.regex import regex
from coffer.core.transcript import Transcript

LETTERS = 16
"""Of the last words, so many are looked for."""
FEWEST = 3
SOME = 8
"""Letters behind a link that are enough: what the client draws of the link itself depends on the terminal."""
_ADDRESS = regex(r"(?<=\])\([^)]*\)")
"""Of a link: behind its text in brackets where the terminal has no links, else not drawn."""
_FENCE = regex(r"^[\s>]*(?:```|~~~).*$", re.MULTILINE)
"""Around code. The client draws neither the fence nor the language that it names."""
_NUMBER = regex(r"^[\s>]*\d{1,9}[.)][ \t]", re.MULTILINE)
_DRAWN_NUMBER = regex(r"^\W*(?:\d{1,9}|[a-z]{1,5})[.)] ")
"""Of an item of a list. The client counts anew, and in nested lists by letters."""
_DRAWN_AS_IT_STANDS = "API Error"
"""How an error begins that the client draws in the words of its record. For "Prompt is too long" it draws "Context
limit reached", so that a session which is full would never be pruned if those words were asked for."""

Line = Callable[[Record], bytes]


def last_words(transcript: Transcript, line: Line) -> str:
    """The end of the last answer, or of a prompt that has none; "" where neither tells.

    line: the bytes of a record. Of a prompt that is longer than the screen the client shows the end. Behind a
    compaction it shows none of what was before.
    """
    for record in reversed(live_branch(transcript).records):
        if isinstance(record.detail, Boundary) or record.summary:
            return ""
        if record.type == "assistant" and any(block.kind == "text" for block in record.blocks):
            said = _text(line(record))
            if record.failed and not said.startswith(_DRAWN_AS_IT_STANDS):
                continue  # the prompt that it answers is on the screen, unless a rewind took off both
            return _enough(_drawn(said)[-LETTERS:])
        if record.type == "user" and record.plain and not record.meta:
            said = _text(line(record))
            if not said.startswith("<"):  # what the client writes about its own commands
                return _enough(_letters(said)[-LETTERS:])
    return ""


def is_shown(words: str, rows: Iterable[str]) -> bool:
    """Whether a screen shows these words of `last_words`; no words are always shown."""
    drawn = list(rows)
    return words in _letters("".join(drawn)) or words in _letters(
        "".join(_DRAWN_NUMBER.sub("", row, count=1) for row in drawn)
    )


def _drawn(markdown: str) -> str:
    """The letters at the end of an answer that the client draws one behind the other, on any terminal."""
    plain = _NUMBER.sub("", _FENCE.sub("", markdown))
    pieces = [_letters(piece) for piece in reversed(_ADDRESS.split(plain))]
    return next((piece for piece in pieces if len(piece) >= SOME), max(pieces, key=len))


def _enough(words: str) -> str:
    return words if len(words) >= FEWEST else ""


def _letters(text: str) -> str:
    return "".join(each for each in text.casefold() if each.isalnum())


def _text(line: bytes) -> str:
    try:
        said = loads(line.decode("utf-8", "replace"))
    except ValueError:
        return ""
    message = said.get("message") if isinstance(said, Mapping) else None
    content: Any = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, str):
        return content
    parts = [part.get("text") for part in content or () if isinstance(part, Mapping)]
    return "\n".join(part for part in parts if isinstance(part, str))
