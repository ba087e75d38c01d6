"""What the statusline and the hooks tell the daemon for the guard, with real processes."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from coffer.store.fired import fired
from coffer.store.guard_state import EVERYONE, guard_state, keep_state
from coffer.store.hook_events import drop_old, kept_hooks
from coffer.store.windows import merge_report, read_report
from tests.cli.run import COMMAND
from tests.daemon.rig import LONG, PYTHON, Rig, Session, eventually
from tests.daemon.test_status import open_in_a_client
from tests.transcripts import MODEL, text, usage


def statusline(rig: Rig, session: Session) -> str:
    size = {"context_window_size": 1_000_000, "current_usage": None}
    said = {
        "session_id": session.name,
        "transcript_path": str(session.path),
        "model": {"id": f"{MODEL}[1m]", "display_name": "Opus"},
        "context_window": size,
    }
    done = subprocess.run(
        [*COMMAND, "statusline"],
        input=json.dumps(said).encode(),
        env=rig.environment,
        capture_output=True,
        timeout=LONG,
        check=True,
    )
    return done.stdout.decode()


def prompt(rig: Rig, session: Session) -> dict[str, Any]:
    """The whole answer to a prompt's hook."""
    said = {
        "hook_event_name": "UserPromptSubmit",
        "cwd": str(session.folder),
        "session_id": session.name,
        "transcript_path": str(session.path),
        "prompt": "go on",
    }
    done = subprocess.run(
        [str(PYTHON), "-I", "-S", str(rig.home.root / "bin" / "hook.py"), "claude", "UserPromptSubmit"],
        input=json.dumps(said).encode(),
        cwd=session.folder,
        env=rig.environment,
        capture_output=True,
        timeout=LONG,
        check=True,
    )
    return dict(json.loads(done.stdout)) if done.stdout else {}


def test_the_daemon_keeps_what_the_statusline_says_and_takes_it_for_no_hook(running: Rig) -> None:
    session = running.session("s1", running.project())
    session.says("hello")
    open_in_a_client(running, session)
    assert statusline(running, session).startswith("Opus ░")

    def kept() -> dict[str, Any]:
        found = read_report(running.home.root, "s1")
        return found if "shares" in found else {}  # only the daemon knows the person's tiers

    found = eventually(kept)
    assert (found["window"], found["process"]) == (1_000_000, os.getpid())
    assert found["shares"]["last call"] == 90
    assert fired(running.home, "claude") == 0
    assert not kept_hooks(running.home, "s1").exists()


def test_a_full_session_is_nudged_once(running: Rig) -> None:
    session = running.session("s1", running.project())
    session.start()
    session.says("hello")
    session.made.answer(text("much"), counts=usage(120_000))
    session.write()
    assert "! coffer guard now" in prompt(running, session)["systemMessage"]
    assert "systemMessage" not in prompt(running, session)


def test_old_reports_go_and_what_a_person_said_of_all_stays(rig: Rig) -> None:
    for name in ("old", "new", EVERYONE):
        keep_state(rig.home, name, mode="off")
    for name in ("old", "new"):
        merge_report(rig.home.root, name, {"window": 1})
    for path in (rig.home.root / "guard").iterdir():
        os.utime(path, (0, 0))
    merge_report(rig.home.root, "new", {"window": 2})
    assert drop_old(rig.home, 1000.0) == 2
    modes = {name: guard_state(rig.home, name).mode for name in ("old", "new", EVERYONE)}
    assert modes == {"old": "on", "new": "off", EVERYONE: "off"}
