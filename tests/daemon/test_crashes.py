"""Whatever dies, nothing that was sent is lost, nothing counts twice, and no session waits."""

from __future__ import annotations

import json
import os
import resource

from coffer.daemon.listen import Link
from coffer.work.delivery.bundle_files import read_spool
from tests.bundle.desk import write_rules
from tests.daemon.rig import LONG, SAID, Rig, eventually, gone

ORDER = "Do not push to main on a Friday."


def ready(rig: Rig) -> None:
    """A rule, and its bundle ready for hooks without a daemon."""
    write_rules(rig.house, rig.home, ORDER)
    index = rig.home.root / "bundles" / "index"
    eventually(index.exists)
    eventually(lambda: ORDER in "".join(p.read_text() for p in index.parent.glob("*/claude.SessionStart")))


def test_a_daemon_that_is_killed_in_the_middle_of_a_session(rig: Rig) -> None:
    tide = rig.project()
    write_rules(rig.house, rig.home, ORDER)
    first = rig.session("first", tide)
    with rig.daemon():
        ready(rig)
        told = first.start()
        assert ORDER in told
        first.says("fix the parser")
        first.holds(told)
        rig.kill()
        second = rig.session("second", tide)
        again = second.start()
        assert ORDER in again
        assert len(read_spool(rig.home)) == 1
        second.says("fix the parser")
        second.holds(again)
        second.says(SAID[0])
        rig.begin()
        eventually(lambda: not read_spool(rig.home))
        eventually(lambda: {one.state for one in rig.deliveries()} == {"confirmed"})
        assert sorted(one.session for one in rig.deliveries()) == ["first", "second"]
        assert first.hook("UserPromptSubmit", prompt="go on") == ""
        assert second.hook("UserPromptSubmit", prompt="go on") == ""
        eventually(lambda: len(rig.rules(tide)) == 2)
        rig.kill()
        rig.begin()
        second.says(SAID[1])
        second.hook("Stop")
        eventually(lambda: [rule for rule in rig.learned(tide) if rule.corrections == 2])
        assert len(rig.deliveries()) == 2


def test_a_receipt_is_not_lost_when_the_daemon_is_killed_at_once(rig: Rig) -> None:
    write_rules(rig.house, rig.home, ORDER)
    tide = rig.project()
    for number in range(5):
        rig.begin()
        assert ORDER in rig.session(f"s{number}", tide).start()
        rig.kill()
    rig.begin()
    eventually(lambda: len(rig.deliveries()) == 5)
    assert [one.session for one in rig.deliveries()] == [f"s{number}" for number in range(5)]
    assert (rig.home.root / "sent.jsonl").read_bytes() == b""


def test_a_disk_that_fills_up_stops_no_answer(running: Rig) -> None:
    write_rules(running.house, running.home, ORDER)
    tide = running.project()
    process = running.process()
    assert process is not None
    before = process.rlimit(resource.RLIMIT_FSIZE)
    process.rlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    assert ORDER in running.session("full", tide).start()
    eventually(lambda: True)
    process.rlimit(resource.RLIMIT_FSIZE, before)
    assert ORDER in running.session("free", tide).start()
    eventually(lambda: {one.session for one in running.deliveries()} == {"full", "free"})


def test_a_worker_that_is_killed_is_followed_by_another(rig: Rig) -> None:
    tide = rig.project()
    session = rig.session("a", tide)
    for number in range(3000):
        session.made.user(f"step {number} of the work", f"x{number}", cwd=str(tide))
    session.says(SAID[0])
    with rig.daemon() as daemon:
        worker = eventually(rig.job, step=0.002)
        worker.kill()
        eventually(lambda: rig.status()["worker"]["failures"] == 1)
        session.says("go on")  # what is new in another session is not held up
        other = rig.session("b", tide)
        other.says("fix the parser")
        other.says(SAID[1])
        other.hook("Stop")
        eventually(lambda: rig.rules(tide))
        assert rig.process() == daemon
        assert gone(worker.pid)


def test_ten_kills_while_sessions_begin_and_go_on(rig: Rig) -> None:
    """No session fails, each has the rule once, and each answer is accounted for."""
    rig.install()  # with the daemon's command: hooks start it again
    tide = rig.project()
    write_rules(rig.house, rig.home, ORDER)
    rig.begin()
    ready(rig)
    sessions = []
    for number in range(30):
        if number % 3 == 0 and rig.process() is not None:
            rig.kill()
        session = rig.session(f"s{number}", tide)
        told = session.start()
        assert ORDER in told
        session.says("fix the parser", answered=False)
        session.holds(told)
        assert session.hook("UserPromptSubmit", prompt="go on") == ""
        session.says("go on")
        session.hook("Stop")
        sessions.append(session)
    if rig.process() is None:
        rig.begin()
    eventually(lambda: not read_spool(rig.home))
    sent = [one for one in rig.deliveries() if one.event == "SessionStart:startup"]
    assert {one.session for one in sent} == {session.name for session in sessions}
    eventually(lambda: {one.state for one in rig.deliveries()} <= {"confirmed", "held"})


HALF = "\ud800"
"""Half a surrogate pair: JSON can say it, and no database and no file name can hold it."""


def test_words_that_nothing_can_hold_keep_no_receipt_back(running: Rig) -> None:
    write_rules(running.house, running.home, ORDER)
    tide = running.project()
    daemon = running.process()
    for number, said in enumerate(
        (
            {"session_id": HALF},
            {"source": HALF},
            {"agent_id": HALF},
            {"cwd": f"/{HALF}"},
            {"agent_id": "/../x"},
        )
    ):
        path = running.session(f"odd{number}", tide).path
        told = {"session_id": f"odd{number}", "transcript_path": str(path), "source": "startup", **said}
        assert ORDER in running.hook("claude", "SessionStart", tide, **told)
    assert ORDER in running.session("sound", tide).start()
    eventually(lambda: "sound" in {one.session for one in running.deliveries()})
    assert {one.child for one in running.deliveries()} == {""}
    assert running.process() == daemon
    running.kill()
    running.begin()
    assert ORDER in running.session("next", tide).start()
    eventually(lambda: "next" in {one.session for one in running.deliveries()})


def test_a_folder_whose_name_is_no_text_keeps_no_receipt_back(running: Rig) -> None:
    write_rules(running.house, running.home, ORDER)
    folder = running.house / os.fsdecode(b"caf\xe9")
    (folder / ".cozempic").mkdir(parents=True)
    assert ORDER in running.hook("claude", "SessionStart", folder, session_id="odd", source="startup", cwd="")
    eventually(lambda: {one.session for one in running.deliveries()} == {"odd"})
    assert "caf" in running.deliveries()[0].project


def test_what_nobody_waits_for_any_more_is_no_delivery(running: Rig) -> None:
    """A daemon that hung, or a machine that slept: the hook has given up, and its session was answered from a file."""
    write_rules(running.house, running.home, ORDER)
    tide = running.project()
    late, process = running.session("late", tide), running.process()
    assert process is not None
    said = {"session_id": "late", "transcript_path": str(late.path), "cwd": str(tide), "source": "startup"}
    process.suspend()
    try:
        link = Link(running.home, LONG)
        link.request("POST", "/api/v1/agents/claude/events/SessionStart", json.dumps(said))
        link.close()
    finally:
        process.resume()
    assert ORDER in running.session("next", tide).start()
    eventually(lambda: "next" in {one.session for one in running.deliveries()})
    assert {one.session for one in running.deliveries()} == {"next"}
    assert ORDER in late.start(), "nothing is in flight"
