from __future__ import annotations

import http.client
import json
import threading
import time
from typing import Any

import pytest

from tests.lab.anthropic_script import Scenario, Turn, inline
from tests.lab.anthropic_server import AnthropicServer

Json = dict[str, Any]


def ask(server: AnthropicServer, *messages: Json | str, **body: Any) -> tuple[int, Json]:
    """Send messages (a string is one of the user); return status and answer."""
    sent = [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]
    data = json.dumps({"model": "m", "max_tokens": 9, "messages": sent, **body})
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
    try:
        connection.request("POST", "/v1/messages?beta=true", data, {"x-api-key": "secret-key"})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


def said(answer: tuple[int, Json]) -> str:
    return str(answer[1]["content"][0]["text"])


def assistant(text: str) -> Json:
    return {"role": "assistant", "content": text}


def test_how_a_reply_is_chosen() -> None:
    scenario = {
        "rules": [{"match": {"last_user": "rule"}, "reply": {"text": "by rule"}, "once": True}],
        "scripts": {"TWO": [{"text": "one"}, {"text": "two"}], "a phrase": [{"text": "by phrase"}]},
        "turns": [{"text": "first"}],
        "default": {"text": "else"},
    }
    with AnthropicServer(scenario) as server:
        assert said(ask(server, "the rule")) == "by rule"
        assert said(ask(server, "the rule")) == "first"
        assert said(ask(server, "the rule")) == "else"
        assert said(ask(server, "@@TWO@@")) == "one"
        assert said(ask(server, "@@TWO@@", assistant("one"), "go on")) == "two"
        assert said(ask(server, "@@TWO@@", assistant("one"), "x", assistant("two"), "x")) == "SCRIPT-END"
        assert said(ask(server, "here is a phrase too")) == "by phrase"
        assert said(ask(server, f"do {inline({'text': 'written here'})}")) == "written here"
        assert [r.how for r in server.requests] == [
            "rule:0:", "turn[0]", "default", "script:TWO[0]", "script:TWO[1]", "script:TWO:end",
            "script:a phrase[0]", "inline[0]",
        ]  # fmt: skip


def test_a_breach_is_refused_and_recorded() -> None:
    with AnthropicServer() as server:
        status, answer = ask(server, " ")
        assert status == 400
        assert answer["type"] == "error"
        assert answer["error"] == {
            "type": "invalid_request_error",
            "message": "messages: text content blocks must contain non-whitespace text",
        }
        assert answer["request_id"].startswith("req_")
        assert [breach.rule for breach in server.breaches] == ["visible_text"]
        assert server.requests[0].rule == "visible_text"
    with AnthropicServer(strict=False) as server:
        assert ask(server, " ")[0] == 200
        assert len(server.breaches) == 1
    with AnthropicServer(lenient=["visible_text"]) as server:
        assert ask(server, " ")[0] == 200
        assert server.breaches == []


def test_a_chosen_status_and_a_delay() -> None:
    error = {"type": "overloaded_error", "message": "busy"}
    with AnthropicServer(
        {"turns": [{"status": 529, "error": error, "headers": {"x-should-retry": "false"}}]}
    ) as server:
        status, answer = ask(server, "hi")
        assert (status, answer["error"]) == (529, error)
    with AnthropicServer(Scenario(default=Turn(text="late", delay_s=0.2))) as server:
        before = time.monotonic()
        assert said(ask(server, "hi")) == "late"
        assert time.monotonic() - before >= 0.2


def test_the_stream_carries_the_whole_message() -> None:
    turn = {
        "thinking": "hm",
        "text": "long " * 200,
        "tools": [{"name": "Bash", "input": {"command": "x" * 9000}}],
    }
    with AnthropicServer({"turns": [turn]}) as server:
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
        connection.request("POST", "/v1/messages", json.dumps(body))
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
        data = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
        deltas = [event["delta"] for event in data if event["type"] == "content_block_delta"]
        assert "".join(d.get("text", "") for d in deltas) == "long " * 200
        assert json.loads("".join(d.get("partial_json", "") for d in deltas)) == {"command": "x" * 9000}
        assert [d["signature"] for d in deltas if "signature" in d] == list(server.memory.thinking)
        assert data[-2]["delta"]["stop_reason"] == "tool_use"
        assert data[-1] == {"type": "message_stop"}


def test_usage_counts_the_request_and_what_is_cached() -> None:
    with AnthropicServer(Scenario(chars_per_token=2)) as server:
        first = ask(server, "x" * 1000)[1]["usage"]
        second = ask(server, "x" * 1000, assistant("OK"), "y" * 500)[1]["usage"]
    assert first["cache_read_input_tokens"] == 0
    assert 500 < first["input_tokens"] + first["cache_creation_input_tokens"] < 600
    assert second["cache_read_input_tokens"] == 3 + first["cache_creation_input_tokens"]
    assert 250 < second["cache_creation_input_tokens"] < 350


def test_a_title_request_gets_json() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    config = {"format": {"type": "json_schema", "schema": schema}}
    with AnthropicServer() as server:
        assert json.loads(said(ask(server, "hi", output_config=config, tools=[])))["title"]
        assert server.messages_requests() == []


def test_the_key_is_nowhere() -> None:
    with AnthropicServer() as server:
        ask(server, "hi")
        assert "secret-key" not in repr(server.requests)
        assert server.requests[0].headers["x-api-key"] == "<removed>"


def test_waiting_for_requests() -> None:
    with AnthropicServer() as server:
        later = threading.Timer(0.1, ask, (server, "hi"))
        later.start()
        server.wait_for(1, 60)
        later.join()
        with pytest.raises(TimeoutError, match="1 of 2 requests"):
            server.wait_for(2, 0.05)


def test_it_stops_at_once_and_leaves_no_thread() -> None:
    threads = threading.active_count()
    with AnthropicServer(Scenario(default=Turn(delay_s=60))) as server:
        kept = http.client.HTTPConnection(server.url.removeprefix("http://"))
        kept.request("GET", "/anything")
        assert kept.getresponse().read()
        waiting = http.client.HTTPConnection(server.url.removeprefix("http://"))
        waiting.request("POST", "/v1/messages", json.dumps({"messages": [{"role": "user", "content": "x"}]}))
        server.wait_for(1)
        before = time.monotonic()
    assert time.monotonic() - before < 1
    assert threading.active_count() == threads
    kept.close()
    waiting.close()
