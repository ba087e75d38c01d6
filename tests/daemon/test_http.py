"""The interface: what it answers, to whom, how much it takes, and for how long."""

from __future__ import annotations

import http.client
import json
import socket
import time
from contextlib import ExitStack, chdir

import pytest

from coffer.daemon import life
from coffer.daemon.gate import BODY_SECONDS, LARGEST_BODY
from coffer.daemon.listen import Link
from coffer.daemon.server import HEAD_SECONDS, MOST
from coffer.hook import LONGEST_SAID
from coffer.store.hook_events import kept_hooks
from tests.bundle.desk import write_rules
from tests.daemon.rig import LONG, Rig, eventually

ORDER = "Do not push to main on a Friday."
EVENT = "/api/v1/agents/claude/events/Stop"


def connected(rig: Rig) -> socket.socket:
    link = socket.socket(socket.AF_UNIX)
    link.settimeout(LONG)
    with chdir(rig.home.root):
        link.connect("daemon.sock")
    return link


def test_what_it_offers(running: Rig) -> None:
    write_rules(running.house, running.home, ORDER)
    assert running.ask("/api/v1/health")["name"] == "coffer"
    offered = running.ask("/api/v1/openapi.json")
    assert {
        "/api/v1/health",
        "/api/v1/status",
        "/api/v1/agents/{name}/session-context",
        "/api/v1/agents/{name}/sessions/{session_id}/end",
        "/api/v1/agents/{name}/events/{event}",
    } <= set(offered["paths"])
    found = running.ask(f"/api/v1/agents/codex/session-context?cwd={running.house}/nowhere")
    assert ORDER in found["context"]
    assert (found["agent"], found["project"], found["bytes"]) == (
        "codex",
        None,
        len(found["context"].encode()),
    )
    assert not (running.house / "nowhere").exists()


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/agents/none/session-context?cwd=/", 404),
        ("/api/v1/agents/claude/session-context?cwd=here", 422),
        ("/api/v1/agents/claude/session-context", 422),
        ("/api/v1/agents/claude/session-context?cwd=/%00", 422),
        ("/docs", 404),
        ("/", 404),
    ],
)
def test_what_it_refuses(shared: Rig, path: str, status: int) -> None:
    link = Link(shared.home, LONG)
    link.request("GET", path)
    assert link.getresponse().status == status
    link.close()


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"7", b"\xff\x00", b'{"transcript_path": 7, "cwd": []}', b"[" * 100_000]
)
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "Unheard"])
def test_any_stdin_is_answered(shared: Rig, event: str, body: bytes) -> None:
    """No rule of a person's holds here, so a session is told of Coffer's own tools and nothing else."""
    for agent in ("claude", "codex", "nobody"):
        status, said = shared.post(f"/api/v1/agents/{agent}/events/{event}", body)
        assert status == 200
        if event == "SessionStart" and agent == "claude":  # in doubt nothing is sent to Codex
            assert "coffer__resume()" in json.loads(said)["hookSpecificOutput"]["additionalContext"]
        else:
            assert said == b""
    assert "Traceback" not in shared.log()


def test_a_transcript_from_elsewhere_is_none(shared: Rig) -> None:
    secret = shared.house / "secret.jsonl"
    secret.write_text('{"type":"user"}\n')
    said = {"session_id": "x", "cwd": "/", "transcript_path": str(secret), "source": "startup"}
    for event in ("SessionStart", "Stop", "SessionEnd"):
        assert shared.post(f"/api/v1/agents/claude/events/{event}", json.dumps(said).encode())[0] == 200
    assert shared.status()["sessions"] == []


def test_events_are_kept_for_the_gate_without_what_was_said(shared: Rig) -> None:
    session = "11111111-2222-4333-8444-555555555555"
    told = {"session_id": session, "cwd": "/", "prompt": "my words", "background_tasks": []}
    for event in ("UserPromptSubmit", "SubagentStop", "Stop"):
        shared.post(f"/api/v1/agents/claude/events/{event}", json.dumps(told).encode())
        shared.post(f"/api/v1/agents/codex/events/{event}", json.dumps(told).encode())
    path = kept_hooks(shared.home, session)
    lines = eventually(lambda: path.exists() and len(said := path.read_text().splitlines()) == 3 and said)
    assert [json.loads(line)["event"] for line in lines] == ["UserPromptSubmit", "SubagentStop", "Stop"]
    assert "my words" not in path.read_text()


def test_the_largest_stdin_of_a_hook_is_taken_and_no_larger_one(shared: Rig) -> None:
    assert LARGEST_BODY == LONGEST_SAID
    said = b'{"prompt":"' + b"x" * (LONGEST_SAID - 13) + b'"}'
    assert shared.post(EVENT, said) == (200, b"")
    with connected(shared) as link:
        link.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 8000001\r\n\r\n" % EVENT.encode())
        assert link.recv(4096).startswith(b"HTTP/1.1 413 ")


def pour(link: socket.socket, piece: bytes) -> None:
    for _ in range(64):
        link.sendall(piece)


def test_a_trickled_body_is_given_up(hasty: Rig) -> None:
    assert BODY_SECONDS <= 10
    with connected(hasty) as link:
        link.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{" % EVENT.encode())
        assert link.recv(4096).startswith(b"HTTP/1.1 408 ")


def test_a_body_without_a_length_is_counted(shared: Rig) -> None:
    with connected(shared) as link:
        link.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" % EVENT.encode())
        piece = b"%x\r\n%s\r\n" % (1 << 20, b"x" * (1 << 20))
        with pytest.raises(OSError, match=r".*"):
            pour(link, piece)  # it hangs up
    assert shared.status()["memory"] < 150 << 20


def test_a_trickled_head_and_a_silent_client_lose_their_place(hasty: Rig) -> None:
    with connected(hasty) as slow, connected(hasty) as silent:
        slow.sendall(b"POST /api HTTP/1.1\r\nHo")
        began = time.monotonic()
        assert slow.recv(1) == b""
        assert silent.recv(1) == b""
        assert time.monotonic() - began < HEAD_SECONDS + 30
    assert hasty.ask("/api/v1/health") is not None


def test_a_connection_that_is_kept_loses_its_place_too(hasty: Rig) -> None:
    with connected(hasty) as link:
        link.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert link.recv(4096).startswith(b"HTTP/1.1 200")
        link.sendall(b"GET /api/v1/health HTTP/1.1\r\nHo")
        while said := link.recv(4096):
            assert b"name" in said


def test_connections_have_a_limit_and_free_places_come_back(hasty: Rig) -> None:
    with ExitStack() as stack:
        for _ in range(MOST + 2):
            stack.enter_context(connected(hasty))
        assert status(hasty) == 503
        eventually(lambda: status(hasty) == 200)


def status(rig: Rig) -> int:
    link = Link(rig.home, LONG)
    link.request("GET", "/api/v1/health")
    try:
        return link.getresponse().status
    finally:
        link.close()


def test_sixty_four_hooks_at_once_are_all_answered(shared: Rig) -> None:
    with ExitStack() as stack:
        links = [stack.enter_context(connected(shared)) for _ in range(MOST - 1)]
        for link in links:
            link.sendall(
                b"POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"
                % EVENT.encode()
            )
        assert all(link.recv(4096).startswith(b"HTTP/1.1 200") for link in links)


def test_over_tcp_only_who_shows_the_token_to_this_machine(rig: Rig) -> None:
    rig.settings("[http]\ntcp = true\n")
    with rig.daemon():
        known = life.read(rig.home)
        assert known is not None
        assert known.port > 0

        def asked(path: str = "/api/v1/health", **headers: str) -> int:
            link = http.client.HTTPConnection("127.0.0.1", known.port, timeout=LONG)
            link.putrequest("GET", path, skip_host=True)
            for name, value in headers.items():
                link.putheader(name, value)
            link.endheaders()
            status = link.getresponse().status
            link.close()
            return status

        good = {"Host": f"127.0.0.1:{known.port}", "Authorization": f"Bearer {known.token}"}
        assert asked(**good) == 200
        assert asked(**good | {"Host": f"localhost:{known.port}"}) == 200
        assert asked(**good | {"Origin": f"http://localhost:{known.port}"}) == 200
        assert asked(**good | {"Host": "evil.example"}) == 421
        assert asked(**good | {"Host": f"evil.example:{known.port}"}) == 421
        assert asked(Authorization=good["Authorization"]) in (400, 421)
        assert asked(**good | {"Origin": "https://evil.example"}) == 403
        assert asked(**good | {"Origin": "null"}) == 403
        assert asked(Host=good["Host"]) == 401
        assert asked(**good | {"Authorization": "Bearer wrong"}) == 401
        assert asked(**good | {"Authorization": known.token}) == 401
        assert asked("/api/v1/status", Host=good["Host"]) == 401
        assert rig.ask("/api/v1/health") is not None  # on the socket nothing is to be shown


def test_no_port_unless_it_is_wanted(shared: Rig) -> None:
    process = shared.process()
    assert process is not None
    assert [one for one in process.net_connections() if one.laddr] == []
    known = life.read(shared.home)
    assert known is not None
    assert known.port == 0
