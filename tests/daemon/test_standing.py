"""The daemon knows how every session stands, by what is new in it alone."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coffer.cli.daemon import picture, stood
from coffer.core.usage import OVERRIDE
from coffer.daemon.standing import MOST
from coffer.disk.live import start_mark
from coffer.work.sessions.listing import Stood
from coffer.work.setup.status import open_sessions, session_as_json
from tests.daemon.rig import Rig, Session, eventually
from tests.transcripts import MODEL, call, text, usage


def client(rig: Rig, session: str, pid: int, status: str) -> Path:
    """A client's entry in its registry; pid: a process that lives."""
    path = rig.desktop.places.claude / "sessions" / f"{pid}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    said = {"pid": pid, "procStart": start_mark(pid), "sessionId": session, "status": status}
    path.write_text(json.dumps(said))
    return path


def becomes(rig: Rig, session: Session, true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The standing, once it is so."""

    def found() -> dict[str, Any] | None:
        for row in rig.status()["sessions"]:
            if row["session"] == session.name and row["standing"] and true(row["standing"]):
                return dict(row["standing"])
        return None

    return dict(eventually(found))


def test_it_is_told_of_every_session(rig: Rig) -> None:
    """One that no hook ever told of, met at the start by its end alone; then all that comes to it."""
    session = rig.session("large", rig.project())
    filler = "x" * 1_000_000
    for _ in range(MOST // len(filler) + 1):
        session.made.user(filler)
    session.made.answer(text("answer"), counts=usage(120_000, 10), cwd=str(session.folder))
    session.write()
    entry = client(rig, session.name, os.getpid(), "idle")
    root = os.path.realpath(session.folder)
    rig.settings(f"[projects.{json.dumps(root)}.guard.tiers]\ndeep = 88\n")
    with rig.daemon():
        found = becomes(rig, session, bool)
        assert (found["tokens"], found["window"], found["tier"]) == (120_010, 200_000, "trim")
        assert (found["whole"], found["idle"], found["model"]) == (False, True, MODEL)
        assert found["size"] == session.path.stat().st_size

        client(rig, session.name, os.getpid(), "busy")
        session.made.user("question")
        session.made.answer(call("c1"), call("c2"), counts=usage(170_000), name="a")
        session.made.result("c1")
        session.write()
        found = becomes(rig, session, lambda one: one["tokens"] == 170_000)
        assert found["tier"] == "trim", "by the tiers of its project"
        assert (found["turning"], found["idle"]) == (True, False)
        assert [one["id"] for one in found["open_calls"]] == ["c2"]

        session.made.result("c2")
        session.made.answer(text("done"), counts=usage(171_000))
        session.write()
        client(rig, session.name, os.getpid(), "idle")
        task = {"id": "b1", "type": "shell", "status": "running"}
        session.hook("Stop", background_tasks=[task], last_assistant_message="done")
        found = becomes(rig, session, lambda one: bool(one["background"]))
        assert (found["background"], found["idle"], found["turning"]) == ([task], True, False)
        assert None not in (found["turn_ended"], found["stopped"])

        session.made.lines[:-2] = []  # pruned: another file in its place
        beside = session.path.with_suffix(".new")
        beside.write_bytes(session.made.data)
        beside.replace(session.path)
        found = becomes(rig, session, lambda one: bool(one["whole"]))
        assert (found["tokens"], found["size"]) == (171_000, len(session.made.data))

        entry.unlink()
        session.hook("SessionEnd", reason="other")
        found = becomes(rig, session, lambda one: not one["live"])
        assert not found["idle"]


def test_status_takes_it_from_the_daemon(rig: Rig) -> None:
    """It says the same without one, and with one reads no transcript: what stands in it then is not looked at."""
    session = rig.session("one", rig.project())
    session.says("fix the parser")
    session.made.answer(text("answer"), counts=usage(250_000))
    session.write()
    client(rig, session.name, os.getpid(), "idle")

    def said(known: dict[Path, Stood]) -> dict[str, Any]:
        (found,) = open_sessions(rig.home, rig.desktop.places, rig.environment, known)
        return session_as_json(found)

    alone = said({})
    with rig.daemon():
        becomes(rig, session, lambda one: one["tokens"] == 250_000)
        known = stood(picture(rig.home), rig.environment)
        assert list(known) == [session.path]
        assert not stood(picture(rig.home), {OVERRIDE: "5000"})
        size = session.path.stat().st_size
        session.path.write_bytes(b"x" * size)
        told = said(known)
    assert told == alone
    assert (told["tokens"], told["window"]) == (250_000, 1_000_000)


def test_a_client_that_is_gone_holds_nothing(rig: Rig) -> None:
    session = rig.session("one", rig.project())
    session.says("fix the parser")
    process = subprocess.Popen(["/bin/sleep", "100"])
    client(rig, session.name, process.pid, "idle")
    with rig.daemon():
        becomes(rig, session, lambda one: bool(one["idle"]))
        process.kill()
        process.wait()
        session.says("go on")
        assert not becomes(rig, session, lambda one: not one["live"])["idle"]
