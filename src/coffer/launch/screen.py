"""The child's screen, kept in a terminal emulator beside the stream that goes to the person's terminal.

The cells are pyte's. The stream is taken apart here: pyte's own parser prints the sequences of today's terminals
(`CSI < u`, `CSI 4:3 m`, device control strings) as text, raises on some, and drops the rest of a text
behind a joiner. What isn't known here is passed over whole. Memory is bounded by the size of the screen: no history,
one saved cursor, a bounded rest between two pieces.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable
from typing import Any

from pyte import modes
from pyte.screens import Char, Cursor, Margins
from pyte.screens import Screen as Cells

from coffer.core.look import Look
from coffer.core.regex import regex

LARGEST = 500
"""Columns and rows that are kept at most; a larger terminal is not read (it would cost a frame too much)."""
_LONGEST_SEQUENCE = 256
_MOST_COMBINING = 4
_TOKEN = regex(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|(?:\x1b\[|\x9b)(?P<private>[<=>?]?)(?P<numbers>[0-9;:]*)(?P<between>[ -/]*)(?P<final>[@-~])"
    r"|(?P<string>\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])"
    r"|\x1b(?P<charset>[ -/]+)[0-~]"
    r"|\x1b(?P<escape>[0-Z\\`-~])"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f-\x8f\x91-\x97\x99\x9a\x9c])"
)
_UNFINISHED = regex(r"(?:\x1b\[|\x9b)[<=>?]?[0-9;:]*[ -/]*\Z|\x1b[ -/]*\Z")
_STRING_END = regex(r"\x07|\x1b\\|\x9c|[\x18\x1a]|\x1b(?=[^\\])")
_JOINERS = regex(
    "[\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]|[\U000e0000-\U000e01ef]"
)
_NARROW = regex(
    "[ -~\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u2319\u2500-\u25fc\u276f\u2800-\u28ff]+"
)
_MOST_STYLES = 256
_ALTERNATE = frozenset({47, 1047, 1049})
_FRAME, _PASTE = 2026, 2004
_SAVED_CURSOR = 1048


class _Cells(Cells):
    """pyte's screen that keeps one saved cursor (a program may save for ever) and knows what is faint."""

    def __init__(self, columns: int, lines: int) -> None:
        self._made: dict[Char, dict[str, Char]] = {}
        super().__init__(columns, lines)

    def draw(self, data: str) -> None:
        """Ten times as fast for characters of one column: most output, and pyte makes each cell anew."""
        place, end = 0, len(data)
        while place < end:
            narrow = _NARROW.match(data, place)
            if narrow is None or modes.IRM in self.mode or modes.DECAWM not in self.mode:
                stop = place + 1 if narrow is None else end
                super().draw(data[place:stop])
                place = stop
                continue
            self._fill(narrow.group())
            place = narrow.end()

    def _fill(self, text: str) -> None:
        cursor, place, end = self.cursor, 0, len(text)
        made = self._made.get(cursor.attrs)
        if made is None:
            if len(self._made) >= _MOST_STYLES:
                self._made.clear()
            made = self._made[cursor.attrs] = {}
        while place < end:
            if cursor.x >= self.columns:
                self.carriage_return()
                self.linefeed()
            line = self.buffer[cursor.y]
            piece = text[place : place + self.columns - cursor.x]
            for x, character in enumerate(piece, cursor.x):
                cell = made.get(character)
                if cell is None:
                    cell = made[character] = cursor.attrs._replace(data=character)
                line[x] = cell
            cursor.x += len(piece)
            place += len(piece)

    def save_cursor(self) -> None:
        self.savepoints.clear()
        super().save_cursor()

    def select_graphic_rendition(self, *attrs: int) -> None:
        """Faint is kept as `blink`, which pyte has, no agent uses and no reader of ours asks for."""
        super().select_graphic_rendition(*attrs)
        for attribute in attrs:
            if attribute in (38, 48):
                return  # a colour's own numbers
            if attribute in (2, 22):
                self.cursor.attrs = self.cursor.attrs._replace(blink=attribute == 2)


class Screen:
    """The screen of one program."""

    def __init__(self, columns: int, lines: int) -> None:
        self._cells = _Cells(_bounded(columns), _bounded(lines))
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""
        self._in_string = False
        self._modes: set[int] = set()
        self._keyboards: set[str] = set()
        self._main: tuple[Any, Cursor, Margins | None] | None = None
        self._whole = True

    @property
    def private_modes(self) -> frozenset[int]:
        """The private modes that the program has switched on and not off."""
        return frozenset(self._modes)

    @property
    def keyboards(self) -> frozenset[str]:
        """Other ways to send keys that were switched on and not off: `u` (kitty's), `m` (xterm's)."""
        return frozenset(self._keyboards)

    def resize(self, columns: int, lines: int) -> None:
        """Follow the terminal's size."""
        self._cells.resize(_bounded(lines), _bounded(columns))

    def lose(self) -> None:
        """Some output is not coming here: nothing is believed until the program clears the whole screen."""
        self._whole = False
        self._rest = ""
        self._in_string = False

    def feed(self, data: bytes) -> None:
        """Take what the program wrote. Never raises: where the emulator fails, the screen is not whole."""
        text = self._rest + self._decode(data)
        self._rest = ""
        place, end = 0, len(text)
        while place < end:
            if self._in_string:
                found = _STRING_END.search(text, place)
                if found is None:
                    self._rest = "\x1b" if text.endswith("\x1b") else ""
                    return
                self._in_string = False
                place = found.end() if found.group() != "\x1b" else found.start()
                continue
            token = _TOKEN.match(text, place)
            if token is None:
                if end - place < _LONGEST_SEQUENCE and _UNFINISHED.match(text, place):
                    self._rest = text[place:]
                    return
                place += 1  # the start of a sequence that is none
                continue
            place = token.end()
            try:
                self._take(token)
            except (IndexError, KeyError, TypeError, ValueError, AttributeError, AssertionError):
                self._whole = False  # a parameter that pyte did not think of

    def _take(self, token: re.Match[str]) -> None:
        kind = token.lastgroup
        if kind == "text":
            self._draw(token["text"])
        elif kind == "final":
            self._sequence(token)
        elif kind == "control":
            _act(self._cells, _CONTROLS, token["control"])
        elif kind == "string":
            self._in_string = True
        elif kind == "escape":
            if token["escape"] == "c":
                self._modes.clear()
                self._main = None
            _act(self._cells, _ESCAPES, token["escape"])

    def _draw(self, text: str) -> None:
        if not text.isascii():
            text = _few_marks(_JOINERS.sub("", text))
        if text:
            self._cells.draw(text)

    def _sequence(self, token: re.Match[str]) -> None:
        private, final = token["private"], token["final"]
        if private == ">" and final in "um" and not token["between"]:
            self._keyboards.add(final)
        elif private == "<" and final == "u":
            self._keyboards.discard(final)
        if token["between"] or private in ("<", "=", ">"):
            return  # keyboard protocols, cursor shapes, queries: nothing of it shows
        numbers = [_number(part) for part in token["numbers"].split(";")[:32]] if token["numbers"] else []
        if private:
            if final in "hl":
                for number in numbers:
                    self._mode(number, on=final == "h")
            elif final in "JK":
                self._act(final, numbers)
            return
        self._act(final, numbers)

    def _act(self, final: str, numbers: list[int]) -> None:
        if final == "m":
            self._cells.select_graphic_rendition(*numbers)
        elif final in "JK" and numbers and numbers[0] > (3 if final == "J" else 2):
            return  # a terminal ignores what it does not know; the emulator would fail
        elif final in _ONE:
            getattr(self._cells, _ONE[final])(*numbers[:1])
            if final == "J" and numbers[:1] in ([2], [3]):
                self._whole = True
        elif final in "Hf":
            self._cells.cursor_position(*numbers[:2])
        elif final == "r":
            self._cells.set_margins(*numbers[:2])
        elif final in "ST":
            self._scroll(min(max(numbers[0] if numbers else 1, 1), self._cells.lines), up=final == "S")
        elif final == "s":
            self._cells.save_cursor()
        elif final == "u":
            self._cells.restore_cursor()
        elif final in "hl" and numbers == [4]:
            (self._cells.set_mode if final == "h" else self._cells.reset_mode)(4)

    def _scroll(self, count: int, *, up: bool) -> None:
        cells = self._cells
        x, y = cells.cursor.x, cells.cursor.y
        top, bottom = cells.margins or Margins(0, cells.lines - 1)
        cells.cursor.y = bottom if up else top
        for _ in range(count):
            (cells.index if up else cells.reverse_index)()
        cells.cursor.x, cells.cursor.y = x, y

    def _mode(self, number: int, *, on: bool) -> None:
        (self._modes.add if on and len(self._modes) < 64 else self._modes.discard)(number)
        if number in _ALTERNATE:
            self._alternate(on=on)
        elif number in (6, 7, 25):
            (self._cells.set_mode if on else self._cells.reset_mode)(number, private=True)
        elif number == _SAVED_CURSOR:
            (self._cells.save_cursor if on else self._cells.restore_cursor)()

    def _alternate(self, *, on: bool) -> None:
        """The emulator has one screen: the main one is put away while an editor or a pager shows."""
        cells = self._cells
        if on and self._main is None:
            kept = Cursor(cells.cursor.x, cells.cursor.y, cells.cursor.attrs)
            self._main = (dict(cells.buffer), kept, cells.margins)
            cells.buffer.clear()
            cells.margins = None
        elif not on and self._main is not None:
            rows, cursor, margins = self._main
            self._main = None
            cells.buffer.clear()
            cells.buffer.update({y: row for y, row in rows.items() if y < cells.lines})
            cells.cursor.x = min(cursor.x, cells.columns - 1)
            cells.cursor.y = min(cursor.y, cells.lines - 1)
            cells.margins = margins

    def look(self) -> Look:
        """What stands there now."""
        cells = self._cells
        rows, solid = [], []
        for y in range(cells.lines):
            line = cells.buffer.get(y)
            row = [] if line is None else [line[x] for x in range(cells.columns)]
            rows.append("".join(cell.data for cell in row).rstrip())
            solid.append("".join(_solid(cell) for cell in row).rstrip())
        whole = self._whole and not self._rest and _FRAME not in self._modes
        x = min(cells.cursor.x, cells.columns - 1)
        return Look(tuple(rows), tuple(solid), x, cells.cursor.y, cells.columns, whole, _PASTE in self._modes)


def _bounded(cells: int) -> int:
    return min(max(cells, 1), LARGEST)


def _solid(cell: Char) -> str:
    return " " * len(cell.data) if cell.blink else cell.data


def _number(text: str) -> int:
    """One parameter: sub-parameters behind a colon are a kind of underline or colour, which nobody reads."""
    first = text.partition(":")[0]
    return min(int(first), 9999) if first and len(first) < 10 else 0


def _few_marks(text: str) -> str:
    """At most a few combining marks in a row: they pile up in one cell, which a hostile output could fill."""
    kept: list[str] = []
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me", "Mc", "Cf") else 0
        if marks <= _MOST_COMBINING:
            kept.append(character)
    return "".join(kept)


def _act(cells: Cells, table: dict[str, str], key: str) -> None:
    name = table.get(key)
    if name is not None:
        action: Callable[[], None] = getattr(cells, name)
        action()


_CONTROLS = {
    "\x08": "backspace",
    "\t": "tab",
    "\n": "linefeed",
    "\x0b": "linefeed",
    "\x0c": "linefeed",
    "\r": "carriage_return",
    "\x84": "index",
    "\x85": "linefeed",
    "\x8d": "reverse_index",
}
_ESCAPES = {
    "7": "save_cursor",
    "8": "restore_cursor",
    "D": "index",
    "E": "linefeed",
    "M": "reverse_index",
    "H": "set_tab_stop",
    "c": "reset",
}
_ONE = {
    "@": "insert_characters",
    "A": "cursor_up",
    "B": "cursor_down",
    "C": "cursor_forward",
    "D": "cursor_back",
    "E": "cursor_down1",
    "F": "cursor_up1",
    "G": "cursor_to_column",
    "J": "erase_in_display",
    "K": "erase_in_line",
    "L": "insert_lines",
    "M": "delete_lines",
    "P": "delete_characters",
    "X": "erase_characters",
    "`": "cursor_to_column",
    "a": "cursor_forward",
    "d": "cursor_to_line",
    "e": "cursor_down",
    "g": "clear_tab_stop",
}
