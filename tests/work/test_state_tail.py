"""A prune that moves the rules to the end takes along what came back behind a compaction, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from coffer.core.block import END
from coffer.core.session_state import SessionState, Task
from coffer.core.state_text import TASKS, state_in, told
from coffer.store.home import Home
from tests.bundle.desk import HARD, SOFT, write_rules
from tests.bundle.test_tail import MARK, hook, live_blocks, prune
from tests.prune.generate import Talk, words

STATE = told(SessionState((), (Task("1", "Write the parser", "pending", "", "x"),)), 1.8e9).text
RULES = f"{MARK}\n[BEHAVIORAL CONTRACT]\n\nAn old bundle.\n\n{END}"


@pytest.fixture
def house(tmp_path: Path) -> Path:
    home = Home(tmp_path / ".coffer")
    home.make(home.root)
    write_rules(tmp_path, home, HARD, SOFT)
    return tmp_path


def talked(*delivered: str) -> bytes:
    talk = Talk()
    for number, text in enumerate(delivered):
        hook(talk, text, f"copy{number}")
        talk.ask("please look", f"ask{number}")
    talk.fill(3)
    talk.say(words(120_000, "a long answer"), "fine")
    for _ in range(3):
        talk.read(size=30_000)
    talk.ask("go on", "second")
    talk.edit()
    talk.end()
    return talk.data


@pytest.mark.parametrize("delta", [(), (f"{MARK}\na delta\n{END}",)])
def test_the_state_goes_to_the_end_with_the_rules(house: Path, delta: tuple[str, ...]) -> None:
    after, _ = prune(talked(f"{RULES}\n\n{STATE}", *delta), house)
    (block,) = live_blocks(after)
    assert block.count(HARD) == block.count(TASKS) == 1
    assert block.endswith(STATE)
    again, _ = prune(after, house)
    assert live_blocks(again) == [block]


@pytest.mark.parametrize("text", [RULES, f"{RULES}\n\nsomething else", f"{STATE}\n\n{RULES}", ""])
def test_nothing_else_is_taken_for_a_state(house: Path, text: str) -> None:
    assert state_in(text) == ""
    if text:
        after, _ = prune(talked(text), house)
        assert TASKS not in "".join(live_blocks(after))
