"""The input line on screens of the real client, and on screens that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coffer.core.input_line import EMPTY, SENTENCES, holds_exactly, read_prompt
from coffer.core.look import Look
from coffer.launch.screen import Screen

FOLDER = Path(__file__).parent / "screens"
SCENES = sorted(FOLDER.glob("*.json"))
LINE = "/resume 00000000-0000-4000-8000-000000000000"


def scene(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    look = found["look"]
    found["look"] = Look(**look | {"rows": tuple(look["rows"]), "solid": tuple(look["solid"])})
    return found


def look_of(name: str) -> Look:
    found = scene(name)["look"]
    assert isinstance(found, Look)
    return found


def test_every_scene_is_there() -> None:
    assert len(SCENES) >= 33


@pytest.mark.parametrize("path", SCENES, ids=[path.stem for path in SCENES])
def test_a_real_screen_is_read(path: Path) -> None:
    said = scene(path.stem)
    prompt = read_prompt(said["look"])
    assert (prompt.kind, prompt.text) == (said["kind"], said["text"])
    assert bool(prompt.why) == (prompt.kind != EMPTY)


@pytest.mark.parametrize("path", SCENES, ids=[path.stem for path in SCENES])
def test_only_an_idle_or_watched_screen_is_empty(path: Path) -> None:
    """Where the screen says empty and something is in flight, the registry says so."""
    said = scene(path.stem)
    if read_prompt(said["look"]).is_empty:
        watched = {"busy": "busy", "tool_runs": "busy"}
        assert said["registry"] == [watched.get(path.stem, "idle")]


def test_the_typed_line_is_read_back_exactly() -> None:
    typed = look_of("typed_line")
    assert holds_exactly(typed, LINE)
    assert not holds_exactly(typed, LINE[:-1])
    assert not holds_exactly(typed, LINE + "0")
    for path in SCENES:
        if path.stem != "typed_line":
            assert not holds_exactly(look_of(path.stem), LINE), path.stem


def test_the_menu_of_commands_is_seen() -> None:
    with_menu = {path.stem for path in SCENES if read_prompt(look_of(path.stem)).menu}
    assert with_menu == {"slash_menu", "full_screen_menu"}


def test_a_cursor_elsewhere_is_no_empty_line() -> None:
    look = look_of("empty")
    for row in range(len(look.rows)):
        for column in range(look.columns):
            moved = Look(look.rows, look.solid, column, row, look.columns)
            assert read_prompt(moved).is_empty == ((column, row) == (look.column, look.row))


def test_a_screen_that_is_being_drawn_says_nothing() -> None:
    look = look_of("empty")
    for whole, paste in ((False, True), (True, False)):
        got = read_prompt(Look(look.rows, look.solid, look.column, look.row, look.columns, whole, paste))
        assert got.kind == "uncertain"


@given(st.data())
def test_one_other_character_in_the_box_is_not_empty(data: st.DataObject) -> None:
    look = look_of("empty")
    place = data.draw(st.integers(2, look.columns - 1))
    character = data.draw(st.characters(blacklist_categories=("Cc", "Cs", "Zs", "Mn", "Cf", "Zl", "Zp")))
    rows = list(look.rows)
    rows[look.row] = rows[look.row].ljust(look.columns)[:place] + character
    got = read_prompt(Look(tuple(rows), tuple(rows), look.column, look.row, look.columns))
    assert not got.is_empty


@given(st.data())
def test_a_damaged_frame_is_no_input_line(data: st.DataObject) -> None:
    """One cell of the two rules or the mark changed: nothing is typed."""
    look = look_of("empty")
    y = data.draw(st.sampled_from([look.row - 1, look.row, look.row + 1]))
    x = 0 if y == look.row else data.draw(st.integers(0, look.columns - 1))
    rows = list(look.rows)
    row = rows[y].ljust(look.columns)
    rows[y] = (row[:x] + data.draw(st.sampled_from(" x>│!")) + row[x + 1 :]).rstrip()
    assert not read_prompt(Look(tuple(rows), tuple(rows), look.column, look.row, look.columns)).is_empty


@given(st.lists(st.text(max_size=60), min_size=1, max_size=12), st.integers(0, 59), st.integers(0, 11))
def test_any_screen_is_read_without_an_error(rows: list[str], column: int, row: int) -> None:
    shown = Look(tuple(rows), tuple(rows), column, row, 60)
    assert read_prompt(shown).kind in SENTENCES


def test_words_of_a_conversation_are_no_input_line() -> None:
    """An answer may draw the very box; the cursor is not in it."""
    screen = Screen(60, 20)
    rule = "─" * 60
    screen.feed(f"\x1b[?2004h{rule}\r\n❯ \r\n{rule}\r\n".encode())
    assert not read_prompt(screen.look()).is_empty
