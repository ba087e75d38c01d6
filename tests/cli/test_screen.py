"""What reaches the terminal: no escape of a transcript's, no colour where none is wanted, any width."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from coffer.cli import plain
from tests.cli.run import COMMAND, Machine, claude_project, conversation, put
from tests.transcripts import SESSION, Claude, Codex, call, image, result, store, text, thinking, usage

EVIL = "\x1b[31mred\x1b]0;owned\x07 \x9b31m \r\x08 \u202edrawkcab\u2066 [bold]markup[/bold] \x7f"
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9\d|10\d)(?:;\d+)*m")
STYLE = re.compile(r"\x1b\[[0-9;]*m")
READING = (["up"], ["sessions"], ["show", SESSION], ["view", SESSION], ["check", SESSION])
EVERY = pytest.mark.parametrize("arguments", READING, ids=lambda arguments: arguments[0])


def evil() -> Claude:
    """A session whose every text tries to command the terminal."""
    made = Claude(model=f"claude-{EVIL}")
    made.user(f"question {EVIL}", "u1", cwd=f"/work/{EVIL}", gitBranch=EVIL)
    made.answer(
        *(
            thinking(EVIL),
            text(EVIL),
            call("c1", f"Read{EVIL}", file_path=f"/{EVIL}"),
            call("c2", "Bash", command=EVIL),
        ),
        name="a",
        counts=usage(1_000, 10),
    )
    made.user([result("c1", EVIL), result("c2", [text(EVIL), image(), {"type": EVIL}])], "r1")
    made.attachment("file", payload={"filename": EVIL, "content": {"file": {"content": EVIL}}})
    made.attachment(f"kind{EVIL}", payload={"content": EVIL})
    made.add("assistant", "e", message={"role": "assistant", "content": [{"type": EVIL, "x": EVIL}]})
    made.note("custom-title", customTitle=f"title {EVIL}")
    made.raw(f"{{torn {EVIL}".encode())
    return made


def is_safe(shown: str) -> bool:
    """No control character but newline, tab, and the styles that we set ourselves."""
    rest = STYLE.sub("", shown)
    return not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", rest)


@EVERY
def test_no_text_of_a_transcript_commands_the_terminal(machine: Machine, arguments: list[str]) -> None:
    put(machine, evil())
    done = machine.run(*arguments, COLUMNS="200")
    assert "\x1b" not in done.out + done.err
    assert is_safe(done.out + done.err), repr(done)
    shown = machine.on_terminal(*arguments, columns=200)
    assert is_safe(shown.out), repr(shown.out)
    assert "\x1b[31mred" not in shown.out


def test_no_text_of_a_rollout_commands_the_terminal(machine: Machine) -> None:
    made = Codex()
    made.meta(EVIL, git={"branch": EVIL})
    made.turn(EVIL)
    made.message("user", EVIL)
    made.call("c1", f'{{"command":["{EVIL.encode("unicode_escape").decode()}"]}}', EVIL)
    made.output("c1", EVIL)
    made.message(EVIL, EVIL)
    store(machine.folder, made, "evil")
    for command in ("show", "view", "check"):
        assert is_safe(machine.on_terminal(command, "./evil.jsonl", columns=200).out)


def test_no_name_of_a_file_commands_the_terminal(machine: Machine) -> None:
    put(machine, conversation(), "\x1b[31mname\x07")
    store(machine.home / ".claude" / "projects" / "-\x1b[31m", b"", "\x1b]0;empty\x07")
    for arguments in (
        ["sessions"],
        ["sessions", "--paths"],
        ["up"],
        ["show", "\x1b[31mname\x07"],
        ["show", "\x1b[3"],
    ):
        shown = machine.on_terminal(*arguments, columns=200)
        assert is_safe(shown.out), (arguments, repr(shown.out))
    for arguments in (["show", "\x1b[31mnobody"], ["show", "/\x1b[31m.jsonl"]):
        assert is_safe(machine.on_terminal(*arguments).out)


def test_no_word_of_the_registry_commands_the_terminal(machine: Machine) -> None:
    from coffer.disk.live import start_mark  # noqa: PLC0415  (only this test asks the system)

    folder = machine.home / ".claude" / "sessions"
    folder.mkdir()
    said = '{"pid":%d,"procStart":"%s","sessionId":"%s","status":"\\u001b[31m[bold]busy"}'
    start = start_mark(os.getpid())
    (folder / "1.json").write_text(said % (os.getpid(), start, SESSION))
    for arguments in (["sessions"], ["show", SESSION], ["up"]):
        shown = machine.on_terminal(*arguments, columns=200)
        assert "busy" in shown.out
        assert is_safe(shown.out)
        assert "\x1b[31m" not in shown.out
        assert "[bold]busy" in shown.out  # text is never markup


@pytest.mark.parametrize(
    "arguments", [["show", SESSION, "--json"], ["view", SESSION, "--json"], ["check", SESSION, "--json"]]
)
def test_json_is_plain_ascii(machine: Machine, arguments: list[str]) -> None:
    put(machine, evil())
    done = machine.run(*arguments)
    assert done.out.isascii()
    assert "\x1b" not in done.out
    assert done.json


@EVERY
def test_a_pipe_gets_no_colours(machine: Machine, arguments: list[str]) -> None:
    assert "\x1b" not in machine.run(*arguments, TERM="xterm-256color").out


@EVERY
def test_no_color_is_honoured(machine: Machine, arguments: list[str]) -> None:
    assert not COLOUR.search(machine.on_terminal(*arguments, NO_COLOR="1").out)


def test_a_terminal_gets_colours(machine: Machine) -> None:
    assert COLOUR.search(machine.on_terminal("show", SESSION).out)


def test_a_dumb_terminal_gets_none(machine: Machine) -> None:
    assert "\x1b" not in machine.on_terminal("show", SESSION, TERM="dumb").out


@EVERY
@pytest.mark.parametrize("columns", [20, 40, 80, 300])
def test_any_width(machine: Machine, arguments: list[str], columns: int) -> None:
    put(machine, evil(), "other")
    done = machine.on_terminal(*arguments, columns=columns)
    assert done.code in (0, 1)
    if columns >= 40 and arguments[0] in ("sessions", "show", "up"):
        bars = [line for line in STYLE.sub("", done.out).splitlines() if "█" in line or "░░" in line]
        assert all(len(line) <= columns for line in bars)


@EVERY
def test_a_reader_that_goes_away(machine: Machine, arguments: list[str]) -> None:
    # `coffer view X | head -1` must end quietly
    made = conversation()
    for number in range(60):
        made.user("word " * 2_000, f"w{number}")
    made.last_prompt("w59")
    put(machine, made)
    with subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=machine.folder,
        env=machine.env(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        said = process.stderr.read()
        process.wait(30)
    assert said == b""
    assert process.returncode in (0, 141)


@pytest.mark.parametrize("arguments", [["view", SESSION, "--full"], ["view", SESSION, "--json"], ["--help"]])
def test_a_reader_that_was_never_there(machine: Machine, arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=machine.folder,
        env=machine.env(),
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert done.stderr == b""


@EVERY
def test_a_closed_stdout(machine: Machine, arguments: list[str]) -> None:
    program = f"import os, sys; os.close(1); os.execv({sys.executable!r}, {[*COMMAND, *arguments]!r})"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=machine.folder,
        env=machine.env(),
        stderr=subprocess.PIPE,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has a device that is always full")  # noqa: PTH110
@EVERY
def test_a_full_disk(machine: Machine, arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=machine.folder,
            env=machine.env(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert b"Traceback" not in done.stderr
    assert done.returncode != 0
    assert done.stderr


@EVERY
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_of_another_encoding(machine: Machine, arguments: list[str], encoding: str) -> None:
    put(machine, conversation("\ud83c 😀 ü"), "other")
    assert machine.run(*arguments, PYTHONIOENCODING=encoding).code in (0, 1)


def test_names_that_are_no_unicode(machine: Machine) -> None:
    put(machine, conversation(), "\udcff\udcfe")
    for arguments in (["sessions"], ["sessions", "--paths"], ["sessions", "--json"], ["up"]):
        assert machine.run(*arguments).code == 0, arguments
    path = str(claude_project(machine) / "\udcff\udcfe.jsonl")
    for command in ("show", "view", "check"):
        for more in ([], ["--json"]):
            assert machine.run(command, path, *more).code == 0


def test_interrupting_is_said_in_a_sentence(machine: Machine) -> None:
    made = conversation()
    made.raw(b'{"type":"mode","x":"' + b"x" * 100_000_000 + b'"}')
    put(machine, made)
    with subprocess.Popen(
        [*COMMAND, "view", SESSION, "--full"],
        env=machine.env(),
        cwd=machine.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        time.sleep(0.25)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    killed = process.returncode == -signal.SIGINT and not said  # Python had not begun either
    if killed or (b"KeyboardInterrupt" in said and b"in main\n" not in said):
        pytest.skip("interrupted before the command began")
    assert process.returncode in (0, 130)
    assert b"Traceback" not in said


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_list_keeps_ids_and_numbers_whole(machine: Machine, columns: int) -> None:
    ids = ("019f0a11-2222-4333-8444-555555555555", "019f0a11-2223-4333-8444-555555555555")
    for number, name in enumerate(ids):
        made = conversation()
        made.user("a rather long title that has to give way " * 3, f"t{number}")
        made.answer(text("yes"), counts=usage(123_400, 10))
        made.lines = [line.replace(SESSION.encode(), name.encode()) for line in made.lines]
        put(machine, made, name)
    done = machine.on_terminal("sessions", columns=columns)
    shown = STYLE.sub("", done.out)
    for name in ids:
        (row,) = [line for line in shown.splitlines() if line.startswith(name[:13])]
        assert "123.4K" in row
        assert "62%" in row
        assert len(row.rstrip()) <= columns


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.0, "now"), (59.0, "now"), (61.0, "1 min ago"), (7_200.0, "2 h ago")]
)
def test_how_long_ago(seconds: float, said: str) -> None:
    assert plain.ago(seconds) == said
