"""`coffer status`: with a daemon and without, what an open session has, and the alarm for silence."""

from __future__ import annotations

import json
import os
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

from coffer.disk.live import start_mark
from coffer.store.fired import fired
from coffer.work.agent_settings.install import install, plan
from tests.bundle.desk import write_rules
from tests.cli.run import COMMAND, Done
from tests.daemon.rig import LONG, Rig, Session, begun, eventually

ORDER = "Do not push to main on a Friday."


def status(rig: Rig, *words: str) -> Done:
    done = subprocess.run(
        [*COMMAND, "status", *words],
        env=rig.environment,
        cwd=rig.house,
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Done(done.stdout, done.stderr, done.returncode)


def open_in_a_client(rig: Rig, session: Session) -> None:
    """As if this process were a client that holds it."""
    folder = rig.desktop.places.claude / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    said = {"pid": os.getpid(), "procStart": start_mark(os.getpid()), "sessionId": session.name}
    (folder / f"{os.getpid()}.json").write_text(json.dumps({**said, "status": "idle"}))


def test_nothing_at_all(rig: Rig) -> None:
    before = sorted(rig.house.rglob("*"))
    found = status(rig, "--json").json
    assert found["daemon"]["state"] == "stopped"
    assert [one["installed"] for one in found["agents"]] == [False, False]
    assert found["sessions"] == []
    said = status(rig)
    assert said.code == 0
    assert "No daemon runs" in said.out
    assert sorted(rig.house.rglob("*")) == before


def test_an_open_session_and_what_arrived(rig: Rig) -> None:
    install(plan("claude", rig.desktop.places, rig.home), rig.home)
    rig.install()
    write_rules(rig.house, rig.home, ORDER)
    session = rig.session("open", rig.project())
    open_in_a_client(rig, session)
    with rig.daemon():
        told = session.start()
        session.says("fix the parser", answered=False)
        (found,) = status(rig, "--json").json["sessions"]
        assert found["rules"] == {"sent": 3, "confirmed": 0, "held": 0, "missing": 0, "unverifiable": 0}
        session.holds(told)
        session.says("go on")
        session.hook("Stop")
        eventually(lambda: {one.state for one in rig.deliveries()} == {"confirmed"})
        found = status(rig, "--json").json
        assert found["daemon"]["state"] == "running"
    claude = found["agents"][0]
    assert (claude["agent"], claude["installed"], claude["silent"]) == ("claude", True, "")
    assert time.time() - claude["last_fired"] < LONG
    assert time.time() - claude["last_confirmed"] < LONG * 3
    (one,) = status(rig, "--json").json["sessions"]  # the daemon is gone, and all is still known
    assert (one["session"], one["rules"]["confirmed"], one["live"][0]["status"]) == ("open", 3, "idle")
    assert one["window"] > 0
    said = status(rig).out
    assert "3 confirmed" in said
    assert "tide" in said


def test_installed_but_silent_is_an_alarm(rig: Rig) -> None:
    install(plan("claude", rig.desktop.places, rig.home), rig.home)
    session = rig.session("mute", rig.project())
    session.says("fix the parser")
    later = time.time() + 600
    begun = datetime.fromtimestamp(later, UTC).isoformat().replace("+00:00", "Z")
    said = session.path.read_text().splitlines()
    said[0] = json.dumps({**json.loads(said[0]), "timestamp": begun})
    session.path.write_text("\n".join(said) + "\n")
    os.utime(session.path, (later + 300, later + 300))
    assert "mute" in status(rig, "--json").json["agents"][0]["silent"]
    assert "installed but silent" in status(rig).out
    with rig.daemon():
        rig.install()
        session.hook("Stop")
        assert fired(rig.home, "claude") > 0
        os.utime(rig.home.root / "fired" / "claude", (later + 301, later + 301))
        assert status(rig, "--json").json["agents"][0]["silent"] == ""


def test_it_goes_on_looking(rig: Rig) -> None:
    with begun(
        [*COMMAND, "status", "--watch", "--json"], env=rig.environment, cwd=rig.house, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        looks = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.terminate()
    assert [look["sessions"] for look in looks] == [[], []]
    assert Path(looks[0]["agents"][0]["path"]).name == "settings.json"


def test_what_keeps_hooks_from_running_is_said_with_the_remedy(rig: Rig) -> None:
    for agent in ("claude", "codex"):
        install(plan(agent, rig.desktop.places, rig.home), rig.home)
    (rig.home.root / "bin" / "hook.py").unlink()
    said = status(rig).out
    assert said.count("hook.py is not there") == 1, "it is of no one agent"
    assert "`coffer doctor --fix`" in said
