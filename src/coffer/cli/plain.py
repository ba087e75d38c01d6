"""The one place that makes foreign text safe to print.

Transcripts hold whatever tools printed: escape sequences that recolour or rename a terminal, carriage returns
that hide what was written, marks that turn the direction of text, half surrogates that end a print with an
error. All of them are shown instead of obeyed.
"""

from __future__ import annotations

import re
from datetime import datetime

from coffer.core.regex import regex

_HIDDEN = regex(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_CONTROL_PICTURES = 0x2400
_SPACE = 0x20


def visible(text: str) -> str:
    """The text with every character that a terminal would obey or hide replaced by one that shows it."""
    return _HIDDEN.sub(_shown, text)


def visible_line(text: str) -> str:
    """The same on one line, white space folded."""
    return visible(" ".join(text.split()))


def visible_path(path: str) -> str:
    """A path as it is, on one line: a folder's name may hold a line feed, and must not write lines of its own."""
    return visible(path).replace("\n", chr(_CONTROL_PICTURES + 10)).replace("\t", chr(_CONTROL_PICTURES + 9))


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < _SPACE:
        return chr(_CONTROL_PICTURES + code)
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"


def size(count: float) -> str:
    """Bytes for people: 1.4 MB."""
    for unit in ("B", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def tokens(count: float) -> str:
    """Tokens for people: 124.1K."""
    if count < 1000:
        return f"{count:.0f}"
    return f"{count / 1000:.1f}K" if count < 1_000_000 else f"{count / 1_000_000:.2f}M"


def moment(time: str) -> str:
    """A time of a record or receipt as the person's clock showed it: 2026-11-30 02:14. A date stays a date."""
    if len(time) <= len("2026-11-30"):
        return time
    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):  # not a time: as it is
        return time[:16].replace("T", " ")


def age(seconds: float) -> str:
    """How long ago, in the largest fitting unit: 3 h."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return "now"


def ago(seconds: float) -> str:
    """The same as part of a sentence: 3 h ago, now."""
    said = age(seconds)
    return said if said == "now" else f"{said} ago"
