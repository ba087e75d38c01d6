"""The hook events that the gate reads: what is kept of them, and what never is."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path

import pytest

from coffer.errors import WriteFailed
from coffer.store.home import Home
from coffer.store.hook_events import LARGEST, PASSING, drop_old, keep, kept_hooks, with_those_before

SESSION = "11111111-2222-4333-8444-555555555555"
SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xYab12"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / ".coffer")


def lines(home: Home) -> list[dict[str, object]]:
    return [json.loads(line) for line in kept_hooks(home, SESSION).read_text().splitlines()]


def test_events_are_kept_in_order_without_what_the_person_said(home: Home) -> None:
    keep(home, "UserPromptSubmit", {"session_id": SESSION, "prompt": "my words", "prompt_id": "p"}, 1.5)
    keep(home, "Stop", {"session_id": SESSION, "background_tasks": [], "session_crons": []}, 2.5)
    assert [(line["ts"], line["event"]) for line in lines(home)] == [(1.5, "UserPromptSubmit"), (2.5, "Stop")]
    assert "my words" not in kept_hooks(home, SESSION).read_text()
    assert kept_hooks(home, SESSION).stat().st_mode & 0o777 == 0o600


def test_secrets_do_not_reach_the_file(home: Home) -> None:
    said = {
        "session_id": SESSION,
        "last_assistant_message": f"done with {SECRET}",
        "background_tasks": [{"type": "shell", "description": f"curl {SECRET}"}],
    }
    keep(home, "Stop", said, 1.0)
    assert SECRET not in kept_hooks(home, SESSION).read_text()


@pytest.mark.parametrize("session", ["../x", "", "a/b", "x" * 200, None, 3, ".hidden"])
def test_a_session_that_is_no_name_of_a_file_is_not_kept(home: Home, session: object) -> None:
    assert not keep(home, "Stop", {"session_id": session}, 1.0)
    assert not home.root.exists()


def test_a_long_session_keeps_its_newest_events(home: Home) -> None:
    for number in range(2000):
        keep(home, "Stop", {"session_id": SESSION, "last_assistant_message": "x" * 400}, float(number))
    assert kept_hooks(home, SESSION).stat().st_size <= LARGEST
    times = [line["ts"] for line in lines(home)]
    assert times == [float(number) for number in range(2000 - len(times), 2000)]


def test_a_torn_line_takes_no_other_with_it(home: Home) -> None:
    for time in (1.0, 2.0):
        keep(home, "Stop", {"session_id": SESSION}, time)
        with kept_hooks(home, SESSION).open("ab") as file:
            file.write(b'{"ts": 1.5, "event": "UserPro')
    keep(home, "Stop", {"session_id": SESSION}, 3.0)
    assert [line["ts"] for line in lines(home)] == [1.0, 2.0, 3.0]


def test_a_full_disk_leaves_no_part_of_a_line(home: Home) -> None:
    keep(home, "Stop", {"session_id": SESSION}, 1.0)
    size = kept_hooks(home, SESSION).stat().st_size
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, size + 20))
        try:
            keep(home, "Stop", {"session_id": SESSION}, 2.0)
        except WriteFailed:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert [line["ts"] for line in lines(home)] == [1.0]


def test_events_of_sessions_long_silent_go(home: Home) -> None:
    keep(home, "Stop", {"session_id": SESSION}, 1.0)
    written = kept_hooks(home, SESSION).stat().st_mtime
    assert drop_old(home, written - 1) == 0
    assert drop_old(home, written + 1) == 1
    assert not kept_hooks(home, SESSION).exists()


BEFORE = "99999999-2222-4333-8444-555555555555"
EARLIEST = "88888888-2222-4333-8444-555555555555"


def told(home: Home, session: str, event: str, time: float, **said: object) -> None:
    keep(home, event, {"session_id": session, "hook_event_name": event, **said}, time)


def sessions_read(home: Home, session: str = SESSION) -> list[str]:
    data = with_those_before(home, session)
    assert data is not None
    return list(dict.fromkeys(json.loads(line)["stdin"]["session_id"] for line in data.splitlines()))


def changed(home: Home, reason: str, source: str) -> None:
    """A session with an end of a turn, then another in its place."""
    told(home, BEFORE, "Stop", 10.0, background_tasks=[], session_crons=[])
    told(home, BEFORE, "SessionEnd", 20.0, reason=reason)
    told(home, SESSION, "SessionStart", 21.0, source=source)


@pytest.mark.parametrize("way", ["clear", "resume", "a new way"])
def test_the_session_that_its_process_had_before_is_read_with_it(home: Home, way: str) -> None:
    changed(home, way, way)
    assert sessions_read(home) == [BEFORE, SESSION]


@pytest.mark.parametrize(
    ("reason", "source"), [("prompt_input_exit", "resume"), ("clear", "startup"), ("clear", "compact")]
)
def test_a_session_whose_client_was_left_is_not(home: Home, reason: str, source: str) -> None:
    changed(home, reason, source)
    assert sessions_read(home) == [SESSION]


def test_a_stop_of_its_own_makes_the_one_before_unneeded(home: Home) -> None:
    changed(home, "clear", "clear")
    told(home, SESSION, "Stop", 30.0, background_tasks=[], session_crons=[])
    assert sessions_read(home) == [SESSION]


def test_one_that_ended_long_before_is_not_read(home: Home) -> None:
    told(home, BEFORE, "SessionEnd", 20.0, reason="clear")
    told(home, SESSION, "SessionStart", 20.0 + PASSING + 1, source="clear")
    assert sessions_read(home) == [SESSION]


def test_the_line_of_sessions_is_followed_to_the_last_end_of_a_turn(home: Home) -> None:
    told(home, EARLIEST, "Stop", 1.0, background_tasks=[], session_crons=[])
    told(home, EARLIEST, "SessionEnd", 2.0, reason="clear")
    told(home, BEFORE, "SessionStart", 3.0, source="clear")
    told(home, BEFORE, "SessionEnd", 100.0, reason="clear")
    told(home, SESSION, "SessionStart", 101.0, source="clear")
    assert sessions_read(home) == [EARLIEST, BEFORE, SESSION]


def test_of_a_session_without_events_nothing_is_read(home: Home) -> None:
    assert with_those_before(home, SESSION) is None
