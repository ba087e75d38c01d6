"""The script with its own limits: it ends by itself whatever holds it, with 0 and without half an answer.

How long it took is not looked at: that it ended, though nothing else would have ended it, is the proof.
"""

from __future__ import annotations

import os
import queue
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from coffer.work.agent_settings.hook_files import write_hook
from tests.hook.rig import DAEMON_TEXT, FILE_TEXT, LONG, PYTHON, STARTUP, Rig, answer, never, says


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    """An installed hook as it is; a busy machine may take all of its time, so each answer may be missing."""
    rig = Rig.at(tmp_path)
    rig.publish()
    return rig


def test_its_limits_are_those_of_the_design(rig: Rig) -> None:
    text = rig.script.read_text()
    limits = {name: float(value) for name, value in re.findall(r"(?m)^(\w+) = ([\d.]+)$", text)}
    assert limits["WHOLE"] + 0.1 <= 0.8
    assert limits["DAEMON"] == 0.3
    assert limits["FILES_FIRST"] < limits["WHOLE"]
    assert limits["START_PAUSE"] >= 1


def test_it_answers_from_either_source(rig: Rig) -> None:
    assert rig.run("claude", "SessionStart").stdout in (FILE_TEXT, b"")
    with rig.daemon(says(answer(DAEMON_TEXT))):
        assert rig.run("claude", "SessionStart").stdout in (DAEMON_TEXT, FILE_TEXT, b"")
    with rig.daemon(never):
        assert rig.run("claude", "SessionStart").stdout in (FILE_TEXT, b"")


def test_a_stdin_that_never_ends_is_left(rig: Rig) -> None:
    for words in (rig.words("claude", "SessionStart"), [str(rig.stub), "claude", "SessionStart"]):
        reader, writer = os.pipe()
        os.write(writer, STARTUP)
        done = subprocess.run(words, stdin=reader, capture_output=True, timeout=LONG, check=False)
        os.close(reader)
        os.close(writer)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_stdin_without_a_bound_is_left(rig: Rig) -> None:
    with Path("/dev/zero").open("rb") as zeros:
        words = rig.words("claude", "SessionStart")
        done = subprocess.run(words, stdin=zeros, capture_output=True, timeout=LONG, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_an_agent_that_reads_nothing_is_left(rig: Rig) -> None:
    """A stdout that is full already: nothing of the answer is written, and the hook ends."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    filled = 0
    try:
        while True:
            filled += os.write(writer, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(writer, True)
    done = subprocess.run(
        rig.words("claude", "SessionStart"),
        input=STARTUP,
        stdout=writer,
        stderr=subprocess.PIPE,
        cwd=rig.project,
        timeout=LONG,
        check=False,
    )
    os.close(writer)
    with open(reader, "rb") as left:  # noqa: PTH123  (a descriptor)
        assert left.read() == b"x" * filled
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_client_that_blocks_signals_takes_no_limit_away(rig: Rig) -> None:
    every = [signal.SIGALRM, signal.SIGTERM]
    code = f"import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, {[int(n) for n in every]}); "
    code += "signal.signal(signal.SIGALRM, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    reader, writer = os.pipe()
    done = subprocess.run(
        [str(PYTHON), "-I", "-c", code, *rig.words("claude", "SessionStart")],
        stdin=reader,
        capture_output=True,
        timeout=LONG,
        check=False,
    )
    os.close(reader)
    os.close(writer)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM, signal.SIGKILL)
"""What they leave: 0 once the script listens for them, before that the signal's own code."""


@pytest.mark.parametrize("number", ENDS)
@pytest.mark.parametrize("lives", [True, False])
def test_killed_at_any_point_nothing_is_half_printed(tmp_path: Path, number: int, lives: bool) -> None:  # noqa: FBT001
    rig = Rig.at(tmp_path)
    rig.limits()
    rig.publish()
    _delayed(rig)
    if lives:
        with rig.daemon(says(answer(DAEMON_TEXT))):
            seen = _killed(rig, number)
    else:
        seen = _killed(rig, number)
    early = {-number, 1} if number == signal.SIGINT else {-number}  # 1: Python's own way to say interrupted
    assert {rc for rc, _ in seen} <= {0, *early}
    assert {out for _, out in seen} <= {b"", DAEMON_TEXT if lives else FILE_TEXT}
    spooled = [path for path in rig.spooled() if not path.name.startswith(".")]
    assert all(path.read_bytes().endswith(STARTUP) for path in spooled)


def _delayed(rig: Rig) -> None:
    """Stretch what the script does between its steps, so that a signal meets each of them."""
    text = rig.script.read_text()
    for step in (
        "said = stdin()",
        "say(answer)\n",
        "key, answer = kept",
        "if answer and say",
        "if not lives",
    ):
        text, count = re.subn(rf"(?m)^( +)({re.escape(step)})", r"\1time.sleep(0.004)\n\1\2", text)
        assert count == 1, step
    rig.script.write_text(text)


def _killed(rig: Rig, number: int) -> list[tuple[int, bytes]]:
    seen = []
    for step in range(25):
        with subprocess.Popen(
            rig.words("claude", "SessionStart"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=rig.project,
        ) as hook:
            assert hook.stdin is not None
            hook.stdin.write(STARTUP)
            hook.stdin.close()
            hook.stdin = None
            time.sleep(step * 0.0015)
            hook.send_signal(number)
            out, _ = hook.communicate(timeout=LONG)
            seen.append((hook.returncode, out))
    return seen


@pytest.mark.parametrize("number", [one for one in ENDS if one != signal.SIGKILL])
def test_a_hook_that_is_ended_has_told_the_daemon_and_leaves_no_code(tmp_path: Path, number: int) -> None:
    """Ctrl-C reaches the hook too: what it was told has left it by then (case 66)."""
    rig = Rig.at(tmp_path)
    rig.limits()
    rig.publish()
    hooks: queue.Queue[int] = queue.Queue()

    def hold(link: socket.socket) -> None:
        os.kill(hooks.get(timeout=LONG), number)
        link.recv(1)

    with (
        rig.daemon(hold) as heard,
        subprocess.Popen(
            rig.words("claude", "SessionStart"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=rig.project,
        ) as hook,
    ):
        hooks.put(hook.pid)
        assert hook.communicate(STARTUP, timeout=LONG)[0] == b""
        assert hook.returncode == 0
    assert [request.body for request in heard] == [STARTUP]


def test_the_stub_is_replaced_by_what_it_runs(rig: Rig) -> None:
    """No shell stays between the agent and the hook: a signal that ends the hook ends all of it."""
    write_hook(rig.home, Path("/bin/echo"))
    with subprocess.Popen([str(rig.stub), "claude", "SessionStart"], stdout=subprocess.PIPE) as stub:
        assert stub.communicate(timeout=LONG)[0] == f"-I -S {rig.script} claude SessionStart\n".encode()
