"""The machine of a typed reload, where its terminal could not press Enter; all else: tests/launch/test_reload.py."""

from __future__ import annotations

from coffer.core.look import Look
from coffer.core.typed_reload import (
    GAVE_UP,
    REFUSED,
    REWOUND,
    TYPED,
    Reload,
    Sight,
    obstacles,
    restart_obstacles,
)

LINE = "/resume 5f0c5a62-0000-4000-8000-00000000cafe"
RULE = "─" * 80


def sight(now: float, text: str = "", *, menu: bool = False, rewound: bool = False) -> Sight:
    rows = (
        "answered",
        "",
        RULE,
        f"❯ {text}".rstrip(),
        RULE,
        "/add-dir  Add" if menu else "  ? for shortcuts",
    )
    return Sight(now, Look(rows, rows, 2 + len(text), 3, 80), 0.0, 0.0, False, "", rewound=rewound)


def typed() -> Reload:
    machine = Reload(LINE)
    assert machine.step(sight(10)) == b"/"
    assert machine.step(sight(11, "/", menu=True)) == LINE[1:].encode()
    assert machine.step(sight(12, LINE)) == b"\r"
    return machine


def test_it_is_typed_read_back_and_seen_to_return() -> None:
    machine = typed()
    assert machine.step(sight(13)) == b""
    assert machine.outcome is not None
    assert (machine.outcome.kind, machine.finished) == (TYPED, True)


def test_an_enter_that_was_not_pressed_takes_the_line_back() -> None:
    machine = typed()
    machine.unsent("the screen changed in the last moment", 12.0)
    assert machine.holds
    assert machine.step(sight(12.2, LINE)) == b"\x7f" * len(LINE)
    assert machine.step(sight(12.4)) == b""
    assert machine.outcome is not None
    assert (machine.outcome.kind, machine.outcome.left) == (GAVE_UP, "")
    assert machine.outcome.why == "the screen changed in the last moment"
    assert machine.finished


def test_a_conversation_whose_end_is_missing_is_no_moment_to_read_the_file() -> None:
    look = sight(10, rewound=True)
    assert obstacles(look, LINE, 2) == [REWOUND]
    assert restart_obstacles(look, 2) == [REWOUND]
    machine = Reload(LINE)
    assert machine.step(look) == b""
    assert machine.outcome is not None
    assert machine.outcome.kind == REFUSED
