"""Sentences of what people and agents write: Markdown taken apart, code left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coffer.core.redact import kept
from coffer.core.regex import regex

_FENCE = regex(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_TAG = regex(r"</?[a-zA-Z][\w-]*(?:\s[^<>]{0,200})?/?>")
_BULLET = regex(r"^\s*(?:[-*+•–]|\d{1,2}[.)]|[☐☑✅✔✓❌✗➜→])\s+(?:\[[ xX]\]\s+)?")
_HEADING = regex(r"^\s*#{1,6}\s+|^\s*\*\*[^*]+\*\*:?\s*$")
_LINK = regex(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
_MARKS = regex(r"(?<!/)\*\*(?!/)|(?<![\w*/])\*(?=[^\s./])|(?<=[^\s/])\*(?![\w*/]|\.\w)")
_BOLD = regex(r"(?<!\w)__(?=[^\W_])([^_\n]*\s[^_\n]*)(?<=[^\s_])__(?!\w)")
"""Emphasis by underscores: of several words, since a single one is a name (`__init__`)."""
_CODE = regex(r"(`+[^`\n]+`+)")
_END = regex(
    r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bz\.B\.)(?<!\bd\.h\.)(?<!\betc\.)(?<!\bvs\.)(?<!\bca\.)(?<!\bNr\.)(?<!\bbzw\.)"
    r"(?<=[.!?…])[\"'”’)\]*]*\s+(?=[\"'“„(\[`*]?[A-ZÄÖÜÉÀ0-9À-ÖØ-Þ“„`\"(\[])|(?<=[。！？])\s*"
)


def sentences(text: str, *, headings: bool = False) -> Iterator[str]:
    """The sentences and list items, each on one line, in order; without code, tables and marks of emphasis.

    headings: those as well.
    """
    for line in _lines(text):
        if _HEADING.match(line):
            if headings:
                yield plain(_HEADING.sub("", line) or line)
            continue
        for sentence in _END.split(_BULLET.sub("", line)):
            said = plain(sentence)
            if said:
                yield said


def paragraphs(text: str) -> Iterator[str]:
    """List items and lines, each whole."""
    for line in _lines(text):
        said = plain(_BULLET.sub("", line))
        if said and not _HEADING.match(line):
            yield said


def plain(text: str) -> str:
    """One line without emphasis, links and tags; what stands between backticks is left as it is."""
    pieces = _CODE.split(_LINK.sub(r"\1", text))
    pieces[::2] = [_MARKS.sub("", _BOLD.sub(r"\1", _TAG.sub(" ", piece))) for piece in pieces[::2]]
    return " ".join("".join(pieces).split())


def _lines(text: str) -> Iterator[str]:
    bare = _FENCE.sub("\n", text)
    for line in bare.splitlines():
        if line.strip() and not line.lstrip().startswith(("|", "---", "===", "***", "> ")):
            yield line


def quoted(text: str, most: int) -> str:
    """One redacted line of at most so many characters, cut at a word."""
    said = plain(kept(text, 4 * most))
    if len(said) <= most:
        return said
    head, _, _ = said[:most].rpartition(" ")
    return (head or said[:most]).rstrip(" ,;:–-") + "…"
