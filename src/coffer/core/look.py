"""What stands on a terminal at one moment, as a value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """A screen: its rows without blanks at the end, and the cursor.

    solid: the rows once more, with each faint character as a blank: what a client shows in the input line as a
    suggestion, and nobody typed. whole: False while a frame is being drawn, or where output was passed over, so
    the rows may not be what the person sees. columns: the width. paste: the program takes bracketed paste, so it
    reads keys.
    """

    rows: tuple[str, ...]
    solid: tuple[str, ...]
    column: int
    row: int
    columns: int
    whole: bool = True
    paste: bool = True
