"""The installed pipe against the real server: with one, without, and with one that goes away."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.mcp.rig import LONG, OPENING, TOOLS, Rig, said, wait_until


def test_with_a_daemon_all_is_the_daemons(rig: Rig, tide: Path) -> None:
    rig.serve()
    with rig.pipe(tide) as client:
        assert client.open() == TOOLS
        text, failed = client.call("restore", id="abcdef")
        assert failed
        assert "Only content of this project" in text
        assert client.end() == (0, b"", b"")
    assert not rig.started()


def test_without_a_daemon_the_handshake_is_answered_and_calls_wait_for_the_one_that_is_started(
    rig: Rig, tide: Path
) -> None:
    rig.startable()
    with rig.pipe(tide) as client:
        assert client.open() == TOOLS
        assert "Only content" in client.call("restore", id="abcdef")[0]
        assert client.call("restore", id="abcdee")[1]
    assert rig.daemon() in rig.started()


def test_without_a_daemon_and_without_the_file_the_handshake_waits_too(rig: Rig, tide: Path) -> None:
    (rig.home.root / "mcp-hello.json").unlink()
    rig.startable()
    with rig.pipe(tide) as client:
        assert client.open() == TOOLS
        assert client.call("restore", id="abcdef")[1]
    wait_until((rig.home.root / "mcp-hello.json").exists)


def test_a_hundred_lines_that_waited_come_in_order(rig: Rig, tide: Path) -> None:
    rig.startable()
    with rig.pipe(tide) as client:
        client.open()
        names = [client.send("tools/call", {"name": "nothing", "arguments": {}}) for _ in range(100)]
        answers = sorted(json.loads(client.line())["id"] for _ in names)
        assert answers == names


def test_a_daemon_that_never_comes_is_not_waited_for_without_end(rig: Rig, tide: Path) -> None:
    rig.limit("PATIENCE", 2.5)
    with rig.pipe(tide) as client:
        assert client.open() == TOOLS
        for _ in range(2):
            text, failed = client.call("restore", id="abcdef")
            assert failed
            assert "can't be reached" in text
        assert "error" in client.ask("prompts/list")
        assert client.ask("ping")["result"] == {}


def test_without_a_daemon_and_with_nothing_to_wait_for_it_is_idle(rig: Rig, tide: Path) -> None:
    rig.limit("PATIENCE", 3.0)
    with rig.pipe(tide) as client:
        client.open()
        time.sleep(3.3)
        process = psutil.Process(client.process.pid)
        before = sum(process.cpu_times()[:2])
        switches = process.num_ctx_switches().voluntary
        time.sleep(1)
        assert sum(process.cpu_times()[:2]) == before
        assert process.num_ctx_switches().voluntary - switches <= 2


def test_a_daemon_killed_in_mid_call_fails_the_call_and_the_next_one_gets_a_new_daemon(
    rig: Rig, tide: Path
) -> None:
    server = rig.serve()
    rig.startable()
    with rig.pipe(tide) as client:
        client.open()
        assert client.call("restore", id="abcdef")[1]
        server.send_signal(signal.SIGSTOP)
        first = client.send("tools/call", {"name": "restore", "arguments": {"id": "abcdef"}})
        listed = client.send("tools/list")
        time.sleep(0.2)
        server.kill()
        text, failed = said(client.answer(first))
        assert failed
        assert "not known whether it was done" in text
        assert [tool["name"] for tool in client.answer(listed)["result"]["tools"]] == TOOLS
        assert "Only content" in client.call("restore", id="abcdef")[0]
        assert client.end() == (0, b"", b"")


def test_the_whole_daemon_serves_pipes_and_puts_their_socket_away(rig: Rig, tide: Path) -> None:
    rig.startable("coffer.daemon.run")
    with rig.pipe(tide) as client:
        assert client.open() == TOOLS
        assert "Only content" in client.call("restore", id="abcdef")[0]
        os.kill(rig.daemon(), signal.SIGTERM)
        wait_until(lambda: not (rig.home.root / "mcp.sock").exists())
        assert client.ask("ping")["result"] == {}


def test_an_idle_session_outlives_its_daemons(rig: Rig, tide: Path) -> None:
    rig.startable()
    with rig.pipe(tide) as client:
        client.open()
        for _ in range(3):
            assert "Only content" in client.call("restore", id="abcdef")[0]
            os.kill(rig.daemon(), signal.SIGKILL)
            wait_until(lambda: not rig.is_served())
            (rig.home.root / "daemon-started").unlink()  # no two starts within two seconds, else
        assert len(rig.started()) >= 3


def test_a_daemon_that_hangs_holds_nobody_for_ever(rig: Rig, tide: Path) -> None:
    server = rig.serve()
    with rig.pipe(tide) as client:  # from now on it has the SDK, which takes it seconds on a busy machine
        client.open()
        client.call("restore", id="abcdef")
    server.send_signal(signal.SIGSTOP)
    rig.limit("PATIENCE", 4.0)
    with rig.pipe(tide) as client:
        assert client.open() == TOOLS
        assert "can't be reached" in client.call("restore", id="abcdef")[0]
        server.send_signal(signal.SIGCONT)
        assert "Only content" in client.call("restore", id="abcdef")[0]


@pytest.mark.parametrize(
    "words", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"coffer-mcp 2 ready\n", b"\0" * 70_000]
)
def test_a_stranger_on_the_socket_says_nothing_to_the_client(rig: Rig, tide: Path, words: bytes) -> None:
    rig.limit("PATIENCE", 2.5)
    path = rig.home.root / "mcp.sock"
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.bind(str(path))
        stranger.listen(1)
        with rig.pipe(tide) as client:
            link, _ = stranger.accept()
            with link:
                link.sendall(words)
            assert client.open() == TOOLS
            assert "can't be reached" in client.call("restore", id="abcdef")[0]
            assert client.end() == (0, b"", b"")


@pytest.mark.parametrize("cold", [False, True])
def test_eight_megabytes_on_a_line_go_there_and_back(rig: Rig, tide: Path, *, cold: bool) -> None:
    if cold:
        rig.startable()
    else:
        rig.serve()
    with rig.pipe(tide) as client:
        client.open()
        long = "ü" * 4_000_000
        text, failed = client.call("propose_rule", ticket="t", prohibition=long)
        assert failed
        assert "length <= 400" in text
        answer = client.ask("tools/call", {"name": long, "arguments": {}})
        assert said(answer)[1]
        assert client.call("restore", id="abcdef")[1]


def test_a_client_that_reads_late_gets_all_of_it(rig: Rig, tide: Path) -> None:
    rig.serve()
    with rig.pipe(tide) as client:
        client.open()
        names = [client.send("tools/list") for _ in range(400)]
        time.sleep(0.5)  # more than a socket and a pipe hold
        assert [client.answer(name)["id"] for name in names] == names


@pytest.mark.parametrize("cold", [False, True])
def test_garbage_is_passed_over(rig: Rig, tide: Path, *, cold: bool) -> None:
    if cold:
        rig.startable()
    else:
        rig.serve()
    lines = (
        b"\n \n",
        b"not JSON\n",
        b"[]\n",
        b"[[[[" * 50_000 + b"\n",
        b'{"jsonrpc":"2.0"}\n',
        b"\xff\xfe\0\n",
        b'{"jsonrpc":"2.0","method":"notifications/unknown"}\n',
        b'{"jsonrpc":"2.0","id":99,"result":{}}\n',
    )
    with rig.pipe(tide) as client:
        for line in lines:
            client.say(line)
        client.open()
        for line in lines:
            client.say(line)
            assert client.ask("ping")["result"] == {}
        assert client.call("restore", id="abcdef")[1]
        assert client.end() == (0, b"", b"")


def test_half_a_surrogate_pair_and_bytes_that_are_no_text_are_answered(rig: Rig, tide: Path) -> None:
    rig.serve()
    with rig.pipe(tide) as client:
        client.open()
        for odd in (rb"\ud800", b"\xff", rb"\u0000"):
            client.say(
                b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"propose_rule",'
                b'"arguments":{"ticket":"t","prohibition":"Do not say ' + odd + b'."}}}\n'
            )
            assert "nobody handed it out" in said(client.answer(7))[0]


def test_lines_in_pieces(rig: Rig, tide: Path) -> None:
    rig.serve()
    with rig.pipe(tide) as client:
        whole = (
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": OPENING}).encode()
            + b"\r\n"
        )
        for at in range(0, len(whole), 7):
            client.say(whole[at : at + 7])
            time.sleep(0.002)
        assert json.loads(client.line())["result"]["serverInfo"]["name"] == "coffer"
        client.say(
            b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n{"jsonrpc":"2.0","id":3,"method":"ping"}\n{"json'
        )
        assert [json.loads(client.line())["id"] for _ in range(2)] == [2, 3]
        assert client.end() == (0, b"", b"")


def test_what_was_asked_before_the_end_is_answered(rig: Rig, tide: Path) -> None:
    rig.serve()
    with rig.pipe(tide) as client:
        name = client.send("initialize", OPENING)
        code, out, err = client.end()
        assert (code, json.loads(out)["id"], err) == (0, name, b"")


def test_the_pipe_ends_with_its_client_though_a_daemon_hangs(rig: Rig, tide: Path) -> None:
    server = rig.serve()
    with rig.pipe(tide) as client:
        client.open()
        server.send_signal(signal.SIGSTOP)
        client.send("tools/call", {"name": "restore", "arguments": {"id": "abcdef"}})
        began = time.monotonic()
        assert client.end() == (0, b"", b"")
        assert time.monotonic() - began < 10
        server.send_signal(signal.SIGCONT)


def test_a_client_that_died_ends_its_pipe(rig: Rig, tide: Path) -> None:
    rig.serve()
    with rig.pipe(tide) as client:
        client.open()
        client.stdout.close()
        for _ in range(3):
            client.send("ping")
            time.sleep(0.05)
            if client.process.poll() is not None:
                break
        assert client.process.wait(10) == 0


def test_clients_that_are_killed_in_mid_call_leave_no_trace_in_the_log(rig: Rig, tide: Path) -> None:
    server = rig.serve()
    for _ in range(5):
        with rig.pipe(tide) as client:
            client.open()
            for _ in range(50):
                client.send("tools/call", {"name": "restore", "arguments": {"id": "abcdef"}})
    with rig.pipe(tide) as client:
        client.open()
        assert client.call("restore", id="abcdef")[1]
    server.terminate()
    assert server.wait(LONG) == 0
    assert "Traceback" not in rig.log
    assert not (rig.home.root / "mcp.sock").exists()


def test_a_child_of_coffers_own_gets_no_tools(rig: Rig, tide: Path) -> None:
    with rig.pipe(tide, COFFER_CHILD="1") as client:
        assert client.end() == (0, b"", b"")
    assert not rig.started()


def test_a_deleted_folder_and_a_home_with_spaces_and_quotes(tmp_path: Path) -> None:
    folder = tmp_path / "it's a home 家"
    folder.mkdir()
    rig = Rig.at(folder)
    try:
        rig.serve()
        gone = tmp_path / "gone"
        gone.mkdir()
        with rig.pipe(gone) as client:
            gone.rmdir()
            client.open()
            assert client.call("restore", id="abcdef")[1]
    finally:
        rig.close()


def test_warm_it_imports_only_what_is_compiled(rig: Rig, tide: Path) -> None:
    rig.serve()
    with rig.pipe(tide) as first:
        first.open()
        first.call("restore", id="abcdef")
    words = [sys.executable, "-X", "importtime", "-I", "-S", str(rig.script), "claude"]
    opening = (
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": OPENING}).encode() + b"\n"
    )
    rig.limit("GRACE", 30.0)
    done = subprocess.run(
        words, input=opening, env=rig.environment, capture_output=True, timeout=60, check=True
    )
    assert json.loads(done.stdout)["id"] == 1
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert {"_socket", "select"} <= imported
    assert not imported & {"os", "json", "re", "typing", "enum", "socket", "selectors", "threading", "hook"}
