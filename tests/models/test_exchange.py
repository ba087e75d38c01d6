"""Back ends against servers that misbehave: real sockets, real bytes."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from coffer.core.settings import Model
from coffer.errors import ModelUnavailable
from coffer.models.exchange import LONGEST_WAIT, WAITS
from coffer.models.table import Backend, backend
from tests.models.server import (
    ANTHROPIC,
    GOOD,
    OPENAI,
    Dialect,
    ScriptedServer,
    Slept,
    Step,
    answers,
    hangs,
    hangs_up,
    huge,
    no_http,
    serving,
    trickles,
    trickles_headers,
    trickles_to_the_end,
    truncated,
)

KEY = "sk-ant-api03-Zq8Tq0cVhR5mBn2LxKpW7yUe"
PROMPT = "the quick plover jumps over 13 lazy wardens"
BOTH = pytest.mark.parametrize("dialect", [ANTHROPIC, OPENAI], ids=["anthropic", "openai"])


def model_at(server: ScriptedServer, dialect: Dialect, **more: Any) -> Model:
    path = "" if dialect is ANTHROPIC else "/v1"
    fields: dict[str, Any] = {
        "provider": dialect.provider,
        "base_url": server.url + path,
        "model": "plover-1",
        "key_env": "PLOVER_KEY",
        "retries": 0,
    }
    return Model(**{**fields, **more})


def made(model: Model, slept: Slept | None = None) -> Backend:
    return backend(model, {"PLOVER_KEY": KEY}, lambda: None, slept or Slept())


def refused(model: Model, slept: Slept | None = None) -> ModelUnavailable:
    """The error of one question, after looking that it gives nothing away, not even in what it hangs on."""
    with pytest.raises(ModelUnavailable) as caught:
        made(model, slept).ask(PROMPT, 100)
    error: BaseException | None = caught.value
    assert error is not None
    assert error.__cause__ is None
    assert error.__context__ is None
    for hidden in (KEY, PROMPT, "plover jumps"):
        assert hidden not in str(error)
        assert hidden not in repr(vars(error))
    assert "Nothing was changed" in str(error)
    return caught.value


@BOTH
def test_a_question_and_its_answer(dialect: Dialect) -> None:
    with serving(dialect.says(f"\n{GOOD}\n ")) as server:
        assert made(model_at(server, dialect)).ask(PROMPT, 123) == GOOD
    (request,) = server.requests
    assert request.path == dialect.path
    assert request.prompt == PROMPT
    assert request.json["model"] == "plover-1"
    assert request.json["max_tokens"] == 123
    assert request.headers["content-type"] == "application/json"


def test_each_api_gets_its_own_headers() -> None:
    with serving(ANTHROPIC.says("x")) as server:
        made(model_at(server, ANTHROPIC)).ask(PROMPT, 1)
    assert server.requests[0].headers["x-api-key"] == KEY
    assert server.requests[0].headers["anthropic-version"] == "2023-06-01"
    with serving(OPENAI.says("x")) as server:
        made(model_at(server, OPENAI)).ask(PROMPT, 1)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_local_server_needs_no_key() -> None:
    with serving(OPENAI.says("x")) as server:
        assert made(model_at(server, OPENAI, key_env="")).ask(PROMPT, 1) == "x"
    assert "authorization" not in server.requests[0].headers


def test_a_base_url_with_the_version_in_it_is_understood() -> None:
    with serving(ANTHROPIC.says("x")) as server:
        made(model_at(server, ANTHROPIC, base_url=f"{server.url}/v1")).ask(PROMPT, 1)
    assert server.requests[0].path == "/v1/messages"


@pytest.mark.parametrize("value", [None, "", " \n"])
def test_a_missing_key_asks_nobody(value: str | None) -> None:
    with serving(ANTHROPIC.says("x")) as server:
        environment = {} if value is None else {"PLOVER_KEY": value}
        with pytest.raises(ModelUnavailable, match="PLOVER_KEY") as caught:
            backend(model_at(server, ANTHROPIC), environment, lambda: None, Slept())
    assert caught.value.exit_code == 22
    assert not server.requests


@pytest.mark.parametrize("value", [f"{KEY}\nx-more: 1", f"{KEY}\x00", f"Bearer {KEY}", f"{KEY}é"])
def test_a_key_that_no_header_takes_is_not_repeated(value: str) -> None:
    with serving(ANTHROPIC.says("x")) as server, pytest.raises(ModelUnavailable) as caught:
        backend(model_at(server, ANTHROPIC), {"PLOVER_KEY": value}, lambda: None, Slept())
    assert KEY not in str(caught.value)
    assert not server.requests


def test_the_key_is_not_in_the_repr() -> None:
    with serving(ANTHROPIC.says("x")) as server:
        assert KEY not in repr(made(model_at(server, ANTHROPIC)))


# --- again, and when not

AGAIN: dict[str, tuple[Step, str]] = {
    "429": (answers(429), "asked too often"),
    "408": (answers(408), "fails"),
    "500": (answers(500, b"<html>oops</html>"), "fails"),
    "529": (answers(529, b'{"error": {"type": "overloaded_error"}}'), "overloaded_error"),
    "truncated": (truncated, "broke"),
    "hangs up": (hangs_up, "broke"),
    "no HTTP": (no_http, "broke"),
}


@BOTH
@pytest.mark.parametrize("fault", AGAIN)
def test_a_passing_fault_is_tried_again(dialect: Dialect, fault: str) -> None:
    slept = Slept()
    with serving(AGAIN[fault][0], AGAIN[fault][0], dialect.says("at last")) as server:
        assert made(model_at(server, dialect, retries=2), slept).ask(PROMPT, 9) == "at last"
    assert slept.seconds == list(WAITS[:2])
    assert len({request.body for request in server.requests}) == 1
    assert len(server.requests) == 3


@pytest.mark.parametrize("fault", AGAIN)
def test_a_lasting_fault_ends_after_the_retries(fault: str) -> None:
    step, said = AGAIN[fault]
    slept = Slept()
    with serving(step) as server:
        error = refused(model_at(server, ANTHROPIC, retries=3), slept)
    assert said in str(error)
    assert error.final
    assert len(server.requests) == 4
    assert slept.seconds == list(WAITS[:3])


@pytest.mark.parametrize("step", [hangs, trickles, trickles_headers], ids=["hangs", "body", "headers"])
def test_a_server_that_never_ends_is_left(step: Step) -> None:
    slept = Slept()
    with serving(step) as server:
        error = refused(model_at(server, OPENAI, timeout=0.3, retries=1), slept)
    assert "did not answer within 0.3 seconds" in str(error)
    assert slept.seconds == [WAITS[0]]


def test_a_server_that_hung_once_is_asked_again() -> None:
    with serving(hangs, OPENAI.says("awake")) as server:
        assert made(model_at(server, OPENAI, timeout=2.0, retries=1)).ask(PROMPT, 9) == "awake"


def test_nobody_there() -> None:
    with serving(hangs_up) as server:
        pass
    error = refused(model_at(server, OPENAI, retries=1), slept := Slept())
    assert "no connection" in str(error)
    assert slept.seconds == [WAITS[0]]


@pytest.mark.parametrize(
    ("header", "waited"),
    [
        ("7", 7.0),
        (" 0 ", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 -0000", 0.0),
        ("soon", WAITS[0]),
        ("-5", WAITS[0]),
        ("1e3", WAITS[0]),
        ("", WAITS[0]),
    ],
)
def test_retry_after_is_kept(header: str, waited: float) -> None:
    slept = Slept()
    with serving(answers(429, retry_after=header), OPENAI.says("now")) as server:
        assert made(model_at(server, OPENAI, retries=1), slept).ask(PROMPT, 9) == "now"
    assert slept.seconds == [waited]


@pytest.mark.parametrize("header", [str(int(LONGEST_WAIT) + 1), "999999", "Fri, 01 Jan 2100 00:00:00 GMT"])
def test_nobody_waits_for_hours(header: str) -> None:
    slept = Slept()
    with serving(answers(503, retry_after=header), OPENAI.says("now")) as server:
        refused(model_at(server, OPENAI, retries=5), slept)
    assert len(server.requests) == 1
    assert not slept.seconds


ONCE: dict[str, tuple[Step, str]] = {
    "400": (answers(400, b'{"error": {"type": "invalid_request_error"}}'), "400, invalid_request_error"),
    "401": (answers(401, b'{"error": {"code": "invalid_api_key"}}'), "refuses the key in PLOVER_KEY"),
    "403": (answers(403), "refuses the key"),
    "404": (answers(404, b'{"error": {"type": "not_found_error"}}'), "no such address or model"),
    "413": (answers(413), "refuses the question"),
    "422": (answers(422, b"[]"), "refuses the question"),
    "429 for ever": (answers(429, b'{"error": {"code": "insufficient_quota"}}'), "used up"),
    "204": (answers(204, b""), "no such address"),
    "huge": (huge, "larger than"),
    "html": (answers(200, b"<html>Sign in to the wifi</html>"), "no JSON"),
    "list": (answers(200, b"[1]"), "no JSON object"),
    "deep": (answers(200, b"[" * 300_000), "no JSON"),
    "gzip": (answers(200, b"\x1f\x8b\x08\x00", content_encoding="gzip"), "no JSON"),
    "latin": (answers(200, b'{"x": "\xe9"}'), "no JSON"),
}


@BOTH
@pytest.mark.parametrize("fault", ONCE)
def test_another_fault_is_not_tried_again(dialect: Dialect, fault: str) -> None:
    step, said = ONCE[fault]
    with serving(step) as server:
        error = refused(model_at(server, dialect, retries=5))
    assert said in str(error)
    assert len(server.requests) == 1
    assert error.final == (fault not in ("400", "413", "422"))


def test_what_a_server_says_of_key_or_question_is_not_repeated() -> None:
    body = json.dumps({"error": {"type": KEY, "code": PROMPT, "message": f"{KEY} {PROMPT}"}}).encode()
    with serving(answers(401, body), answers(400, body), answers(500, body)) as server:
        for _ in range(3):
            refused(model_at(server, OPENAI))


@BOTH
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(dialect: Dialect, status: int) -> None:
    to = dialect.path
    with (
        serving(dialect.says("stolen")) as thief,
        serving(lambda handler: handler.send(status, b"", location=thief.url + to)) as server,
    ):
        error = refused(model_at(server, dialect, retries=2))
    assert "redirects" in str(error)
    assert thief.url not in str(error)
    assert len(server.requests) == 1
    assert not thief.requests


# --- answers that are none

EMPTY: dict[str, bytes] = {
    "nothing": b"{}",
    "null": b'{"content": null, "choices": null, "stop_reason": "end_turn"}',
    "empty lists": b'{"content": [], "choices": [], "stop_reason": "end_turn"}',
    "wrong types": b'{"content": [1, {"type": "text", "text": 5}], "choices": [7], "stop_reason": "end_turn"}',
    "a tool": b'{"content": [{"type": "tool_use"}], "choices": [{"message": {}}], "stop_reason": "end_turn"}',
    "blanks": b'{"content": [{"type": "text", "text": " "}], "choices": [{"message": {"content": " "}}],'
    b' "stop_reason": "end_turn"}',
    "text in a text": b'{"content": "x", "choices": "x", "stop_reason": "end_turn"}',
    "message a text": b'{"choices": [{"message": "x", "finish_reason": "stop"}]}',
}


@BOTH
@pytest.mark.parametrize("kind", EMPTY)
def test_an_answer_without_text_is_none(dialect: Dialect, kind: str) -> None:
    with serving(answers(200, EMPTY[kind])) as server:
        error = refused(model_at(server, dialect, retries=2))
    assert not error.final
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("dialect", "more"),
    [
        (ANTHROPIC, {"stop_reason": "max_tokens"}),
        (ANTHROPIC, {"stop_reason": "refusal"}),
        (ANTHROPIC, {"stop_reason": None}),
        (OPENAI, {"finish_reason": "length"}),
        (OPENAI, {"finish_reason": "content_filter"}),
        (OPENAI, {"message": {"content": GOOD, "refusal": "I can't"}}),
    ],
)
def test_half_an_answer_is_none(dialect: Dialect, more: dict[str, Any]) -> None:
    with serving(dialect.says(GOOD, **more)) as server:
        assert not refused(model_at(server, dialect)).final


def test_thinking_aloud_is_no_part_of_the_answer() -> None:
    with serving(OPENAI.says(f"<think>\nClassification: NONE?\n</think>\n\n{GOOD}")) as server:
        assert made(model_at(server, OPENAI)).ask(PROMPT, 9) == GOOD


@BOTH
def test_an_answer_in_small_chunks(dialect: Dialect) -> None:
    with serving(trickles_to_the_end(dialect.reply(GOOD))) as server:
        assert made(model_at(server, dialect)).ask(PROMPT, 9) == GOOD


# --- proxies and TLS


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_local_server_is_not_asked_through_a_proxy(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(OPENAI.says("proxy")) as proxy, serving(OPENAI.says("server")) as server:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        address = server.url.replace("127.0.0.1", host) + "/v1"
        assert made(model_at(server, OPENAI, base_url=address)).ask(PROMPT, 9) == "server"
    assert not proxy.requests


def test_another_machine_is_asked_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(OPENAI.says("through")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        model = model_at(proxy, OPENAI, base_url="http://model.invalid/v1", allow_http=True)
        assert made(model).ask(PROMPT, 9) == "through"
    assert proxy.requests[0].path == "http://model.invalid/v1/chat/completions"


@pytest.mark.parametrize(
    "proxy", ["ftp://user:hunter22@proxy.invalid", "socks5://user:hunter22@proxy.invalid"]
)
def test_a_proxy_of_another_kind_is_said(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    model = Model("openai", "https://model.invalid/v1", "plover-1", "PLOVER_KEY", retries=0)
    error = refused(model)
    assert "proxy" in str(error)
    assert "hunter22" not in str(error)


def test_a_port_that_cannot_be() -> None:
    model = Model("openai", "http://127.0.0.1:99999/v1", "plover-1", "PLOVER_KEY", retries=3)
    assert "127.0.0.1:99999" in str(refused(model))


@contextmanager
def encrypted(server_steps: list[Step], folder: Path) -> Iterator[ScriptedServer]:
    """A server whose certificate nobody has heard of."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *(*subject, "-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serving(*server_steps) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        yield server


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_an_unknown_certificate_gets_neither_key_nor_question(tmp_path: Path) -> None:
    with encrypted([OPENAI.says("x")], tmp_path) as server:
        address = server.url.replace("http:", "https:") + "/v1"
        error = refused(model_at(server, OPENAI, base_url=address, retries=3))
    assert "certificate is not trusted" in str(error)
    assert not server.requests
