"""`coffer run` and `coffer reload` as a person meets them."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from coffer.disk.live import start_mark
from coffer.launch.program import restarted
from coffer.work.guarding import runs
from tests.launch.pane import Pane
from tests.launch.rig import COFFER, RAW, SAY, Rig
from tests.launch.test_input_line import look_of

CAPTURED = Path(__file__).parents[1] / "fixtures" / "left_out"
SESSION = "5f0c5a62-0000-4000-8000-00000000cafe"


def coffer(rig: Rig, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COFFER, *words], env=rig.env(), cwd=rig.cwd, capture_output=True, text=True, check=False
    )


def client(rig: Rig, *, status: str = "idle") -> None:
    """A program that looks and registers like Claude Code, and says what is typed."""
    look = look_of("empty")
    screen = "\r\n".join(look.rows)
    registry = rig.root / ".claude" / "sessions"
    registry.mkdir(parents=True)
    rig.program(
        f"{RAW}import json\nfrom pathlib import Path\n"
        "start = Path('/proc/self/stat').read_text().rpartition(')')[2].split()[19]\n"
        f"said = dict(pid=os.getpid(), procStart=start, sessionId={SESSION!r}, status={status!r})\n"
        f"Path({str(registry)!r}, f'{{os.getpid()}}.json').write_text(json.dumps(said))\n"
        f"os.write(1, ('\\x1b[?2004h\\x1b[2J\\x1b[H' + {screen!r} + "
        f"'\\x1b[{look.row + 1};{look.column + 1}H').encode())\nos.read(0, 1)\n",
        "claude",
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_alias(rig: Rig, shell: str) -> None:
    assert "coffer run claude" in coffer(rig, "run", "--print-alias", shell).stdout
    assert coffer(rig, "run", "--print-alias").stdout == "alias claude='coffer run claude'\n"


def test_a_dry_run_says_what_is_in_the_way(rig: Rig) -> None:
    client(rig)
    with rig.run(agent="claude", columns=100, rows=30) as pane:
        pane.wait("shortcuts")
        pane.settle()
        done = coffer(rig, "reload")
        assert done.returncode == 0
        assert "can be reloaded now" in done.stdout
        said = json.loads(coffer(rig, "reload", SESSION[:8], "--json").stdout)
        assert (said["safe"], said["prompt"], said["session"]) == (True, "empty", SESSION)
        assert start_mark(said["pid"])
        assert coffer(rig, "reload", "ffff").returncode == 63
        pane.type("q")
        pane.ended()
    assert coffer(rig, "reload").returncode == 63


def test_a_refusal_has_its_reasons(rig: Rig) -> None:
    client(rig, status="busy")
    with rig.run(agent="claude", columns=100, rows=30) as pane:
        pane.wait("shortcuts")
        pane.settle()
        assert "Claude Code is busy" in coffer(rig, "reload").stdout
        done = coffer(rig, "reload", "--apply", "--wait", "0")
        assert done.returncode == 65
        assert "Claude Code is busy" in done.stderr


@pytest.mark.parametrize("name", ["first-turn", "behind-the-pointer"])
def test_a_file_that_would_be_read_wrongly(rig: Rig, name: str) -> None:
    """Claude Code's pointer names the prompt only, or a branch that a rewind has left: nothing is typed."""
    client(rig)
    folder = rig.root / ".claude" / "projects" / "-work"
    folder.mkdir(parents=True)
    data = (CAPTURED / f"{name}.jsonl").read_bytes()
    (folder / f"{SESSION}.jsonl").write_bytes(data)
    with rig.run(agent="claude", columns=100, rows=30) as pane:
        pane.wait("shortcuts")
        pane.settle()
        assert "a reload would" in coffer(rig, "reload").stdout
        assert json.loads(coffer(rig, "reload", "--json").stdout)["safe"] is False
        done = coffer(rig, "reload", "--apply", "--wait", "0")
        assert done.returncode == 65
        assert "Nothing was sent" in done.stderr
        assert rig.state(pane)["safe"]


def test_a_conversation_whose_end_is_not_shown(rig: Rig) -> None:
    """A rewind leaves no trace in the file; on the screen its turns are missing."""
    client(rig)
    with rig.run(agent="claude", columns=100, rows=30) as pane:
        pane.wait("shortcuts")
        pane.settle()
        for words, safe in (("forshortcuts", True), ("greetedfig", False)):
            said = rig.ask(pane, {"do": "state", "words": words})
            assert (said["safe"], any("rewind" in why for why in said["why"])) == (safe, not safe)
        request = {"do": "reload", "session": SESSION, "settle": 0.1, "words": "greetedfig"}
        said = rig.ask(pane, request)
        assert said["kind"] == "refused"
        assert "rewind" in said["why"]


def test_the_door_is_the_users_own_and_takes_anything(rig: Rig) -> None:
    rig.program(f"{RAW}{SAY}say('ready')\nsay('got', os.read(0, 9))\n", "claude")
    with rig.run(agent="claude") as pane:
        pane.wait("ready")
        (name,) = runs.runs(rig.home)
        path = rig.home.root / "run" / f"{name}.sock"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        here = Path.cwd()
        os.chdir(path.parent)
        try:
            for words in (
                b"",
                b"\n",
                b"nonsense\n",
                b"[1]\n",
                b'{"do":"fly"}\n',
                b"x" * 70_000,
                b"\xff\xfe\n",
            ):
                with socket.socket(socket.AF_UNIX) as link:
                    link.connect(path.name)
                    link.settimeout(5)
                    try:
                        link.sendall(words)
                        link.shutdown(socket.SHUT_WR)
                        link.recv(1000)
                    except (BrokenPipeError, ConnectionResetError):
                        continue
            idle = [socket.socket(socket.AF_UNIX) for _ in range(20)]
            for link in idle[:8]:
                link.connect(path.name)
        finally:
            os.chdir(here)
        pane.type("k")
        pane.wait("got b'k'")
        assert pane.ended() == 0
        for link in idle:
            link.close()
    assert runs.runs(rig.home) == []


def test_a_killed_launchers_socket_is_cleared_away(rig: Rig) -> None:
    rig.program(f"{RAW}{SAY}say('ready')\nos.read(0, 9)\n", "claude")
    with rig.run(agent="claude") as pane:
        pane.wait("ready")
        rig.launcher().kill()
        pane.ended()
    assert len(runs.runs(rig.home)) == 1
    assert coffer(rig, "reload").returncode == 63
    assert runs.runs(rig.home) == []


def test_a_home_with_a_long_path(rig: Rig, tmp_path: Path) -> None:
    rig.program(f"{RAW}{SAY}say('ready')\nos.read(0, 9)\n", "claude")
    deep = tmp_path.joinpath(*["deep" * 10] * 4)
    with Pane(rig.command(agent="claude"), env=rig.env(COFFER_HOME=str(deep)), cwd=rig.cwd) as pane:
        pane.wait("ready")
        assert list((deep / "run").glob("*.sock"))
        pane.type("q")
        assert pane.ended() == 0


@pytest.mark.parametrize(
    ("before", "model", "after"),
    [
        ([], "opus[1m]", ["--resume", "ID", "--model", "opus[1m]"]),
        ([], "", None),
        (["--model", "claude-opus-4-8[1m]"], "", ["--resume", "ID", "--model", "claude-opus-4-8[1m]"]),
        (["--model=opus[1m]", "--verbose"], "x", ["--verbose", "--resume", "ID", "--model", "opus[1m]"]),
        (["-c", "--model", "a"], "", ["--resume", "ID", "--model", "a"]),
        (["-r", "OLD", "--model", "a"], "", ["--resume", "ID", "--model", "a"]),
        (["--resume", "--model", "a"], "", ["--resume", "ID", "--model", "a"]),
        (["--session-id=OLD", "--fork-session"], "a", ["--resume", "ID", "--model", "a"]),
        (["--model", "a", "a prompt"], "", ["--resume", "ID", "--model", "a"]),
        (["--model", "a", "--", "-c"], "", ["--resume", "ID", "--model", "a"]),
        (["a prompt", "--model", "a"], "", None),
        (
            ["--add-dir", "x", "y", "--model", "a"],
            "",
            ["--add-dir", "x", "y", "--resume", "ID", "--model", "a"],
        ),
        (["--permission-mode", "plan"], "a", ["--permission-mode", "plan", "--resume", "ID", "--model", "a"]),
        (["--model"], "", None),
        (["-p", "hello"], "a", None),
        (["--new-option"], "a", None),
        (["mcp", "list"], "a", None),
    ],
)
def test_the_arguments_of_a_restart(before: list[str], model: str, after: list[str] | None) -> None:
    assert restarted(before, "ID", model) == after
