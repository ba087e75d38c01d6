"""What a client would get if it read its file again, and what must be on the screen before it may."""

from __future__ import annotations

from pathlib import Path

import pytest

from coffer.core.left_out import CUT, PASSED
from coffer.core.settings import Guard
from coffer.errors import TranscriptMissing
from coffer.work.guarding.guard import Wish, act
from coffer.work.guarding.move_story import moves_made
from coffer.work.guarding.reread import HANGS, reread
from tests.work.open_session import Client

CAPTURED = Path(__file__).parents[1] / "fixtures" / "left_out"


@pytest.mark.parametrize(
    ("name", "why", "words"),
    [("first-turn", CUT, "greettheapple"), ("behind-the-pointer", PASSED, "greetedfig")],
)
def test_a_captured_file(name: str, why: str, words: str) -> None:
    found = reread(CAPTURED / f"{name}.jsonl")
    assert (found.why, found.words) == (why, words)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(TranscriptMissing):
        reread(tmp_path / "none.jsonl")


def test_a_rewind_to_what_a_prune_took_out(tmp_path: Path) -> None:
    """The client's memory still names it, so what it says then hangs on nothing that is in the file."""
    client = Client(tmp_path)
    client.back = 600  # over a gap of more than 5 s nothing is bridged
    for number in range(12):
        client.turn(20_000 + 7_500 * number, 30_000, polls=4)
    client.back = 0
    assert act(client.guarded, Wish("standard"), Guard(write="idle"), client.hands(None)).kind == "by hand"
    assert reread(client.transcript, client.home).why == ""
    removed = moves_made(client.home, client.transcript)[0].data["removed"]
    client.made.leaf = next(uuid for uuid in removed if uuid.startswith("rt3"))
    client.turn(30_000, said="again")
    assert reread(client.transcript, client.home).why == HANGS
