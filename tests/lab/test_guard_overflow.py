"""The last words of a file on the real screen: behind a refusal, and at the ends of answers in Markdown."""

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
        assert stage.made() == []
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


ENDS = (
    "Run this:\n\n```bash\nmake test\n```",
    "Steps:\n\n1. one\n1. two\n1. three",
    "1. one\n   1. inner\n      1. deep\n      1. deeper",
    "Here:\n\n| a | b |\n|---|---|\n| one | two |\n| three | four |",
    "See [the notes](https://x.invalid/notes) of **all** `a_b`",
)


def test_the_end_of_an_answer_is_found_as_the_client_draws_it(stage: Stage) -> None:
    """Else the guard would take the answer for rewound, and leave the session alone until the next."""
    with stage.pane() as pane:
        pane.wait("❯")
        stage.ended(pane, stage.say(pane, 0))
        for number, said in enumerate(ENDS):
            prompt, before = f"tell me the {number}th end", stage.path.read_bytes().count(b'"end_turn"')
            stage.scripts[prompt] = [{"text": said}]
            stage.server.play({"scripts": stage.scripts})
            pane.submit(prompt)
            pane.settle(1)
            stage.wait_idle(pane)
            pane.settle(1)
            assert stage.path.read_bytes().count(b'"end_turn"') > before
            words = reread(stage.path).words
            assert is_shown(words, pane.look().rows), (words, said)
