"""Is the input line on the screen, and what does it hold? Looks of Claude Code 2.1.197 (tests/launch/screens).

The box is a row that starts with `❯` between two rules over the whole width, with the cursor in it. All
else is no input line: a dialog, a menu that took its place, the transcript view, screen-reader mode, a look of
another version. What can't be told is not safe, and where the answer is "empty" it is only leave to type one
character and look again (typed_reload.py): vim's NORMAL mode shows exactly what an empty line shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from coffer.core.look import Look
from coffer.core.regex import regex

MARK = "❯"
INDENT = 2
"""Columns in front of the text."""
_RULE = regex("─{8,}")
_LABELLED = regex("─{2,} (?P<label>.*?) ─{2,}")
_VIM = regex(r"-- (?:INSERT|NORMAL|VISUAL|VISUAL LINE|REPLACE) --")
_SEARCH = ("search prompts:", "no matching prompt:")
_COMMAND = regex(" {1,3}/[a-z]")
_STASH = "› stashed"

ABSENT, DRAFT, EMPTY, VIM, SEARCH, STASHED, UNCERTAIN = (
    "absent",
    "draft",
    "empty",
    "vim",
    "search",
    "stashed",
    "uncertain",
)
SENTENCES = {
    ABSENT: "no input line that Coffer knows is on the screen",
    DRAFT: "there is text in the input line",
    VIM: "the input line is in vim mode, where characters are commands",
    SEARCH: "a search through earlier prompts is open",
    STASHED: "a draft is put aside, and any prompt would bring it back",
    UNCERTAIN: "the screen is being drawn, or too much came at once to follow it",
    EMPTY: "",
}
"""Kind → why nothing may be typed; "" for the one where something may."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the input line holds. text: of a draft, its lines as they are wrapped on the screen.

    menu: whether the menu of commands is open below it, where Enter takes the menu's choice and not the text.
    at_start: whether the cursor stands in front of the text.
    """

    kind: str
    text: str = ""
    menu: bool = False
    at_start: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether one may begin to type."""
        return self.kind == EMPTY

    @property
    def why(self) -> str:
        """What is in the way; "" for nothing."""
        return SENTENCES[self.kind]


def read_prompt(look: Look) -> Prompt:
    """The input line of a screen."""
    if not look.whole or not look.paste:
        return Prompt(UNCERTAIN)
    found = _box(look)
    if found is None:
        return Prompt(ABSENT)
    top, bottom = found
    below = look.rows[bottom + 1 :]
    if any(word in row for row in below for word in _SEARCH):
        return Prompt(SEARCH)
    if any(_VIM.search(row) for row in below):
        return Prompt(VIM, "\n".join(_text(row) for row in look.rows[top:bottom]))
    if not top <= look.row < bottom:
        return Prompt(ABSENT)  # the cursor is elsewhere: keys would go there
    text = "\n".join(_text(row) for row in look.rows[top:bottom])
    solid = "\n".join(_text(row) for row in look.solid[top:bottom])
    if any(_STASH in row for row in look.rows[max(0, top - 3) : top] + below):
        return Prompt(STASHED, text)
    at_its_start = look.column == INDENT and look.row == top
    # a suggestion of the client's: its first character is below the cursor, the rest is faint
    suggested = len(solid) == 1 < len(text) and bottom == top + 1
    if (solid and not suggested) or not at_its_start:
        return Prompt(DRAFT, text, menu=_has_menu(look, top, bottom), at_start=at_its_start)
    return Prompt(EMPTY)


def _has_menu(look: Look, top: int, bottom: int) -> bool:
    """The menu of commands stands below the box; in full-screen mode right above it."""
    if any(row.startswith("/") for row in look.rows[bottom + 1 :]):
        return True
    above = takewhile(bool, reversed(look.rows[: top - 1]))
    return any(_COMMAND.match(row) for row in above)


def holds_exactly(look: Look, text: str) -> bool:
    """Whether the input line holds this one line, nothing before or behind it, with the cursor at its end."""
    prompt = read_prompt(look)
    return prompt.kind == DRAFT and prompt.text == text and look.column == INDENT + len(text)


def _box(look: Look) -> tuple[int, int] | None:
    """The row of the mark and the row of the closing rule; the lowest such box."""
    width = max(len(row) for row in look.rows)
    rules = [y for y, row in enumerate(look.rows) if _is_rule(row, look.solid[y], width)]
    for bottom in reversed(rules):
        tops = [y for y in range(bottom - 1, 0, -1) if look.rows[y].startswith(MARK)]
        for top in tops[:1]:
            inside = look.rows[top + 1 : bottom]
            indented = all(row[:INDENT].strip() == "" for row in inside)
            if indented and not set(range(top, bottom)) & set(rules) and _opens(look, top - 1, width):
                return top, bottom
    return None


def _is_rule(row: str, solid: str, width: int) -> bool:
    return row == solid and len(row) == width and _RULE.fullmatch(row) is not None


def _opens(look: Look, y: int, width: int) -> bool:
    """The upper rule may carry the name that the person gave the session, but not the place in the history."""
    row, solid = look.rows[y], look.solid[y]
    if _is_rule(row, solid, width):
        return True
    labelled = _LABELLED.fullmatch(row)
    return labelled is not None and not labelled["label"].startswith("History")


def _text(row: str) -> str:
    return row[INDENT:].replace("\xa0", " ").rstrip()
