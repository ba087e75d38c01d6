"""The means at the launcher's door: what is asked there, and what its answers mean."""

from __future__ import annotations

import select
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coffer.core.settings import Guard
from coffer.launch.door import Door
from coffer.store.home import Home
from coffer.store.windows import merge_report
from coffer.work.guarding.gate import judge_session
from coffer.work.guarding.means import Reloaded, Sought, means_for
from coffer.work.guarding.senses import with_means
from tests.work.open_session import Client

SESSION = "5f0c5a62-0000-4000-8000-00000000cafe"
STATE = {"session": SESSION, "agent": "claude", "run": "a1", "why": [], "restart": [], "vim": False}


class House:
    """A door that answers as a launcher would. state, done: its answers; asked: what it was asked."""

    def __init__(self, root: Path) -> None:
        self.home = Home(root / ".coffer")
        self.environment = {"HOME": str(root)}
        self.state: dict[str, Any] = dict(STATE)
        self.done: dict[str, Any] = {"kind": "typed", "why": "", "seconds": 0.5}
        self.asked: list[dict[str, Any]] = []
        opened = Door.open(self.home, "a1")
        assert opened is not None
        self.door, self.over = opened, False
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self) -> None:
        while not self.over:
            ready, free, _ = select.select(self.door.readers(), self.door.writers(), [], 0.05)
            self.door.flush(set(free))
            for caller, request in self.door.serve(set(ready)):
                self.asked.append(request)
                self.door.answer(caller, self.state if request["do"] == "state" else self.done)

    def close(self) -> None:
        self.over = True
        self.thread.join()
        self.door.close()

    def means(self) -> Any:
        return means_for(Sought(SESSION, self.home, self.environment, Guard(), "lastwords"))


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.close()


def test_it_types_where_the_launcher_sees_an_empty_line(house: House) -> None:
    means = house.means()
    assert (means.name, means.obstacles()) == ("typed", [])
    assert means.reload(3.0) == Reloaded("done", "", 0.5)
    assert house.asked[-1] | {"settle": 0} == {
        "do": "reload",
        "session": SESSION,
        "settle": 0,
        "wait": 3.0,
        "words": "lastwords",
    }
    house.state["why"] = ["there is text in the input line"]
    assert means.obstacles() == ["there is text in the input line"]
    house.state["session"] = "another"
    assert means.obstacles() == ["another session is on its screen"]
    assert house.means() is None


@pytest.mark.parametrize("kind", ["refused", "gave_up"])
def test_what_was_not_sent_was_refused(house: House, kind: str) -> None:
    house.done = {"kind": kind, "why": "a key was pressed meanwhile"}
    assert house.means().reload(0.0) == Reloaded("refused", "a key was pressed meanwhile")


def test_a_restart_of_which_nothing_was_seen_was_not_refused(house: House) -> None:
    """The agent was told to end: whoever takes that for a refusal tells it again."""
    house.done = {"kind": "unsure", "why": "its successor showed no input line"}
    assert house.means().reload(0.0) == Reloaded("unknown", "its successor showed no input line")


def test_in_vim_mode_it_is_started_again_with_the_model_that_has_the_window(house: House) -> None:
    """Without `[1m]` in the model's name the window would silently become 200,000 (facts/claude-code §5)."""
    house.state |= {"vim": True, "why": ["vim mode is set"]}
    assert house.means().name == "typed", "no model is known: it may only say what is in the way"
    assert house.means().obstacles() == ["vim mode is set"]
    report = {"model": "claude-opus-4-8[1m]", "window": 1_000_000, "source": "statusline", "time": 1.0}
    merge_report(house.home.root, SESSION, report)
    means = house.means()
    assert (means.name, means.obstacles()) == ("restart", [])
    means.reload(0.0)
    assert (house.asked[-1]["do"], house.asked[-1]["model"]) == ("restart", "claude-opus-4-8[1m]")


def test_a_launcher_that_has_gone_is_no_means(house: House) -> None:
    means = house.means()
    house.close()
    assert means.obstacles() == ["its launcher has ended"]
    assert means.reload(0.0).kind == "unknown"
    assert house.means() is None


def test_the_verdict_of_a_launched_session_is_the_gates_and_the_launchers(house: House) -> None:
    client = Client(house.home.root.parent, SESSION)
    client.turn(50_000)
    verdict = judge_session(client.transcript, client.places, client.home)
    assert [each.kind for each in verdict.type.blockers] == ["screen"]
    seen = with_means(client.guarded, Guard(), verdict)
    assert (seen.write.safe, seen.type.safe) == (True, True)
    house.state["why"] = ["there is text in the input line"]
    seen = with_means(client.guarded, Guard(), verdict)
    assert (seen.write.safe, [each.kind for each in seen.type.blockers]) == (True, ["input"])
