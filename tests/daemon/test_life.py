"""One daemon a home, whatever was left behind and whoever starts it how often."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from coffer.daemon import client, life, listen
from coffer.daemon.errors import DaemonSilent
from coffer.daemon.run import GUARD_SECONDS, _guarded
from coffer.hook import INHERITED
from tests.cli.run import COMMAND, Done
from tests.daemon.rig import LONG, Rig, begun, eventually, gone
from tests.hook.rig import bind


def coffer(rig: Rig, *words: str, full: bool = False) -> Done:
    """Run `coffer daemon`; full: as on a disk that takes no more."""

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = subprocess.run(
        [*COMMAND, "daemon", *words],
        env=rig.environment,
        cwd=rig.house,
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
        preexec_fn=no_room if full else None,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Done(done.stdout, done.stderr, done.returncode)


def test_a_hundred_starts_at_once_leave_one(rig: Rig) -> None:
    started = [rig.spawn() for _ in range(100)]
    eventually(rig.process)
    ended = [process for process in started if process.pid != life.read(rig.home).pid]  # type: ignore[union-attr]
    assert [process.wait(LONG) for process in ended] == [0] * 99
    assert len(rig.daemons()) == 1
    assert rig.ask("/api/v1/health")["pid"] == rig.daemons()[0].pid


def test_commands_at_once_start_one_and_all_say_which(rig: Rig) -> None:
    words = [*COMMAND, "daemon", "start", "--json"]
    runs = [
        subprocess.Popen(words, env=rig.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(8)
    ]
    said = [json.loads(run.communicate(timeout=LONG)[0]) for run in runs]
    assert len({one["pid"] for one in said}) == 1
    assert sorted(one["started"] for one in said) == [False] * 7 + [True]
    assert len(rig.daemons()) == 1


def test_the_daemon_has_nothing_of_who_started_it(rig: Rig) -> None:
    rig.extra = {"ANTHROPIC_API_KEY": "sk-none", "http_proxy": "http://127.0.0.1:9", "LC_TIME": "C"}
    assert coffer(rig, "start").code == 0
    process = rig.daemons()[0]
    links = {path.name: str(path.readlink()) for path in Path(f"/proc/{process.pid}/fd").iterdir()}
    assert [links[name] for name in "012"] == ["/dev/null"] * 3
    assert not [one for one in links.values() if one.startswith("pipe:")]
    assert process.cwd() == "/"
    assert os.getsid(process.pid) not in (process.pid, os.getsid(0))
    assert process.ppid() != os.getpid()
    assert set(process.environ()) == {"HOME", "PATH", "LANG", "LC_TIME", "COFFER_HOME"}


def test_a_command_and_a_hook_hand_on_the_same_variables() -> None:
    assert set(life.INHERITED) == {name.decode() for name in INHERITED}


def test_start_stop_status_logs(rig: Rig) -> None:
    assert coffer(rig, "status").code == 3
    assert "No daemon has run" in coffer(rig, "logs").out
    assert "No daemon runs" in coffer(rig, "stop").out
    first = coffer(rig, "start", "--json").json
    assert first["started"]
    assert not coffer(rig, "start", "--json").json["started"]
    status = coffer(rig, "status", "--json")
    assert (status.code, status.json["state"], status.json["pid"]) == (0, "running", first["pid"])
    assert "begins" in coffer(rig, "logs").out
    words = shlex.join([*COMMAND, "daemon", "logs"])
    gone_reader = subprocess.run(
        ["bash", "-c", f"({words}) | :"],
        check=False,
        env=rig.environment,
        cwd=rig.house,
        capture_output=True,
        text=True,
    )
    assert gone_reader.stderr == ""
    assert coffer(rig, "stop", "--json").json["pid"] == first["pid"]
    assert gone(first["pid"])
    left = {path.name for path in rig.home.root.iterdir()}
    assert not {"daemon.json", "daemon.sock"} & left
    assert "ends" in "".join(coffer(rig, "logs", "--json", "-n", "1").json["lines"])


def test_a_command_in_a_folder_that_was_deleted(running: Rig) -> None:
    gone_folder = running.house / "gone"
    gone_folder.mkdir()
    done = subprocess.run(
        ["/bin/sh", "-c", f'rmdir "$PWD" && exec {shlex.join([*COMMAND, "daemon", "status"])}'],
        env=running.environment,
        cwd=gone_folder,
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert (done.returncode, done.stdout.startswith("The daemon runs")) == (0, True), (
        done.stdout + done.stderr
    )


def test_files_are_private(running: Rig) -> None:
    for name in ("daemon.json", "daemon.sock", "daemon.log", "daemon.lock"):
        assert (running.home.root / name).stat().st_mode & 0o077 == 0
    assert running.home.root.stat().st_mode & 0o777 == 0o700


@contextmanager
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with begun(["sleep", str(4 * LONG)]) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("start", ["", "12345"])
def test_a_pid_that_is_a_strangers_by_now(rig: Rig, start: str) -> None:
    with sleeper() as stranger:
        known = life.Known(stranger.pid, start, "2026-01-01T00:00:00+00:00", "s", 0, "t", "0")
        rig.home.make(rig.home.root)
        life.announce(rig.home, known)
        assert coffer(rig, "status").code == 3
        assert "No daemon runs" in coffer(rig, "stop").out
        assert coffer(rig, "start", "--json").json["pid"] != stranger.pid
        assert stranger.poll() is None


@pytest.mark.parametrize("said", [b"", b"{", b"[]", b'{"pid": "x"}', b"\xff\xfe", b'{"pid": true}'])
def test_a_daemon_json_that_is_none(rig: Rig, said: bytes) -> None:
    (rig.home.root / "daemon.json").write_bytes(said)
    assert coffer(rig, "status").code == 3
    assert coffer(rig, "start").code == 0
    assert life.running(rig.home) is not None


def test_what_a_killed_daemon_leaves_is_in_nobodys_way(running: Rig) -> None:
    for _ in range(3):
        running.kill()
        assert (running.home.root / "daemon.sock").exists()
        assert "killed" in coffer(running, "status").out
        assert coffer(running, "start", "--json").json["started"]
    assert len(running.daemons()) == 1


def test_a_foreign_listener_gives_way(rig: Rig) -> None:
    with socket.socket(socket.AF_UNIX) as foreign:
        bind(foreign, rig.home)
        foreign.listen(5)
        assert coffer(rig, "start").code == 0
        assert rig.ask("/api/v1/health")["name"] == listen.NAME


def test_a_file_in_the_sockets_place_is_left_alone(rig: Rig) -> None:
    path = rig.home.root / "daemon.sock"
    path.write_text("mine")
    done = coffer(rig, "start")
    assert done.code == 50
    assert "daemon.sock is there and is no socket" in done.err
    assert path.read_text() == "mine"
    assert eventually(lambda: not rig.daemons())


def test_a_full_disk_is_told(rig: Rig) -> None:
    done = coffer(rig, "start", full=True)
    assert done.code in (18, 50)
    assert "daemon" in done.err
    assert eventually(lambda: not rig.daemons())
    assert coffer(rig, "start").code == 0


def test_a_home_that_may_not_be_written(rig: Rig) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    rig.home.root.chmod(0o500)
    try:
        assert coffer(rig, "start").code == 18
    finally:
        rig.home.root.chmod(0o700)


def test_a_path_longer_than_a_sockets_address(tmp_path: Path) -> None:
    rig = Rig(tmp_path / ("d" * 120) / "with space and 'quote'")
    rig.house.mkdir(parents=True)
    rig.install()
    with rig.daemon():
        assert rig.hook("claude", "Stop", rig.house) == ""
        assert rig.status()["sessions"] == []
        assert coffer(rig, "stop").code == 0


def test_a_daemon_that_hangs_is_told_and_can_be_ended(running: Rig) -> None:
    process = running.process()
    assert process is not None
    process.suspend()
    try:
        with pytest.raises(DaemonSilent, match="does not answer"):
            client.ask(running.home, "/api/v1/health", timeout=1.0)
    finally:
        process.resume()
    assert coffer(running, "stop").code == 0


def test_another_version_is_renewed(running: Rig) -> None:
    known = life.read(running.home)
    assert known is not None
    renewed, new = life.start(running.home, running.environment, "99")
    assert new
    assert renewed.pid != known.pid
    assert gone(known.pid)


def test_what_is_not_this_coffer_any_more_is_renewed(running: Rig) -> None:
    known = life.read(running.home)
    assert known is not None
    assert known.python == sys.executable
    assert life.outdated(known, known.version) == ""
    assert life.outdated(replace(known, python=""), known.version) == "", "of a version that did not tell"
    told = coffer(running, "status").out
    assert "renews it" not in told
    table = {
        "is gone": replace(known, python="/no/such/bin/python3"),
        "runs in /bin/sh": replace(known, python="/bin/sh"),
        "installed anew": replace(known, started="2000-01-01T00:00:00+00:00"),
        "of version 0": replace(known, version="0"),
    }
    for why, other in table.items():
        assert why in life.outdated(other, known.version), why
    life.announce(running.home, table["runs in /bin/sh"])
    assert "runs in /bin/sh" in coffer(running, "status").out
    renewed, new = life.start(running.home, running.environment, known.version)
    assert (new, gone(known.pid), renewed.python) == (True, True, sys.executable)


def test_a_daemon_whose_python_is_gone_ends(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what it has not loaded yet nothing is left either: it would answer hooks and never learn."""
    python = rig.house / "python3"
    python.symlink_to(sys.executable)
    known = life.Known(os.getpid(), "1", "2026-01-01T00:00:00+00:00", "s", 0, "t", "0", str(python))
    life.announce(rig.home, known)
    monkeypatch.setattr(sys, "executable", str(python))

    async def guarded() -> None:
        stopping = asyncio.Event()
        watch = asyncio.create_task(_guarded(rig.home, known, stopping))
        await asyncio.sleep(0.05)
        assert not stopping.is_set()
        watch.cancel()
        python.unlink()
        await _guarded(rig.home, known, stopping)
        assert stopping.is_set()

    asyncio.run(guarded())


def test_a_hook_starts_the_daemon_for_next_time(rig: Rig) -> None:
    rig.install()
    project = rig.project()
    assert rig.hook("claude", "SessionStart", project, source="startup") == ""
    process = eventually(rig.process)
    assert process.ppid() != os.getpid()
    assert rig.hook("claude", "Stop", project) == ""


def test_a_stop_signal_ends_it_in_good_order(running: Rig) -> None:
    process = running.process()
    assert process is not None
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    eventually(lambda: not running.daemons())
    assert running.log().splitlines()[-1].endswith("ends")
    assert "Traceback" not in running.log()


def deleted(folder: Path) -> bool:
    """Delete a folder in which a daemon writes: what appears or goes in between is met in the next round."""
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def test_a_home_that_is_deleted_ends_its_daemon(rig: Rig) -> None:
    assert GUARD_SECONDS <= 30
    code = "import coffer.daemon.run as run; run.GUARD_SECONDS = 0.1; run.main()"
    environment = rig.environment | {"COFFER_HOME": str(rig.home.root)}
    with begun([sys.executable, "-P", "-c", code, "coffer.daemon.run"], env=environment, cwd="/") as daemon:
        assert eventually(rig.process).pid == daemon.pid
        eventually(lambda: deleted(rig.home.root))
        assert daemon.wait(LONG) == 0
    assert not rig.home.root.exists()


def test_run_in_the_foreground(rig: Rig) -> None:
    with begun([*COMMAND, "daemon", "run"], env=rig.environment, cwd=rig.house) as process:
        assert eventually(rig.process).pid == process.pid
        process.send_signal(signal.SIGINT)
        assert process.wait(LONG) == 0
