"""A session of the real client whose prompt the API refuses for its length is pruned and read again at once."""

from __future__ import annotations

import pytest

from coffer.core.last_words import is_shown
from coffer.work.guarding.reread import reread
from tests.lab.harness_rare import FULL
from tests.lab.test_guard_moves import Stage, stage

pytestmark = pytest.mark.lab
__all__ = ["stage"]
PASTED = "\n".join(["Here is the log", *(f"line {number} of it" for number in range(120)), "what ails it?"])


def test_a_refused_prompt_longer_than_the_screen_is_answered_by_a_prune(stage: Stage) -> None:
    """The client draws "Context limit reached" where the file says "Prompt is too long"."""
    stage.env["COZEMPIC_CONTEXT_WINDOW"] = "150000"
    with stage.pane() as pane:
        pane.wait("❯")
        stage.grow(pane, 0)
        for _ in range(2):
            stage.ended(pane, stage.say(pane, 0))  # what the latest turns said is not taken out
        assert stage.moves() == []
        stage.server.play({"rules": [{"match": {}, "reply": {"status": 400, "error": FULL}}]})
        pane.type(f"\x1b[200~{PASTED}\x1b[201~")
        pane.settle(1)
        pane.type("\r")
        pane.wait("Context limit reached")
        assert is_shown(reread(stage.path).words, pane.look().rows)
        stage.until(pane, lambda: stage.moved(1), 90)
        receipt = stage.moves()[0]
        assert (receipt.data["by"], receipt.data["tier"]) == ("guard", "last call")
        pane.settle(0.5)
        stage.ended(pane, stage.say(pane, 0))
        assert "removed; coffer restore" in stage.sent()
        assert "/resume" not in stage.sent()
