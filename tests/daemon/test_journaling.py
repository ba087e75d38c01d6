"""The daemon writes closed sessions down by itself: soon after they end, at its start, and never what goes on."""

from __future__ import annotations

import json
import os

import pytest

from coffer.disk.live import start_mark
from coffer.store.db import database
from coffer.store.distilled import rows
from coffer.work.memory.journal_list import all_lanes, pages
from tests.daemon.rig import Rig, Session, eventually


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
