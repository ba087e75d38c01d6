"""The scripted OpenAI server itself: how it answers, what it remembers, that it goes away."""

import http.client
import json
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import zstandard

from tests.lab.openai_checks import Json
from tests.lab.openai_server import OpenAIServer


def ask(server: OpenAIServer, *texts: str, raw: bytes | None = None, **headers: str) -> tuple[int, str]:
    """Post user texts (or a raw body) to /v1/responses: (status, the answer's text)."""
    items = [{"role": "user", "content": [{"type": "input_text", "text": text}]} for text in texts]
    sent = json.dumps({"model": "m", "input": items}).encode() if raw is None else raw
    place = urlsplit(server.url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=10)
    try:
        connection.request("POST", "/v1/responses", sent, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def completed(stream: str) -> Json:
    """Return the response in the last event of a stream."""
    last = json.loads(stream.strip().rsplit("data: ", 1)[1])
    assert last["type"] == "response.completed"
    found: Json = last["response"]
    return found


def test_a_breach_is_answered_with_the_real_error() -> None:
    orphan = {"type": "function_call_output", "call_id": "call_1", "output": ""}
    with OpenAIServer() as server:
        status, told = ask(server, raw=json.dumps({"model": "m", "input": [orphan]}).encode())
        assert (status, json.loads(told)["error"]) == (
            400,
            {
                "message": "No tool call found for function call output with call_id call_1.",
                "type": "invalid_request_error",
                "param": "input",
                "code": None,
            },
        )
        assert [r.rule for r in server.breaches] == ["output without call"]
    with OpenAIServer(strict=False) as server:
        assert ask(server, raw=json.dumps({"model": "m", "input": [orphan]}).encode())[0] == 200


def test_replies_come_from_rules_then_scripts_then_turns_then_the_default() -> None:
    scenario = {
        "rules": [{"when": {"last_user": "^first"}, "times": 1, "text": "by rule"}],
        "scripts": {"two": [{"text": "one"}, {"text": "two"}]},
        "turns": [{"text": "by turn"}],
        "default": {"text": "by default"},
    }
    with OpenAIServer(scenario) as server:
        for prompt in ("first", "first", "first", "@@two@@", '@@[{"text": "inline"}]@@'):
            ask(server, prompt)
        assert [r.how for r in server.requests] == [
            "rule:0",
            "turn[0]",
            "default",
            "script:two[0]",
            "inline[0]",
        ]


def test_the_stream_ends_with_the_items_and_the_scripted_usage() -> None:
    turn = {
        "items": [{"reasoning": "hm"}, {"call": "shell", "args": {"a": 1}}],
        "usage": {"input": 7, "output": 3},
    }
    with OpenAIServer({"default": turn}) as server:
        response = completed(ask(server, "go")[1])
        assert [item["type"] for item in response["output"]] == ["reasoning", "function_call"]
        assert response["usage"]["total_tokens"] == 10
        without = {"model": "m", "input": [response["output"][1], output_of(response["output"][1])]}
        status, told = ask(server, raw=json.dumps(without).encode())
        assert status == 400
        assert "without its required 'reasoning' item" in told


def output_of(item: Json) -> Json:
    return {"type": "function_call_output", "call_id": item["call_id"], "output": "ok"}


def test_a_scripted_failure_and_a_cut_stream() -> None:
    scenario = {
        "turns": [{"status": 503, "error": {"error": {"message": "busy"}}}, {"text": "x", "cut": True}]
    }
    with OpenAIServer(scenario) as server:
        assert ask(server, "go") == (503, '{"error": {"message": "busy"}}')
        status, stream = ask(server, "go")
        assert status == 200
        assert "response.completed" not in stream


def test_no_key_is_kept_and_compressed_bodies_are_read() -> None:
    packed = zstandard.ZstdCompressor().compress(json.dumps({"model": "m", "input": "hello"}).encode())
    with OpenAIServer() as server:
        status, _ = ask(
            server, raw=packed, **{"Authorization": "Bearer sk-invented", "Content-Encoding": "zstd"}
        )
        assert status == 200
        [request] = server.requests
        assert request.body["input"] == "hello"
        assert "sk-invented" not in repr(request)


def test_many_at_once_are_all_recorded_in_order() -> None:
    with OpenAIServer() as server:
        threads = [threading.Thread(target=ask, args=(server, f"prompt {n}")) for n in range(16)]
        for thread in threads:
            thread.start()
        assert server.wait_for(16, 60)
        for thread in threads:
            thread.join()
        assert [r.n for r in server.requests] == list(range(1, 17))
        assert not server.wait_for(17, 0.01)


def test_it_is_gone_within_a_second_even_while_a_reply_is_delayed() -> None:
    with OpenAIServer({"default": {"text": "late", "delay": 30}}) as server:
        waiting = threading.Thread(target=ask, args=(server, "go"))
        waiting.start()
        assert server.wait_for(1, 60)
        began = time.monotonic()
    assert time.monotonic() - began < 1
    waiting.join(timeout=5)
    assert not waiting.is_alive()
    with pytest.raises(ConnectionError):
        ask(server, "again")


def test_a_scenario_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "scenario.json"
    path.write_text('{"default": {"text": "from a file"}}')
    with OpenAIServer(path) as server:
        text = completed(ask(server, "go")[1])["output"][0]["content"][0]["text"]
        assert text == "from a file"
