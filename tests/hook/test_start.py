"""The hook starts a daemon for next time: once, with nothing of the session's, and without holding the session."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from coffer.daemon import life
from coffer.daemon.errors import DaemonBlocked
from coffer.work.agent_settings.hook_files import DAEMON_ARGUMENTS, write_hook
from tests.hook.rig import DAEMON_TEXT, FILE_TEXT, LONG, PYTHON, STARTUP, Done, Rig, answer, never, says

FAKE = """\
import json, os, sys, time
folder = sys.argv[1]
me = {
    "pid": os.getpid(), "parent": os.getppid(), "session": os.getsid(0), "cwd": os.getcwd(),
    "environment": dict(os.environ), "arguments": sys.argv[2:],
    "open": {str(n): os.readlink(f"/proc/self/fd/{n}") for n in range(64) if os.path.lexists(f"/proc/self/fd/{n}")}
    if os.path.isdir("/proc/self/fd") else {},
}
with open(f"{folder}/.{os.getpid()}", "w") as file:
    json.dump(me, file)
os.rename(f"{folder}/.{os.getpid()}", f"{folder}/{os.getpid()}")
time.sleep(float(sys.argv[2]))
"""


class Starts:
    """Where fake daemons say that they were started."""

    def __init__(self, rig: Rig, folder: Path) -> None:
        self.folder = folder / "starts"
        self.folder.mkdir()
        self.script = folder / "fake.py"
        self.script.write_text(FAKE)
        self.rig = rig

    def command(self, *words: str) -> None:
        given = words or (str(PYTHON), "-I", "-S", str(self.script), str(self.folder), str(2 * LONG))
        (self.rig.home.root / "bin" / "daemon-command").write_bytes("\0".join(given).encode())

    def wait(self) -> dict[str, object]:
        until = time.monotonic() + LONG
        while time.monotonic() < until:
            if self.seen():
                found: dict[str, object] = json.loads(self.seen()[0].read_text())
                return found
            time.sleep(0.02)
        raise TimeoutError

    def seen(self) -> list[Path]:
        return [path for path in self.folder.iterdir() if not path.name.startswith(".")]

    def end(self) -> None:
        for path in self.folder.iterdir():
            try:
                process = psutil.Process(int(path.name.removeprefix(".")))
                if str(self.script) in process.cmdline():
                    process.kill()
            except psutil.NoSuchProcess:
                continue


@pytest.fixture
def starts(rig: Rig, tmp_path: Path) -> Iterator[Starts]:
    starts = Starts(rig, tmp_path)
    starts.command()
    yield starts
    starts.end()


def test_the_session_is_not_held_and_its_answer_comes_first(rig: Rig, starts: Starts) -> None:
    """The fake daemon lives longer than a run may take; stdout must have ended before (facts §10)."""
    rig.publish()
    assert rig.run("claude", "SessionStart") == Done(0, FILE_TEXT, b"")
    assert psutil.pid_exists(int(str(starts.wait()["pid"])))


def test_a_daemon_has_nothing_of_the_session(rig: Rig, starts: Starts) -> None:
    wanted = {
        "HOME": rig.environment["HOME"],
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "LC_TIME": "C",
        "TMPDIR": "/var/tmp",  # noqa: S108
        "USER": "dev",
        "XDG_RUNTIME_DIR": "/run/user/1",
        "CLAUDE_CONFIG_DIR": "/c",
        "CODEX_HOME": "/x",
    }
    unwanted = {
        "ANTHROPIC_API_KEY": "sk",
        "http_proxy": "http://127.0.0.1:9",
        "COFFER_HOME": "/elsewhere",
        "PYTHONPATH": "/p",
        "LD_PRELOAD": "",
        "CLAUDECODE": "1",
    }
    kept_open = os.open(rig.script, os.O_RDONLY)
    os.set_inheritable(kept_open, True)
    command = f"exec {shlex.join(rig.words('claude', 'SessionStart'))}"
    subprocess.run(
        ["/bin/sh", "-c", command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=wanted | unwanted,
        cwd=rig.project,
        timeout=LONG,
        check=True,
        close_fds=False,
    )
    os.close(kept_open)
    me = starts.wait()
    environment = me["environment"]
    assert isinstance(environment, dict)
    if sys.platform != "darwin":
        assert me["open"] == dict.fromkeys("012", "/dev/null") | _own(me)
    environment.pop("LC_CTYPE", None)  # Python's own, where the locale is C
    environment.pop("__CF_USER_TEXT_ENCODING", None)  # macOS's own
    assert environment == wanted | {"COFFER_HOME": str(rig.home.root)}
    assert me["cwd"] == "/"
    assert me["session"] not in (me["pid"], os.getsid(0))


def _own(me: dict[str, object]) -> dict[str, str]:
    """What the fake daemon opened itself to look: the folder of its descriptors is none of them."""
    found = me["open"]
    assert isinstance(found, dict)
    return {number: name for number, name in found.items() if name.endswith("/fake.py")}


def test_a_hundred_cold_hooks_start_one_daemon(rig: Rig, starts: Starts) -> None:
    rig.publish()
    text = rig.script.read_text()
    rig.script.write_text(text.replace("START_PAUSE = 2.0", "START_PAUSE = 600.0"))
    hooks = [
        subprocess.Popen(
            rig.words("claude", "SessionStart"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=rig.project,
        )
        for _ in range(100)
    ]
    for hook in hooks:
        assert hook.stdin is not None
        hook.stdin.write(STARTUP)
        hook.stdin.close()
        hook.stdin = None
    for hook in hooks:
        with hook:
            assert hook.communicate(timeout=LONG) == (FILE_TEXT, b"")
            assert hook.returncode == 0
    starts.wait()
    time.sleep(0.3)
    assert len(starts.seen()) == 1
    assert len(rig.spooled()) == 100


@pytest.mark.parametrize("age", [0.0, 1.0, 3.0, -3.0, 1e6])
def test_a_start_is_made_again_after_a_pause(rig: Rig, starts: Starts, age: float) -> None:
    text = rig.script.read_text()
    rig.script.write_text(text.replace("START_PAUSE = 2.0", "START_PAUSE = 2.5"))
    stamp = rig.home.root / "daemon-started"
    stamp.write_text("1")
    then = time.time() - age
    os.utime(stamp, (then, then))
    rig.run("claude", "Stop")
    if 0 <= age < 2:
        time.sleep(0.3)
        assert starts.seen() == []
    else:  # long ago, or in a future that a set-back clock left behind
        starts.wait()


def test_a_daemon_that_answers_badly_lives_and_one_that_hangs_may_not(rig: Rig, starts: Starts) -> None:
    with rig.daemon(says(answer(b"", "500 Internal Server Error"))):
        rig.run("claude", "Stop")
    with rig.daemon(says(answer(DAEMON_TEXT))):
        rig.run("claude", "Stop")
        rig.run("claude", "Stop", stdin=bytes(8_000_001))  # it was not asked
    assert not (rig.home.root / "daemon-started").exists()
    rig.limits(daemon=0.3)
    with rig.daemon(never):
        rig.run("claude", "Stop")
    starts.wait()


@pytest.mark.parametrize("words", [("",), ("python3",), ("/no/such/program", "x"), ("/",), ("/bin/sh\0",)])
def test_a_command_that_is_none_starts_nothing(rig: Rig, starts: Starts, words: tuple[str, ...]) -> None:
    rig.publish()
    starts.command(*words)
    assert rig.run("claude", "SessionStart") == Done(0, FILE_TEXT, b"")


def test_no_command_no_start(rig: Rig) -> None:
    rig.publish()
    assert rig.run("claude", "SessionStart") == Done(0, FILE_TEXT, b"")
    assert not (rig.home.root / "daemon-started").exists()


def test_a_hook_that_is_killed_leaves_a_daemon_that_lives(rig: Rig, starts: Starts) -> None:
    with subprocess.Popen(
        rig.words("claude", "Stop"), stdin=subprocess.DEVNULL, cwd=rig.project, start_new_session=True
    ) as hook:
        pid = int(str(starts.wait()["pid"]))
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(hook.pid, signal.SIGKILL)
        hook.wait(LONG)
    time.sleep(0.1)
    assert psutil.pid_exists(pid)


def test_the_command_that_is_installed(rig: Rig) -> None:
    write_hook(rig.home, PYTHON)
    command = (rig.home.root / "bin" / "daemon-command").read_bytes().split(b"\0")
    assert command == [bytes(PYTHON), *(word.encode() for word in DAEMON_ARGUMENTS)]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_is_answered_and_leaves_nothing_in_the_home(rig: Rig, starts: Starts) -> None:
    """`sudo -E claude`: files of root's would shut the person's own daemon out."""
    rig.publish()
    before = sorted(rig.home.root.rglob("*"))
    os.chown(rig.home.root, 12345, 12345)
    assert rig.run("claude", "SessionStart") == Done(0, FILE_TEXT, b"")
    assert sorted(rig.home.root.rglob("*")) == before
    with pytest.raises(DaemonBlocked, match="another user"):
        life.hold(rig.home)
    os.chown(rig.home.root, 0, 0)
    rig.run("claude", "SessionStart")
    starts.wait()
