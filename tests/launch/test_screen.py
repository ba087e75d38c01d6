"""The emulator: nothing crashes it, nothing fills it, and what it shows is what a terminal shows."""

from __future__ import annotations

import sys
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coffer.launch.screen import Screen
from tests.effort import examples

PIECES = st.one_of(
    st.binary(max_size=40),
    st.text(max_size=20).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.builds(
        lambda private, numbers, between, final: f"\x1b[{private}{numbers}{between}{final}".encode(),
        st.sampled_from(["", "?", ">", "<", "="]),
        st.text("0123456789;:", max_size=12),
        st.text(" !\"#$%&'()*+,-./", max_size=2),
        st.sampled_from([chr(number) for number in range(0x40, 0x7F)]),
    ),
    st.sampled_from(
        [
            b"\x1b]0;title\x07",
            b"\x1b]8;;http://x\x1b\\",
            b"\x1bP+q544e\x1b\\",
            b"\x1b_Gx\x1b\\",
            b"\x1b",
            b"\x1b7",
        ]
    ),
    st.sampled_from(
        [b"\x1b8", b"\x1bc", b"\x1b#8", b"\x1b(0", b"\x1b%G", b"\x9b5n", b"\r\n", b"\x0e", b"\xff"]
    ),
)


@given(st.lists(PIECES, max_size=30), st.integers(1, 30), st.integers(1, 12))
@settings(max_examples=examples(100, 300))
def test_no_output_raises(pieces: list[bytes], columns: int, lines: int) -> None:
    screen = Screen(columns, lines)
    for piece in pieces:
        screen.feed(piece)
        look = screen.look()
        assert len(look.rows) == len(look.solid) == lines
        assert 0 <= look.column < columns
        assert 0 <= look.row < lines
    screen.resize(columns + 3, max(1, lines - 2))
    screen.look()


@given(st.lists(PIECES, max_size=12), st.data())
def test_where_the_output_is_cut_does_not_matter(pieces: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(pieces)
    place = data.draw(st.integers(0, len(whole)))
    one, two = Screen(20, 6), Screen(20, 6)
    one.feed(whole)
    two.feed(whole[:place])
    two.feed(whole[place:])
    assert one.look() == two.look()


@given(
    st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=15), min_size=1, max_size=5)
)
def test_plain_lines_stand_as_they_were_written(lines: list[str]) -> None:
    screen = Screen(20, 6)
    screen.feed("\r\n".join(lines).encode())
    assert [row.rstrip() for row in screen.look().rows[: len(lines)]] == [line.rstrip() for line in lines]


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b[<u",
        "\x1b[>1u",
        "\x1b[=5;1u",
        "\x1b[?u",
        "\x1b[9K",
        "\x1b[9J",
        "\x1b[>4;2m",
        "\x1b[2 q",
        "\x1b[?2026$p",
        "\x1b[>0q",
        "\x1b]11;?\x07",
        "\x1b]52;c;aGk=\x1b\\",
        "\x1bP$qm\x1b\\",
        "\x1b_Ga=q\x1b\\",
        "\x1b[4:3m",
        "\x1b[58:2::1:2:3m",
        "\x1b[38:5:9m",
        "\x1b[c",
        "\x1b[>c",
        "\x1b[6n",
        "\x1b[18t",
        "\x1b[!p",
        "\x1b=",
        "\x1b>",
        "\x1b(B",
        "\ufe0f",
        "\u200d",
    ],
)
def test_what_draws_nothing_shows_nothing(sequence: str) -> None:
    screen = Screen(20, 3)
    screen.feed(f"a{sequence}b".encode())
    look = screen.look()
    assert look.rows[0] == "ab"
    assert look.whole


def test_text_behind_a_joined_character_is_not_lost() -> None:
    screen = Screen(40, 2)
    screen.feed("⚠️ warning 👩‍💻 done".encode())
    assert screen.look().rows[0].endswith("done")


def test_the_other_screen_comes_and_goes() -> None:
    screen = Screen(20, 4)
    screen.feed(b"main\x1b[?1049h\x1b[2J\x1b[Heditor")
    assert screen.look().rows[0] == "editor"
    screen.feed(b"\x1b[?1049l")
    look = screen.look()
    assert (look.rows[0], look.column) == ("main", 4)


def test_faint_text_is_a_blank_in_solid() -> None:
    screen = Screen(20, 1)
    screen.feed(b"a\x1b[2mghost\x1b[22mb")
    look = screen.look()
    assert (look.rows[0], look.solid[0]) == ("aghostb", "a     b")


def test_a_frame_in_the_making_is_not_whole() -> None:
    screen = Screen(20, 1)
    screen.feed(b"\x1b[?2026habc")
    assert not screen.look().whole
    screen.feed(b"\x1b[?2026l")
    assert screen.look().whole
    screen.feed(b"\x1b[3")
    assert not screen.look().whole


def test_after_a_loss_only_a_cleared_screen_is_believed() -> None:
    screen = Screen(20, 2)
    screen.lose()
    screen.feed(b"text\x1b[K\x1b[J")
    assert not screen.look().whole
    screen.feed(b"\x1b[2J\x1b[H")
    assert screen.look().whole


@pytest.mark.parametrize(
    "output",
    [
        "\x1b7",
        "e" + "\u0301" * 50,
        "\x1b[?1049h",
        "\x1b]0;" + "t" * 50,
        "\x1bP" + "q" * 50,
        "\x1b[" + "1;" * 30,
        "".join(f"\x1b[38;2;{n};7;9mx" for n in range(200)),
        "".join(f"\x1b[?{n}h" for n in range(3000, 3100)),
        "\x1bH\t",
        "\x1b[9999L\x1b[9999@\x1b[9999S",
    ],
)
def test_memory_is_bounded(output: str) -> None:
    screen = Screen(80, 24)
    data = output.encode()
    for _ in range(20):
        screen.feed(data)
    tracemalloc.start()
    try:
        for _ in range(100):
            screen.feed(data)
        assert tracemalloc.get_traced_memory()[0] < 500_000
    finally:
        tracemalloc.stop()
    assert max(sys.getsizeof(row) for row in screen.look().rows) < 20_000
