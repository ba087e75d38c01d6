"""The daemon writes closed sessions down by itself: soon after they end, at its start, and never what goes on."""

from __future__ import annotations

import json
import os
import threading
import time

import pytest

from coffer.disk.live import start_mark
from coffer.store.db import database
from coffer.store.distilled import rows
from coffer.work.memory.journal_list import all_lanes, pages
from tests.daemon.rig import Rig, Session, eventually
from tests.models.server import OPENAI, Handler, Request, serving
from tests.work.test_learn_with_model import NO


def told(rig: Rig) -> list[str]:
    """The sessions of all entries."""
    return sorted(page.entry.session for page in pages(all_lanes(rig.home)))


def registered(rig: Rig, session: str) -> None:
    """The client of a session, which is this process."""
    folder = rig.desktop.places.claude / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    said = {"pid": os.getpid(), "procStart": start_mark(os.getpid()), "sessionId": session, "status": "idle"}
    (folder / f"{os.getpid()}.json").write_text(json.dumps(said))


def worked(rig: Rig, name: str) -> Session:
    session = rig.session(name, rig.project())
    session.start()
    session.says("Make the parser take tabs.")
    return session


def test_a_session_that_ends_is_told_and_one_that_is_reloaded_is_not(running: Rig) -> None:
    one, two = worked(running, "one"), worked(running, "two")
    registered(running, "one")
    one.hook("SessionEnd", reason="resume")
    two.hook("SessionEnd", reason="prompt_input_exit")
    eventually(lambda: told(running) == ["two"])
    registered(running, "three")  # /clear: the same process goes on under another id
    one.hook("SessionEnd", reason="clear")
    eventually(lambda: told(running) == ["one", "two"])
    assert running.post("/api/v1/agents/claude/sessions/one/end", b"")[0] == 202
    two.says("Now let it take spaces as well.")
    assert running.post("/api/v1/agents/claude/sessions/two/end", b"")[0] == 202
    eventually(lambda: any("spaces as well" in page.entry.text for page in pages(all_lanes(running.home))))
    assert told(running) == ["one", "two"]
    eventually(lambda: running.status()["journal"]["written"] == 3)


def test_what_ended_without_a_word_is_told_at_the_next_start(rig: Rig) -> None:
    for name in ("one", "two"):
        rig.session(name, rig.project()).says("Make the parser take tabs.")
    (rig.desktop.places.claude / "projects" / "-x" / "bad.jsonl").write_text('{"no": "record"}\n')
    registered(rig, "two")
    with rig.daemon():
        eventually(lambda: told(rig) == ["one"])
        eventually(lambda: _states(rig).get("bad") == "failing")
    registered(rig, "three")
    with rig.daemon():
        eventually(lambda: told(rig) == ["one", "two"])
        eventually(lambda: _states(rig) == {"bad": "failing", "one": "told", "two": "told"})


def _states(rig: Rig) -> dict[str, str]:
    if not rig.home.database.exists():
        return {}
    with database(rig.home, write=False) as connection:
        return {row.session: row.state for row in rows(connection)}


@pytest.mark.parametrize("said", ["[journal]\nauto = false\n", "[learn]\nauto = false\n"])
def test_each_switch_is_for_its_own(rig: Rig, said: str) -> None:
    rig.settings(said)
    (rig.desktop.places.claude / "sessions").mkdir(parents=True)
    rig.session("one", rig.project()).says("please don't add co-author lines to commits")
    with rig.daemon():
        if "journal" in said:
            eventually(lambda: rig.status()["learned_turns"] > 0)
            assert told(rig) == []
        else:
            eventually(lambda: told(rig) == ["one"])
            assert rig.status()["learned_turns"] == 0


class Slow:
    """A model's server that answers a journal's question only when it is let, and any other at once."""

    def __init__(self) -> None:
        self.let = threading.Semaphore(0)
        self.asked: list[str] = []

    def __call__(self, handler: Handler) -> None:
        request: Request = handler.server.requests[-1]  # one worker asks, so it is this one
        if "Rule:" in request.prompt:
            return OPENAI.says(NO)(handler)
        self.asked.append(request.prompt)
        self.let.acquire()
        if "These are piece" in request.prompt:
            return OPENAI.says("Notes:\n- A part was looked at.")(handler)
        return OPENAI.says("Goal: Look at the parts.\nDecisions:\n- none\nDone:\n- none\nOpen:\n- none")(
            handler
        )


def test_a_slow_model_is_asked_a_question_a_job_and_learning_goes_in_between(rig: Rig) -> None:
    slow, tide = Slow(), rig.project()
    registered(rig, "one")
    old = rig.session("one", tide)
    for number in range(45):
        old.says(f"Look at part {number} of it, {'really ' * 160}")
    with serving(slow) as server:
        rig.settings(
            f'[model]\nprovider = "openai"\nbase_url = "{server.url}/v1"\nmodel = "m"\ntimeout = 300\n'
            "[journal]\nmodel = true\n"
        )
        with rig.daemon():
            eventually(lambda: rig.status()["learned_turns"] == 45)
            registered(rig, "two")
            old.hook("SessionEnd", reason="clear")
            eventually(lambda: slow.asked)
            two = rig.session("two", tide)
            two.says("fix the parser")
            two.says("remember: never push to main")
            two.hook("Stop")
            time.sleep(2)  # what it said is due to be learned by now, and waits for the worker
            slow.let.release()
            eventually(lambda: any("push to main" in rule for rule in rig.rules(tide)))
            assert told(rig) == []
            assert len(slow.asked) <= 2
            for _ in range(40):
                slow.let.release()
            eventually(lambda: told(rig) == ["one"])
            eventually(lambda: _states(rig)["one"] == "told")  # the ledger comes behind the page
    assert len(slow.asked) == len(set(slow.asked)), "what was answered is not asked again"
    assert len(slow.asked) > 2
    [page] = pages(all_lanes(rig.home))
    assert "**Goal.** Look at the parts." in page.entry.text
