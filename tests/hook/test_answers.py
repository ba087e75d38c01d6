"""What the agent gets: the daemon's whole answer, else the file's, else nothing; the exit code is always 0."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from coffer.core.bundle_files import SpoolEntry
from coffer.work.delivery.bundle_files import take_spool
from tests.hook.rig import (
    DAEMON_TEXT,
    FILE_TEXT,
    LONG,
    STARTUP,
    SUBAGENT_TEXT,
    Behaviour,
    Done,
    Rig,
    answer,
    bind,
    never,
    says,
)

SILENT = Done(0, b"", b"")
FROM_FILE = Done(0, FILE_TEXT, b"")
FROM_DAEMON = Done(0, DAEMON_TEXT, b"")


def slowly(raw: bytes, pause: float) -> Behaviour:
    def behave(link: socket.socket) -> None:
        for byte in raw:
            link.sendall(bytes([byte]))
            time.sleep(pause)

    return behave


def late(link: socket.socket) -> None:
    time.sleep(0.6)
    link.sendall(answer(DAEMON_TEXT))


def stays_open(link: socket.socket) -> None:
    link.sendall(answer(DAEMON_TEXT))
    link.recv(1)


ENDING = {
    "closes at once": says(b""),
    "500": says(answer(b"oops", "500 Internal Server Error")),
    "404": says(answer(b"no such event", "404 Not Found")),
    "204 without a length": says(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "201": says(answer(DAEMON_TEXT, "201 Created")),
    "a status that begins like 200": says(answer(DAEMON_TEXT, "2000 OK")),
    "short body": says(answer(DAEMON_TEXT, length=len(DAEMON_TEXT) + 1)),
    "long body": says(answer(DAEMON_TEXT, length=len(DAEMON_TEXT) - 1)),
    "no length": says(b"HTTP/1.1 200 OK\r\n\r\n" + DAEMON_TEXT),
    "two lengths": says(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc"),
    "no number": says(b"HTTP/1.1 200 OK\r\nContent-Length: some\r\n\r\nabc"),
    "a negative length": says(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc"),
    "digits of another script": says("HTTP/1.1 200 OK\r\nContent-Length: ٣\r\n\r\nabc".encode()),
    "chunked": says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
    "head cut": says(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "huge body": says(answer(b"x" * 5_000_000)),
    "just too long": says(answer(b"x" * 65_537)),
    "endless head": says(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 5_000_000),
    "garbage": says(os.urandom(5_000)),
    "another protocol": says(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "line breaks of its own": says(b"HTTP/1.1 200 OK\nContent-Length: 3\n\nabc"),
}
"""Faults after which the daemon closes: no time runs out."""

HANGING = {
    "never answers": never,
    "answers late": late,
    "drips": slowly(answer(DAEMON_TEXT), 0.05),
    "half, then nothing": lambda link: (link.sendall(answer(DAEMON_TEXT)[:-3]), link.recv(1))[0],
}
"""Faults that only the hook's own limit ends."""


@pytest.mark.parametrize("fault", ENDING)
def test_a_faulty_answer_is_none(rig: Rig, fault: str) -> None:
    rig.publish()
    with rig.daemon(ENDING[fault]) as heard:
        assert rig.run("claude", "SessionStart") == FROM_FILE
        assert rig.run("claude", "UserPromptSubmit") == SILENT
    assert len(heard) == 2


@pytest.mark.parametrize("fault", HANGING)
def test_a_daemon_that_hangs_is_left(rig: Rig, fault: str) -> None:
    rig.limits(daemon=0.3)
    rig.publish()
    with rig.daemon(HANGING[fault]):
        assert rig.run("claude", "SessionStart") == FROM_FILE
        assert rig.run("claude", "Stop") == SILENT


GOOD = {
    "whole": says(answer(DAEMON_TEXT)),
    "in drops": slowly(answer(DAEMON_TEXT), 0.001),
    "the link stays open": stays_open,
    "HTTP/1.0, small letters": says(
        b"HTTP/1.0 200\r\ncontent-length:%d\r\n\r\n%s" % (len(DAEMON_TEXT), DAEMON_TEXT)
    ),
}


@pytest.mark.parametrize("manner", GOOD)
def test_a_whole_answer_is_passed_on(rig: Rig, manner: str) -> None:
    rig.publish()
    with rig.daemon(GOOD[manner]):
        for event in ("SessionStart", "UserPromptSubmit", "PreToolUse"):
            assert rig.run("claude", event) == FROM_DAEMON
    assert rig.spooled() == []


def test_an_empty_answer_is_an_answer(rig: Rig) -> None:
    rig.publish()
    with rig.daemon(says(answer(b""))):
        assert rig.run("claude", "SessionStart") == SILENT
    assert rig.spooled() == []


def test_the_longest_answer_arrives_whole(rig: Rig) -> None:
    longest = os.urandom(65_536)
    with rig.daemon(says(answer(longest))):
        assert rig.run("claude", "SessionStart") == Done(0, longest, b"")


def test_the_daemon_hears_what_the_agent_said_and_where(rig: Rig) -> None:
    folder = rig.project / "mit Leer\nzeile: ü%"
    folder.mkdir()
    told = {
        "COZEMPIC_CONTEXT_WINDOW": "200000",
        "CLAUDE_PROJECT_DIR": str(folder),
        "CODEX_HOME": "",
        "TMUX": "/tmp/tmux-0/default,1,0",  # noqa: S108
        "TMUX_PANE": "%3",
        "COFFER_RUN": "\r\nX-Evil: 1",
        "CLAUDE_CONFIG_DIR": "x" * 5000,
        "ANTHROPIC_API_KEY": "sk-secret",
    }
    said = os.urandom(5000)
    with rig.daemon(says(answer(b""))) as heard:
        assert rig.run("claude", "PostToolUse", stdin=said, cwd=folder, extra=told) == SILENT
    (request,) = heard
    assert request.path == "/api/v1/agents/claude/events/PostToolUse"
    assert request.body == said
    assert request.told("cwd") == os.fsencode(folder)
    assert request.told("ppid") == str(os.getpid()).encode()
    assert {name for name in request.headers if name.startswith("x-coffer-env-")} == {
        f"x-coffer-env-{name.lower()}"
        for name in told
        if name not in ("ANTHROPIC_API_KEY", "CODEX_HOME", "CLAUDE_CONFIG_DIR")
    }
    for name in ("CLAUDE_PROJECT_DIR", "COFFER_RUN", "TMUX_PANE"):
        assert request.told(f"env-{name.lower()}") == told[name].encode()


@pytest.mark.parametrize("size", [0, 1, 65_536, 5_000_000, 8_000_000])
def test_stdin_arrives_whole(rig: Rig, size: int) -> None:
    said = os.urandom(size)
    with rig.daemon(says(answer(DAEMON_TEXT))) as heard:
        assert rig.run("claude", "PostToolUse", stdin=said) == FROM_DAEMON
    assert [request.body == said for request in heard] == [True]


def test_stdin_over_8_mb_is_read_to_its_end_and_not_offered(rig: Rig) -> None:
    rig.publish()
    with rig.daemon(says(answer(DAEMON_TEXT))) as heard:
        assert rig.run("claude", "SessionStart", stdin=bytes(8_000_001)) == FROM_FILE
        assert rig.run("codex", "SessionStart", stdin=STARTUP + bytes(8_000_001)) == SILENT
    assert heard == []
    assert [entry.stdin for entry in take_spool(rig.home)] == [b""]


@contextmanager
def full_queue(rig: Rig) -> Iterator[socket.socket]:
    """A daemon whose queue takes nobody more, as when a hundred hooks come at once."""
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as first:
        bind(listener, rig.home)
        listener.listen(0)
        listener.settimeout(LONG)
        with contextlib.chdir(rig.home.root):
            first.connect("daemon.sock")
        yield listener


def test_a_full_queue_is_tried_again(rig: Rig) -> None:
    with full_queue(rig) as listener:
        words = rig.words("claude", "Stop")
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as hook:
            time.sleep(0.2)
            listener.accept()[0].close()
            link, _ = listener.accept()
            with link:
                assert b"/events/Stop " in link.recv(65536)
                link.sendall(answer(DAEMON_TEXT))
            assert hook.communicate(timeout=LONG)[0] == DAEMON_TEXT


def test_without_a_daemon_sessions_get_the_file_and_other_events_nothing(rig: Rig) -> None:
    rig.publish()
    assert rig.run("claude", "SessionStart") == FROM_FILE
    assert rig.run("claude", "SubagentStart") == Done(0, SUBAGENT_TEXT, b"")
    assert rig.run("codex", "SessionStart") == FROM_FILE
    for event in ("UserPromptSubmit", "Stop", "SessionEnd", "PreCompact", "PostToolUse", "Unknown"):
        assert rig.run("claude", event) == SILENT
    assert rig.run("codex", "SubagentStart") == SILENT  # there is no such file
    assert rig.run("third", "SessionStart") == SILENT


def test_a_socket_that_nobody_listens_on_is_no_daemon(rig: Rig) -> None:
    rig.publish()
    with socket.socket(socket.AF_UNIX) as listener:
        bind(listener, rig.home)
    assert rig.run("claude", "SessionStart") == FROM_FILE


@pytest.mark.parametrize("source", ["startup", "clear", "compact", "resume", "fork", "something-new", None])
@pytest.mark.parametrize("form", ['"source":"WHICH"', '"source" : "WHICH"', '"source":\n\t"WHICH"'])
def test_a_codex_context_that_holds_the_rules_gets_no_second_copy(
    rig: Rig, source: str | None, form: str
) -> None:
    rig.publish()
    field = form.replace("WHICH", source) if source else '"other":1'
    event = rf'{{"cwd":"/a \"source\":\"startup\" b",{field},"hook_event_name":"SessionStart"}}'
    expected = FROM_FILE if source in ("startup", "clear", "compact") else SILENT
    assert rig.run("codex", "SessionStart", stdin=event.encode()) == expected
    assert rig.run("claude", "SessionStart", stdin=event.encode()) == FROM_FILE  # it drops what it has


def test_what_was_answered_from_a_file_is_left_for_the_daemon(rig: Rig) -> None:
    rig.publish()
    folder = rig.project / "a%b\nü"
    folder.mkdir()
    rig.run("claude", "SessionStart", cwd=folder)
    rig.run("claude", "Stop")
    rig.run("codex", "SessionStart", stdin=b'{"source":"resume"}')
    (entry,) = take_spool(rig.home)
    key = (rig.home.root / "bundles" / "index").read_text().split("\t")[0]
    assert entry == SpoolEntry(
        entry.name, entry.at, entry.pid, "claude", "SessionStart", key, str(folder), STARTUP
    )
    assert abs(entry.at / 1e9 - time.time()) < 600
    assert rig.spooled() == []


def test_the_spool_keeps_where_the_sessions_files_lie(rig: Rig) -> None:
    """The daemon that takes it in may have been started by an agent with other folders, or by none."""
    rig.publish()
    folders = {"CODEX_HOME": "/a b/c=d\nü", "CLAUDE_CONFIG_DIR": "/x", "COFFER_RUN": "1"}
    rig.run("codex", "SessionStart", extra=folders)
    (entry,) = take_spool(rig.home)
    assert entry.environment == (("CLAUDE_CONFIG_DIR", "/x"), ("CODEX_HOME", "/a b/c=d\nü"))
    assert entry.stdin == STARTUP


@pytest.mark.parametrize(
    "damage", ["no spool", "no index", "no folder", "not a file", "huge", "empty", "pipe"]
)
def test_unreadable_state_is_nothing_to_say(rig: Rig, damage: str) -> None:
    rig.publish()
    bundles = rig.home.root / "bundles"
    (file,) = bundles.glob("*/claude.SessionStart")
    if damage == "no spool":
        (rig.home.root / "spool").write_text("a file in its place")
        assert rig.run("claude", "SessionStart") == FROM_FILE
        return
    if damage == "no index":
        (bundles / "index").unlink()
    elif damage == "no folder":
        bundles.rename(bundles.with_name("elsewhere"))
    elif damage == "huge":
        file.write_bytes(b"x" * 65_537)
    elif damage == "empty":
        file.write_bytes(b"")
    else:
        file.unlink()
        os.mkfifo(file) if damage == "pipe" else file.mkdir()
    assert rig.run("claude", "SessionStart") == SILENT
    assert rig.spooled() == []


@pytest.mark.parametrize("key", ["../secret", "/", ".", "a/../../secret", "secret\0", "ü"])
def test_a_key_that_leads_away_is_none(rig: Rig, key: str) -> None:
    for folder in (rig.home.root / "secret", rig.home.root / "bundles"):
        folder.mkdir()
        (folder / "claude.SessionStart").write_text("not for you")
    (rig.home.root / "bundles" / "index").write_text(f"{key}\t/\n")
    assert rig.run("claude", "SessionStart") == SILENT
