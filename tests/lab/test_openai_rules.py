"""Each rule of the scripted OpenAI server refuses its breaking request, alone, and lets a good one by."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.lab.openai_checks import Json, Limits, seal
from tests.lab.openai_rules import RULES, breaches, first_breach, read

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "codex"
PNG = "data:image/png;base64,aW1nIGJ5dGVzIGhlcmU="


def user(*parts: Json, **more: Any) -> Json:
    content = list(parts) or [{"type": "input_text", "text": "hello"}]
    return {"type": "message", "role": "user", "content": content, **more}


def said(kind: str = "output_text", **more: Any) -> Json:
    return {"type": "message", "role": "assistant", "content": [{"type": kind, "text": "yes"}], **more}


def call(**more: Any) -> Json:
    return {"type": "function_call", "call_id": "call_1", "name": "shell", "arguments": "{}", **more}


def output(**more: Any) -> Json:
    return {"type": "function_call_output", "call_id": "call_1", "output": "ok", **more}


def thought(**more: Any) -> Json:
    return {"type": "reasoning", "id": "rs_1", "summary": [], **more}


def custom(**more: Any) -> Json:
    return {"type": "custom_tool_call", "call_id": "call_1", "name": "apply_patch", "input": "", **more}


def body(*items: Any, **more: Any) -> bytes:
    return json.dumps({"model": "m", "input": list(items) or [user()], **more}).encode()


def search(arguments: Any) -> bytes:
    asked = {"type": "tool_search_call", "call_id": "call_1", "arguments": arguments}
    return body(user(), asked, {"type": "tool_search_output", "call_id": "call_1", "tools": []})


def action(kind: str) -> bytes:
    return body(user(), {"type": "web_search_call", "action": {"type": kind}}, said())


def image(url: str) -> bytes:
    return body(user({"type": "input_image", "image_url": url}))


@dataclass(frozen=True)
class Pair:
    """A rule's name, a body that it takes, one that it refuses, and the start of the API's message."""

    rule: str
    good: bytes
    bad: bytes
    message: str
    param: str | None


SMALL = Limits(body_bytes=20_000, text_chars=5_000, context_tokens=2_000)
PAIRED = {"fc_1": "rs_1"}
SEALED = seal("the thought")

PAIRS = (
    Pair("body size", body(), body(user(), x="y" * 20_001), "request body too large", None),
    Pair("json body", body(), b'{"model": "m", "input": [', "We could not parse the JSON body", None),
    Pair(
        "lone surrogate",
        b'{"model": "m", "input": "\\ud83c\\udf89"}',
        b'{"model": "m", "input": "half \\ud83c"}',
        "We could not parse the JSON body",
        None,
    ),
    Pair("missing model", body(), body(model=""), "Missing required parameter: 'model'.", "model"),
    Pair("no input", body(), b'{"model": "m", "input": []}', 'One of "input" or', None),
    Pair(
        "item object",
        body(),
        body(user(), "text"),
        "Invalid type for 'input[1]': expected an object, but got a string instead.",
        "input[1]",
    ),
    Pair(
        "item type",
        body(),
        body({"type": "tool_use"}),
        "Invalid value: 'tool_use'. Supported values",
        "input[0]",
    ),
    Pair(
        "role",
        body(user(role="developer")),
        body(user(role="tool")),
        "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
        "input[0]",
    ),
    Pair(
        "missing field",
        body(thought(), said()),
        body({"type": "reasoning", "id": "rs_1"}, said()),
        "Missing required parameter: 'input[0].summary'.",
        "input[0].summary",
    ),
    Pair(
        "string field",
        body(thought(encrypted_content=SEALED), said()),
        body(thought(encrypted_content=7), said()),
        "Invalid type for 'input[0].encrypted_content': expected a string, but got an integer instead.",
        "input[0].encrypted_content",
    ),
    Pair(
        "content type",
        body(call(), output(output="")),
        body(call(), output(output=None)),
        "Invalid type for 'input[1].output': expected one of an array of objects or string, but got null",
        "input[1].output",
    ),
    Pair(
        "search arguments",
        search({"q": "x"}),
        search("{}"),
        "Invalid type for 'input[1].arguments': expected an object, but got a string instead.",
        "input[1].arguments",
    ),
    Pair(
        "empty string",
        body(call(), output()),
        body(call(name=""), output()),
        "Invalid 'input[0].name': empty string.",
        "input[0].name",
    ),
    Pair(
        "name pattern",
        body(call(name="mcp__lab-rules"), output()),
        body(call(name="apply\x00"), output()),
        "Invalid 'input[0].name': string does not match pattern.",
        "input[0].name",
    ),
    Pair(
        "too long",
        body(call(call_id="c" * 64), output(call_id="c" * 64)),
        body(call(call_id="c" * 65), output(call_id="c" * 65)),
        "Invalid 'input[0].call_id': string too long. Expected a string with maximum length 64,",
        "input[0].call_id",
    ),
    Pair(
        "text length",
        body(call(), output(output="x" * 5_000)),
        body(call(), output(output="x" * 5_001)),
        "Invalid 'input[1].output': string too long. Expected a string with maximum length 5000,",
        "input[1].output",
    ),
    Pair(
        "property name",
        search({"k" * 256: 1}),
        search({"Oh" + "x" * 300 + "(": 1}),
        "Invalid property name in 'input[1].arguments': 'Ohx...xx(' is too long.",
        "input[1].arguments.Oh" + "x" * 300 + "(",
    ),
    Pair(
        "id letters",
        body(said(id="msg_a-1")),
        body(said(id="msg 1")),
        "Invalid 'input[0].id': 'msg 1'. Expected an ID that contains letters",
        "input[0].id",
    ),
    Pair(
        "id prefix",
        body(call(id="fc_9"), output(id="fco_9")),
        body(call(id="item_9"), output()),
        "Invalid 'input[0].id': 'item_9'. Expected an ID that begins with 'fc'.",
        "input[0].id",
    ),
    Pair(
        "assistant part",
        body(said("refusal")),
        body(said("input_text")),
        "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
        "input[0].content[0]",
    ),
    Pair(
        "input part",
        body(user({"type": "input_text", "text": ""})),
        body(user({"type": "text", "text": "x"})),
        "Invalid value: 'text'. Supported values are: 'input_text', 'input_image',",
        "input[0].content[0]",
    ),
    Pair(
        "image url",
        image(PNG),
        image("data:image/png;base64,"),
        "Invalid 'input[0].content[0].image_url'. Expected a base64-encoded data URL with an image MIME type",
        "input[0].content[0].image_url",
    ),
    Pair(
        "search action",
        action("open_page"),
        action("other"),
        "Invalid value: 'other'. Supported values are: 'search', 'open_page', and 'find_in_page'.",
        "input[1].action.type",
    ),
    Pair(
        "encrypted content",
        body(thought(encrypted_content=SEALED), said()),
        body(thought(encrypted_content=SEALED[:-9] + SEALED[-8:]), said()),
        "The encrypted content gAAA...",
        None,
    ),
    Pair(
        "duplicate id",
        body(said(id="msg_1"), said(id="msg_2")),
        body(said(id="msg_1"), said(id="msg_1")),
        "Duplicate item found with id msg_1. Remove duplicate items from your input and try again.",
        "input",
    ),
    Pair(
        "call without output",
        body(custom(), {"type": "custom_tool_call_output", "call_id": "call_1", "output": ""}),
        body(custom(), said()),
        "No tool output found for custom tool call call_1.",
        "input",
    ),
    Pair(
        "output without call",
        body(call(), said(), output()),
        body(user(), output()),
        "No tool call found for function call output with call_id call_1.",
        "input",
    ),
    Pair(
        "reasoning follower",
        body(thought(), thought(id="rs_2"), call(), output()),
        body(thought(), user()),
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        "input",
    ),
    Pair(
        "required reasoning",
        body(thought(), call(id="fc_1"), output()),
        body(user(), call(id="fc_1"), output()),
        "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
        "input",
    ),
    Pair(
        "context length",
        body(),
        body(*[user({"type": "input_text", "text": "x" * 3_000}) for _ in range(3)]),
        "Your input exceeds the context window of this model.",
        "input",
    ),
)


def test_each_rule_has_its_pair() -> None:
    assert [pair.rule for pair in PAIRS] == [rule.name for rule in RULES]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.rule)
def test_a_passing_request_passes_and_a_breaking_one_breaks_this_rule_only(pair: Pair) -> None:
    assert breaches(read(pair.good, SMALL, PAIRED)) == []
    [breach] = breaches(read(pair.bad, SMALL, PAIRED))
    assert breach.rule == pair.rule
    assert breach.message.startswith(pair.message)
    assert breach.param == pair.param
    assert breach.body()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_each_rule_names_a_public_page(rule: Any) -> None:
    assert rule.source.startswith("https://")


ODD: tuple[Any, ...] = (
    None, 7, "text", [], {}, {"type": 7}, {"type": None, "role": []}, {"role": "user", "content": {}},
    {"type": "message", "role": {}, "content": [None, 7, {}]}, {"type": "function_call", "name": 7, "id": 9},
    {"type": "function_call_output", "call_id": [], "output": 3}, {"type": "reasoning", "id": {}},
    {"type": "web_search_call", "action": []}, {"type": "tool_search_call", "arguments": None},
)  # fmt: skip


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_no_shape_of_an_item_makes_a_rule_raise(odd: Any) -> None:
    assert isinstance(breaches(read(body(odd, odd), Limits(), {})), list)
    assert isinstance(breaches(read(json.dumps(odd).encode(), Limits(), {})), list)


def sent_by_the_client(name: str) -> bytes:
    """What Codex sends on a resume of a rollout without a compaction: its items, without their metadata."""
    lines = [json.loads(line) for line in (CORPUS / name).read_bytes().splitlines()]
    items = [line["payload"] for line in lines if line["type"] == "response_item"]
    hidden = "internal_chat_message_metadata_passthrough"
    return body(*[{k: v for k, v in item.items() if k != hidden} for item in items], stream=True, store=False)


CLEAN = ("plain", "tools", "tool-failed", "reasoning", "resume", "mcp", "aborted", "hooks", "subagent-parent")


@pytest.mark.parametrize("name", CLEAN)
def test_the_real_clients_items_break_no_rule(name: str) -> None:
    assert first_breach(sent_by_the_client(f"{name}.jsonl")) is None
