"""Whether the input line of Claude Code's screen is visibly there, empty, and takes plain typing.

Only what is recognised counts as empty: two rules, one row between them that is the prompt sign alone, and below it
a footer of an idle client. The search in the history has an empty row too, and only its footer shows it; a menu
covers the footer; vim shows its INSERT mode there (docs/guard.md).
"""

from __future__ import annotations

from coffer.core.markers import key, rows
from coffer.core.regex import regex

_RULE = regex(rf"\s*{key('screen', '─')}{{10,}}")
_KEYS = r"(?:[?!←↑→↓]|(?:ctrl|shift|alt|opt|cmd|meta)\+\S+)"
"""Keys that an idle footer offers. Enter and Escape are those of menus and dialogs."""
_OFFER = regex(rf"{_KEYS}(?:{'|'.join(rows('offer'))})[a-z]")
_SUGGESTED = regex(r"\x1b\[7m[^\x1b]\x1b\[0;2m(?:\x1b\[[0-9;]*m)*[^\x1b\n]+")
"""What the client suggests that the person might say: its first character below the cursor, the rest faint. A draft is
never faint. A screen without its styles does not show which of both it is."""
_ESCAPES = regex(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]")


def look(screen: str) -> tuple[str, str]:
    """("", footer) for an empty input line under an idle footer, else what is wrong with it and the footer."""
    lines = [line.rstrip() for line in _ESCAPES.sub("", _SUGGESTED.sub("", screen)).splitlines()]
    while lines and not lines[-1].strip():
        lines.pop()
    rules = [number for number, line in enumerate(lines) if _RULE.match(line)]
    if len(rules) < 2:
        return "the input line is not on the screen", ""
    top, bottom = rules[-2:]
    box = lines[top + 1 : bottom]
    footer = "\n".join(line for line in lines[bottom + 1 :] if line.strip())
    sign = key("screen", "❯")
    if not box or not box[0].lstrip().startswith(sign):
        return "the input line is not on the screen", footer
    typed = [box[0].lstrip()[len(sign) :].strip(), *(line.strip() for line in box[1:])]
    if any(typed) or len(typed) > 1:
        return (
            f"the input line holds {' '.join(filter(None, typed))[:60] or 'an empty second line'!r}",
            footer,
        )
    if not any(_is_idle(line.strip()) for line in footer.splitlines()):
        return f"what stands below the input line is no idle footer: {footer.strip()[:60]!r}", footer
    return "", footer


def _is_idle(line: str) -> bool:
    return line.startswith(tuple(rows("footer"))) or _OFFER.match(line) is not None
