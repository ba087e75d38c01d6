"""The agent on our terminal behaves as on the person's own."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time

import pytest

from tests.launch.pane import Pane
from tests.launch.rig import RAW, SAY, Rig, gone, modes, number_after

MEGABYTE = 1_000_000


def test_the_size_is_passed_on_and_followed(rig: Rig) -> None:
    rig.program(
        f"{RAW}{SAY}"
        "def size(*_): say('size', *struct.unpack('HHHH', fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8))))\n"
        "signal.signal(signal.SIGWINCH, size)\nsize()\nos.read(0, 1)\n"
    )
    with rig.run(columns=91, rows=27) as pane:
        pane.wait("size 27 91 0 0")
        pane.child.resize((33, 101, 7, 9))
        pane.wait("size 33 101 7 9")
        pane.type("q")
        assert pane.ended() == 0


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_the_exit_code_is_passed_on(rig: Rig, code: int) -> None:
    rig.program(f"print('last words')\nraise SystemExit({code})")
    with rig.run() as pane:
        assert os.waitstatus_to_exitcode(pane.ended()) == code
        assert "last words" in pane.look().rows


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGINT, signal.SIGHUP]
)
def test_death_by_a_signal_is_passed_on_and_the_terminal_put_back(rig: Rig, number: int) -> None:
    rig.program(
        f"{RAW}{SAY}signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
        "say('ready')\nos.write(1, b'\\x1b[?1003h\\x1b[?2004h\\x1b[>1u')\n"
        f"os.read(0, 1)\nos.kill(os.getpid(), {number})\n",
        "claude",
    )
    with rig.run(agent="claude") as pane:
        before = modes(pane.child.master)
        pane.wait("ready")
        assert modes(pane.child.master) != before
        pane.type("x")
        status = pane.ended()
        assert os.WIFSIGNALED(status)
        assert os.WTERMSIG(status) == number
        assert modes(pane.child.master) == before
        assert not pane.screen.private_modes & {1003, 2004}
        assert not pane.screen.keyboards


def test_signals_to_the_launcher_reach_the_agent(rig: Rig) -> None:
    numbers = [signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2]
    rig.program(
        f"{RAW}{SAY}\ndef heard(number, _): say('heard', number)\n"
        f"for number in {[int(number) for number in numbers]}: signal.signal(number, heard)\n"
        "say('ready')\nwhile os.read(0, 1) != b'q': pass\n"
    )
    with rig.run() as pane:
        pane.wait("ready")
        for number in numbers:
            os.kill(rig.launcher().pid, number)
            pane.wait(f"heard {int(number)}\\b")
        pane.type("q")
        assert pane.ended() == 0


def test_ctrl_c_is_a_byte_to_a_raw_agent_and_a_signal_to_a_cooked_one(rig: Rig) -> None:
    rig.program(f"{RAW}{SAY}say('ready')\nsay('got', os.read(0, 9))\n")
    with rig.run() as pane:
        pane.wait("ready")
        pane.type("\x03")
        pane.wait(r"got b'\\x03'")
        assert pane.ended() == 0
    rig.program("import time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    with rig.run() as pane:
        pane.wait("ready")
        pane.type("\x03")
        pane.wait("KeyboardInterrupt")
        pane.ended()


@pytest.mark.parametrize("way", ["os.kill(os.getpid(), signal.SIGSTOP)", "os.kill(0, signal.SIGTSTP)"])
def test_suspended_and_continued_under_a_shell(rig: Rig, way: str) -> None:
    """SIGSTOP is what Claude Code does at Ctrl-Z, SIGTSTP to the group what Codex does."""
    rig.program(
        f"{RAW}{SAY}say('ready')\nwhile True:\n    key = os.read(0, 1)\n    say('key', key)\n"
        f"    if key == b'\\x1a':\n        {way}\n        say('again')\n    if key == b'q': break\n"
    )
    with rig.shell() as pane:
        pane.wait(r"\$ ?$|\$")
        pane.submit(" ".join(rig.command()))
        pane.wait("ready")
        for _ in range(2):
            pane.type("\x1a")
            pane.wait("Stopped")
            pane.submit("clear; echo ali''ve; stty -a | tr ' ' '\\n' | grep -x icanon")
            pane.wait("alive")
            pane.wait("(?m)^icanon")
            pane.submit("fg")
            pane.wait("again")
            pane.type("k")
            pane.wait("key b'k'")
        pane.type("\x1a")
        pane.wait("Stopped")
        pane.submit("clear; bg; sleep 0.5; jobs; echo do''ne")
        pane.wait("done")
        pane.submit("fg")
        pane.type("q")
        pane.wait("key b'q'")
        pane.settle()  # what is typed while an agent ends goes down with it: docs/run.md
        pane.submit("echo code $?")
        pane.wait("code 0")
        pane.leave()


def test_ctrl_z_of_a_cooked_agent(rig: Rig) -> None:
    rig.program("print('ready', flush=True)\nprint('line', input())\n")
    with rig.shell() as pane:
        pane.submit(" ".join(rig.command()))
        pane.wait("ready")
        pane.type("\x1a")
        pane.wait("Stopped")
        pane.submit("fg")
        pane.submit("hello")
        pane.wait("line hello")
        pane.leave()


def test_a_stop_without_a_shell_goes_on_at_once(rig: Rig) -> None:
    """Nobody could continue it: the launcher leads its own session, as in a terminal window's only program."""
    rig.program(
        f"{RAW}{SAY}say('ready')\nos.read(0, 1)\nos.kill(0, signal.SIGTSTP)\nsay('again')\nos.read(0, 1)\n"
    )
    with Pane(["/usr/bin/setsid", "-w", "--ctty", *rig.command()], env=rig.env(), cwd=rig.cwd) as pane:
        pane.wait("ready|failed")
        pane.type("z")
        pane.wait("again")
        pane.type("q")
        assert pane.ended() == 0


def test_a_megabyte_pasted_arrives_whole(rig: Rig) -> None:
    rig.program(
        f"{RAW}{SAY}import hashlib\nsay('ready')\ngot = b''\n"
        f"while len(got) < {MEGABYTE}:\n    got += os.read(0, 4096); time.sleep(0.0002)\n"
        "say('sum', hashlib.sha256(got).hexdigest())\n"
    )
    data = random.Random(1).randbytes(MEGABYTE)
    with rig.run() as pane:
        pane.wait("ready")
        pane.type(data)
        pane.wait(f"sum {hashlib.sha256(data).hexdigest()}")


def test_every_byte_of_output_arrives(rig: Rig) -> None:
    rig.program(f"{RAW}import random\nos.write(1, b'<<<' + random.Random(2).randbytes(300_000) + b'>>>')\n")
    with rig.run() as pane:
        pane.follows = False
        pane.ended()
        while pane.read(0.2):
            pass
        assert b"<<<" + random.Random(2).randbytes(300_000) + b">>>" in bytes(pane.bytes)


@pytest.mark.slow
def test_a_hundred_megabytes_cost_no_memory(rig: Rig) -> None:
    """And the screen is unknown behind them, until it is cleared."""
    rig.program(
        f"{RAW}{SAY}say('ready')\nos.read(0, 1)\npiece = b'\\x1b[31mlong output \\xe2\\x97\\x8f\\r\\n' * 4096\n"
        "left = 100_000_000\nwhile left > 0: left -= os.write(1, piece)\n"
        "say('finished')\nos.read(0, 1)\nos.write(1, b'\\x1b[2J\\x1b[H')\nos.read(0, 1)\n",
        "claude",
    )
    with rig.run(agent="claude") as pane:
        pane.wait("ready")
        process = rig.launcher()
        before = process.memory_info().rss
        pane.follows = False
        pane.type("x")
        most = 0
        while b"finished" not in pane.bytes[-100:]:
            pane.read(1)
            if len(pane.bytes) > 4 * MEGABYTE:
                del pane.bytes[: 3 * MEGABYTE]
                most = max(most, process.memory_info().rss)
        assert most - before < 25 * MEGABYTE
        pane.follows = True
        assert rig.state(pane)["prompt"] == "uncertain"
        pane.type("x")
        pane.settle(0.5)
        assert rig.state(pane)["prompt"] in ("absent", "uncertain")
        pane.type("x")
        assert pane.ended() == 0


def test_a_killed_launcher_leaves_neither_agent_nor_raw_mode(rig: Rig) -> None:
    rig.program(f"{RAW}{SAY}say('pid', os.getpid())\nos.read(0, 1)\n")
    with rig.run() as pane:
        before = modes(pane.child.master)
        pane.wait("pid")
        agent = number_after(pane, "pid")
        os.kill(rig.launcher().pid, signal.SIGKILL)
        assert gone(agent)
        pane.ended()
        until = time.monotonic() + 60
        while modes(pane.child.master) != before and time.monotonic() < until:
            time.sleep(0.02)
        assert modes(pane.child.master) == before


def test_a_terminal_that_hangs_up_ends_all(rig: Rig) -> None:
    rig.program(
        f"{RAW}{SAY}from pathlib import Path\n"
        "def up(*_):\n    Path('hup').touch(); raise SystemExit\n"
        "signal.signal(signal.SIGHUP, up)\nsay('pid', os.getpid())\nwhile True: time.sleep(1)\n"
    )
    with rig.run() as pane:
        pane.wait("pid")
        agent, launcher = number_after(pane, "pid"), rig.launcher().pid
        os.close(os.dup(pane.child.master))
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, pane.child.master)  # the last of it: the kernel hangs it up
        os.close(null)
        assert gone(agent)
        assert gone(launcher)
        assert (rig.cwd / "hup").exists()


def test_without_a_terminal_the_agent_takes_our_place(rig: Rig) -> None:
    rig.program(
        "import os, sys\nprint(os.getpid(), os.environ.get('COFFER_RUN'), sys.stdin.read(), sys.argv[1:])\n"
    )
    with subprocess.Popen(
        rig.command("-p", "--", "a b", "--help"),
        env=rig.env(),
        cwd=rig.cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        out, _ = process.communicate("words")
        assert out.split() == [str(process.pid), "None", "words", "['-p',", "'--',", "'a", "b',", "'--help']"]
        assert process.returncode == 0


def test_piped_output_of_a_run_in_a_terminal(rig: Rig) -> None:
    rig.program("import os\nprint('tty', os.isatty(0), os.isatty(1))\n")
    with Pane(["/bin/sh", "-c", '"$@" | cat', "sh", *rig.command()], env=rig.env(), cwd=rig.cwd) as pane:
        pane.wait("tty True False")


def test_errors_go_where_they_were_sent(rig: Rig) -> None:
    rig.program("import sys\nprint('to the terminal')\nprint('to the file', file=sys.stderr)\n")
    with Pane(["/bin/sh", "-c", '"$@" 2>errors', "sh", *rig.command()], env=rig.env(), cwd=rig.cwd) as pane:
        pane.wait("to the terminal")
        pane.ended()
    assert (rig.cwd / "errors").read_text() == "to the file\n"


def test_the_agent_has_a_terminal_of_its_own_and_clean_signals(rig: Rig) -> None:
    rig.program(
        f"{SAY}import os, signal\nsay('tty', os.ttyname(0) == os.ttyname(2), os.path.exists('/dev/tty'), "
        "bool(os.open('/dev/tty', os.O_RDWR)))\n"
        "say('group', os.getpgrp() == os.getpid() == os.tcgetpgrp(0))\n"
        "say('ignored', *[line.split()[1] for line in open('/proc/self/status') if line.startswith('SigIgn')])\n"
        "say('files', *sorted(os.listdir('/proc/self/fd')))\nsay('run', len(os.environ['COFFER_RUN']))\n".replace(
            "import os, signal", "import os", 1
        ).replace(SAY, "import os\n" + SAY, 1)
    )
    with rig.run() as pane:
        pane.wait("run 12")
        text = "\n".join(pane.look().rows)
        assert "tty True True True" in text
        assert "group True" in text
        assert re.search(r"files 0 1 2 \d+( \d+)?\n", text)


def test_a_program_that_cannot_be_started_is_told(rig: Rig) -> None:
    (rig.bin / "codex").write_bytes(b"\x7fELF nonsense")
    (rig.bin / "codex").chmod(0o755)
    with rig.run() as pane:
        before = modes(pane.child.master)
        assert os.waitstatus_to_exitcode(pane.ended()) == 62
        assert modes(pane.child.master) == before
        pane.wait("can't be started")


def test_a_missing_program_and_an_unknown_agent(rig: Rig) -> None:
    for agent, code in (("codex", 60), ("vim", 61)):
        done = subprocess.run(
            rig.command(agent=agent), env=rig.env(), cwd=rig.cwd, capture_output=True, text=True, check=False
        )
        assert done.returncode == code
        assert "Traceback" not in done.stderr


def test_a_script_that_leads_back_to_us_is_passed_over(rig: Rig) -> None:
    wrapper = rig.program("", "codex")
    wrapper.write_text('#!/bin/sh\nexec coffer run codex "$@"\n')
    real = rig.root / "real"
    real.mkdir()
    (real / "codex").write_text("#!/bin/sh\necho the real one\n")
    (real / "codex").chmod(0o755)
    env = rig.env(PATH=f"{rig.bin}:{real}:/usr/bin:/bin")
    with Pane(rig.command(), env=env, cwd=rig.cwd) as pane:
        pane.wait("the real one")


def test_a_run_inside_of_a_run_adds_nothing(rig: Rig) -> None:
    inner = json.dumps(rig.command("inner"))
    rig.program(
        "import json, os, subprocess, sys\nprint(sys.argv[1:], os.getsid(0), os.environ['COFFER_RUN'])\n"
        f"if sys.argv[1:] != ['inner']: raise SystemExit(subprocess.call(json.loads({inner!r})))\n"
    )
    with rig.run("outer") as pane:
        pane.wait("inner")
        assert pane.ended() == 0
        rows = [row for row in pane.look().rows if row]
        assert rows[0].replace("outer", "inner") == rows[1]


def test_no_home_to_write_to_costs_the_session_nothing(rig: Rig) -> None:
    rig.home.root.write_text("in the way")
    rig.program(f"{RAW}{SAY}say('ready')\nsay(os.read(0, 1))\n")
    with rig.run() as pane:
        pane.wait("ready")
        pane.type("k")
        pane.wait("b'k'")
        assert pane.ended() == 0


def test_a_key_comes_back_about_as_fast_as_without_us(rig: Rig) -> None:
    loop = "while True:\n    key = os.read(0, 1)\n    if key == b'q': break\n    os.write(1, key)\n"
    echo = f"{RAW}{SAY}say('ready')\n{loop}"
    path = rig.program(echo, "claude")

    def median(command: list[str]) -> float:
        with Pane(command, env=rig.env(), cwd=rig.cwd) as pane:
            pane.wait("ready")
            pane.settle(0.1)
            times = []
            for _ in range(200):
                begin = time.perf_counter()
                pane.type("k")
                pane.read(5)
                times.append(time.perf_counter() - begin)
                time.sleep(0.001)
            pane.type("q")
            pane.ended()
        return statistics.median(times)

    bare, ours = median([sys.executable, str(path)]), median(rig.command(agent="claude"))
    print(f"a key and its echo: {bare * 1e3:.2f} ms, under coffer run {ours * 1e3:.2f} ms")
    assert ours - bare < 0.010
