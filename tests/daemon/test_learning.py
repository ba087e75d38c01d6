"""The daemon follows and learns by itself: what a person says reaches the next prompt of every session."""

from __future__ import annotations

import json
import shutil

from coffer.store.db import database
from coffer.store.evidence import turns
from tests.daemon.rig import RULE, SAID, Rig, eventually
from tests.models.server import OPENAI, serving
from tests.work.test_learn_with_model import ASKS, YES


def test_a_correction_in_a_transcript_is_pending_with_no_hook_at_all(running: Rig) -> None:
    tide = running.project()
    session = running.session("a", tide)
    session.says("fix the parser")
    session.says(SAID[0])
    (rule,) = eventually(lambda: running.rules(tide))
    assert rule.startswith("pending: ")
    assert RULE in rule.lower()


def test_the_third_correction_is_in_the_next_prompt_of_another_session(running: Rig) -> None:
    tide = running.project()
    other = running.session("other", tide)
    first = other.start()
    assert RULE not in first.lower()
    for number, said in enumerate(SAID):
        session = running.session(f"s{number}", tide)
        session.start()
        session.says("fix the parser")
        session.hook("UserPromptSubmit", prompt=said)
        session.says(said)
        session.hook("Stop")
    eventually(lambda: [rule for rule in running.rules(tide) if rule.startswith("active")])
    told = other.hook("UserPromptSubmit", prompt="go on")
    assert RULE in told.lower()
    other.holds(first, "SessionStart")  # on a slow machine what was just sent is not so new any more
    other.says("go on", answered=False)
    other.holds(told, "UserPromptSubmit")
    assert other.hook("UserPromptSubmit", prompt="and on") == ""
    index = running.home.root / "bundles" / "index"
    eventually(lambda: any(str(tide) in line for line in index.read_text().splitlines()))
    eventually(lambda: RULE in _filed(running, str(tide)).lower())


def _filed(rig: Rig, root: str) -> str:
    rows = (rig.home.root / "bundles" / "index").read_text().splitlines()
    key = next(line.split("\t")[0] for line in rows if line.endswith(f"\t{root}"))
    path = rig.home.root / "bundles" / key / "claude.SessionStart"
    return path.read_text() if path.exists() else ""


def test_what_was_said_before_the_start_is_learned_by_the_sweep(rig: Rig) -> None:
    tide = rig.project()
    for number, said in enumerate(SAID):
        session = rig.session(f"s{number}", tide)
        session.says("fix the parser")
        session.says(said)
    with rig.daemon():
        (rule,) = eventually(lambda: [one for one in rig.rules(tide) if one.startswith("active")])
    assert RULE in rule.lower()


def test_nothing_is_learned_where_it_is_switched_off(rig: Rig) -> None:
    rig.settings("[learn]\nauto = false\n")
    tide = rig.project()
    with rig.daemon():
        session = rig.session("a", tide)
        session.start()
        session.says("fix the parser")
        session.says(SAID[0])
        session.hook("Stop")
        eventually(lambda: [one for one in rig.status()["sessions"] if one["waiting"]])
        assert rig.status()["worker"]["jobs"] == 0
    assert rig.rules(tide) == []


def test_a_broken_config_is_told_and_stops_only_learning(rig: Rig) -> None:
    rig.settings("[learn]\nauto = 7\n")
    with rig.daemon():
        session = rig.session("a", rig.project())
        session.start()
        session.says(SAID[0])
        session.hook("Stop")
        assert "learn.auto" in eventually(lambda: rig.status()["problem"])


def test_a_file_that_is_replaced_or_cut_counts_no_turn_twice(running: Rig) -> None:
    tide = running.project()
    session = running.session("a", tide)
    session.start()
    session.says("fix the parser")
    session.says(SAID[0])
    session.hook("Stop")
    eventually(lambda: running.rules(tide))
    copy = session.path.with_suffix(".new")
    shutil.copy(session.path, copy)
    copy.replace(session.path)
    with session.path.open("rb+") as file:
        file.truncate(len(session.made.lines[0]) + 1)
        file.seek(0, 2)
        file.write(session.made.data[len(session.made.lines[0]) + 1 :])
    session.says(SAID[1])
    session.hook("Stop")
    eventually(lambda: [rule for rule in running.learned(tide) if rule.corrections == 2])
    with database(running.home, write=False) as connection:
        assert len(turns(connection)) == len({turn.text for turn in turns(connection)}) == 2


def test_a_session_in_a_folder_that_was_not_there_yet(rig: Rig) -> None:
    tide = rig.project()
    with rig.daemon():
        session = rig.session("a", tide)
        assert not session.path.parent.parent.exists()
        session.start()
        session.hook("UserPromptSubmit", prompt=SAID[0])
        session.says("fix the parser")
        session.says(SAID[0])
        session.hook("Stop")
        eventually(lambda: rig.rules(tide))


def test_a_clock_that_was_set_back_changes_nothing(rig: Rig) -> None:
    rig.home.make(rig.home.root)
    (rig.home.root / "first-start.json").write_text(json.dumps({"time": "2099-01-01T00:00:00+00:00"}))
    tide = rig.project()
    session = rig.session("a", tide)
    session.says("fix the parser")
    session.says(SAID[0])
    with rig.daemon():
        eventually(lambda: rig.rules(tide))
        session.says(SAID[1])
        eventually(lambda: [rule for rule in rig.learned(tide) if rule.corrections == 2])


def test_the_end_of_a_session_is_learned_from_also_by_the_api(running: Rig) -> None:
    tide = running.project()
    session = running.session("a", tide)
    session.start()
    session.says("fix the parser")
    session.says(SAID[0])
    assert running.post("/api/v1/agents/claude/sessions/a/end", b"") == (202, b'{"known":true}')
    assert running.post("/api/v1/agents/claude/sessions/none/end", b"") == (202, b'{"known":false}')
    eventually(lambda: running.rules(tide))


def test_a_model_is_asked_with_the_key_of_a_file(rig: Rig) -> None:
    """The daemon has no variable of a terminal, and the key stands in no place that others see."""
    key = "plover-Zq8Tq0cVhR5mBn2LxKpW7yUe"
    secret = rig.house / "key"
    secret.write_text(key)
    secret.chmod(0o600)
    tide = rig.project()
    with serving(OPENAI.says(YES)) as server:
        rig.settings(
            f'[model]\nprovider = "openai"\nbase_url = "{server.url}/v1"\nmodel = "plover-1"\n'
            'key_env = "PLOVER_KEY"\nkey_file = "~/key"\n'
        )
        with rig.daemon():
            session = rig.session("one", tide)
            session.says("fix the parser")
            session.says(ASKS)
            session.hook("Stop")
            eventually(lambda: rig.rules(tide))
        (request, *_) = server.requests
    assert request.headers["authorization"] == f"Bearer {key}"
    assert rig.rules(tide) == ["pending: Do not mock the database; use the test container."]
    kept = [path for path in rig.home.root.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert kept == []
