from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.lab.anthropic_images import png
from tests.lab.anthropic_request import Call, Memory
from tests.lab.anthropic_rules import RULES, SYSTEM_BETA, breaches, first_breach, read_call
from tests.lab.anthropic_script import count_tokens, inline

if TYPE_CHECKING:
    from tests.lab.anthropic_server import AnthropicServer
    from tests.lab.claude import ClaudeHome

Json = dict[str, Any]
MODEL = "claude-opus-4-8"
MARK = {"cache_control": {"type": "ephemeral"}}


def text(value: str, **more: Any) -> Json:
    return {"type": "text", "text": value, **more}


def thought(value: str = "hm", signature: str = "SIG-A") -> Json:
    return {"type": "thinking", "thinking": value, "signature": signature}


def use(name: str = "toolu_1") -> Json:
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {}}


def result(name: str = "toolu_1", content: Any = "out") -> Json:
    return {"type": "tool_result", "tool_use_id": name, "content": content}


def image(data: bytes | str | None = None, media_type: str = "image/png") -> Json:
    raw = png() if data is None else data
    encoded = raw if isinstance(raw, str) else base64.b64encode(raw).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": encoded}}


def user(*blocks: Json | str) -> Json:
    return {"role": "user", "content": [text(b) if isinstance(b, str) else b for b in blocks]}


def assistant(*blocks: Json | str) -> Json:
    return {"role": "assistant", "content": [text(b) if isinstance(b, str) else b for b in blocks]}


def system(value: str = "context") -> Json:
    return {"role": "system", "content": value}


def ask(*messages: Json, thinking: str = "adaptive", **options: Any) -> Call:
    """Make a request; options are those of `read_call`, and `raw` for a body that is not plain JSON."""
    body = {"model": MODEL, "max_tokens": 64000, "messages": list(messages), "thinking": {"type": thinking}}
    raw = options.pop("raw", None) or json.dumps(body).encode()
    betas = options.pop("betas", (SYSTEM_BETA,))
    return read_call(raw, betas, options.pop("memory", None), **options)


def remembering(*, before: Json | None = None) -> Memory:
    """The server's memory after it sent thinking SIG-A "hm" and toolu_1 in reply to `before`."""
    memory = Memory()
    memory.keep({"content": [thought(), use()]}, ask(before or user("hi")))
    return memory


LOOP = (user("hi"), assistant(thought(), use()), user(result()))
MANY = [image(png(2001)), *[image() for _ in range(20)]]

# rule → (a request that passes, one that breaks this rule and no other, what the API answers)
PAIRS: dict[str, tuple[Call, Call, str]] = {
    "request_size": (
        ask(user("hi")),
        ask(user("x" * (32 * 1024 * 1024))),
        "Request exceeds the maximum size",
    ),
    "valid_json": (
        ask(user("\ud83c\udf89 whole, and \\ud83c as letters")),
        ask(user("half \ud83c of it")),
        "The request body is not valid JSON: no low surrogate in string: line 1 column 130 (char 129)",
    ),
    "roles": (
        ask(user("hi"), system()),
        ask(user("hi"), system(), betas=()),
        'messages: Unexpected role "system".',
    ),
    "system_place": (
        ask(user("hi"), system("one"), system("two"), assistant("ok"), user("next"), system()),
        ask(user("hi"), system("one"), system("two"), user("next")),
        "messages.2: role 'system' must precede an 'assistant' message or end the array;",
    ),
    "first_message": (
        ask(user("hi"), assistant("ok"), user("next")),
        ask(assistant("ok"), user("next")),
        'messages: first message must use the "user" role',
    ),
    "nonempty_message": (
        ask(user("hi"), {"role": "assistant", "content": []}),
        ask(user("hi"), {"role": "assistant", "content": []}, user("next")),
        "messages.1: all messages must have non-empty content except for the optional final assistant",
    ),
    "nonempty_text": (
        ask(user("hi", ".")),
        ask(user("hi", "")),
        "messages: text content blocks must be non-empty",
    ),
    "visible_text": (
        ask(user("hi", " . ")),
        ask(user("hi", " \n")),
        "messages: text content blocks must contain non-whitespace text",
    ),
    "trailing_space": (
        ask(user("hi"), assistant("so "), user("next")),
        ask(user("hi"), assistant("so ")),
        "messages: final assistant content cannot end with trailing whitespace",
    ),
    "id_pattern": (
        ask(user("hi"), assistant(use("a-Z_9")), user(result("a-Z_9"))),
        ask(user("hi"), assistant(use("a.b")), user(result("a.b"))),
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    "unique_ids": (
        ask(*LOOP, assistant(use("toolu_2")), user(result("toolu_2"))),
        ask(*LOOP, assistant(use("toolu_1")), user(result("toolu_1"))),
        "messages.3.content.0: `tool_use` ids must be unique",
    ),
    "known_results": (
        ask(*LOOP),
        ask(user("hi"), assistant("ok"), user(result("toolu_9"))),
        "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9. Each",
    ),
    "answered_calls": (
        ask(user("hi"), assistant(use("a")), assistant(use("b")), user(result("b")), user(result("a"))),
        ask(user("hi"), assistant(use("a"), use("b")), user(result("b"))),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each",
    ),
    "results_first": (
        ask(user("hi"), assistant(use()), user(result(), "and")),
        ask(user("hi"), assistant(use()), user("and", result())),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
    ),
    "single_results": (
        ask(*LOOP),
        ask(*LOOP, user(result())),
        "messages.3.content.0: each tool_use must have a single result. Found multiple `tool_result`",
    ),
    "thinking_last": (
        ask(user("hi"), assistant(thought(), "ok"), user("next")),
        ask(user("hi"), assistant(thought()), user("next")),
        "messages.1: The final block in an assistant message cannot be `thinking`.",
    ),
    "thinking_first": (
        ask(*LOOP, assistant(use("b")), user(result("b")), thinking="enabled"),
        ask(user("hi"), assistant(use()), user(result()), thinking="enabled"),
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
    ),
    "thinking_signed": (
        ask(*LOOP),
        ask(user("hi"), assistant(thought(signature=""), "ok"), user("next")),
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    "thinking_unchanged": (
        ask(*LOOP, memory=remembering()),
        ask(user("hi"), assistant(thought("hmm"), use()), user(result()), memory=remembering()),
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message",
    ),
    "thinking_kept": (
        ask(user("hi"), assistant(use()), user(result()), assistant("ok"), user("n"), memory=remembering()),
        ask(user("hi"), assistant(use()), user(result()), memory=remembering()),
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message",
    ),
    "thinking_bound": (
        ask(user(text("hi", **MARK)), *LOOP[1:], memory=remembering(), preserved_thinking=True),
        ask(user("ho"), *LOOP[1:], memory=remembering(), preserved_thinking=True),
        "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different",
    ),
    "cache_marks": (
        ask(user(*[text(".", **MARK)] * 4)),
        ask(user(*[text(".", **MARK)] * 5)),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    "image_media_type": (
        ask(user(image())),
        ask(user(image(media_type="image/svg+xml"))),
        "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png',",
    ),
    "image_empty": (
        ask(user(image())),
        ask(user(image(""))),
        "messages.0.content.0.image.source.base64: image cannot be empty",
    ),
    "image_base64": (
        ask(user(image())),
        ask(user(image("data:image/png;base64,iVBOR"))),
        "messages.0.content.0.image.source.base64.data: invalid base64 data",
    ),
    "image_format": (
        ask(user(image())),
        ask(*LOOP[:2], user(result(content=[image(media_type="image/jpeg")]))),
        "messages.2.content.0.tool_result.content.0.image.source.base64.data: The image was specified using",
    ),
    "image_size": (
        ask(user(image(png(padding=3_900_000)))),
        ask(user(image(png(padding=4_000_000)))),
        "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 5333412 bytes > 5242880 bytes",
    ),
    "image_count": (
        ask(user(*[image()] * 101), betas=("context-1m-2025-08-07",)),
        ask(user(*[image()] * 101)),
        "Too much media: 0 document pages + 101 images > 100",
    ),
    "image_dimensions": (
        ask(user(*MANY[:20])),
        ask(user(*MANY)),
        "messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max",
    ),
    "prompt_length": (
        ask(user("x" * 100), token_limit=100, count=lambda body: count_tokens(body, 4)),
        ask(user("x" * 4000), token_limit=100, count=lambda body: count_tokens(body, 4)),
        "prompt is too long: 1015 tokens > 100 maximum",
    ),
}


def test_every_rule_has_its_pair_and_a_source() -> None:
    assert set(PAIRS) == {rule.name for rule in RULES}
    assert len(PAIRS) == len(RULES)
    assert all(rule.source.startswith("https://") for rule in RULES)


@pytest.mark.parametrize("name", PAIRS)
def test_a_right_request_passes(name: str) -> None:
    assert list(breaches(PAIRS[name][0])) == []


@pytest.mark.parametrize("name", PAIRS)
def test_a_wrong_request_gets_the_answer_of_just_this_rule(name: str) -> None:
    _, wrong, answer = PAIRS[name]
    found = list(breaches(wrong))
    assert [breach.rule for breach in found] == [name]
    assert found[0].message.startswith(answer)
    assert (found[0].status, found[0].kind) == (
        (413, "request_too_large") if name == "request_size" else (400, "invalid_request_error")
    )


@pytest.mark.parametrize(
    ("messages", "answer"),
    [
        ([user("Hi"), assistant("Hello"), system("x"), user("ok")], "messages.2: role 'system' must follow"),
        (
            [user("Hi"), assistant("Hello"), system("one"), system("two"), user("ok")],
            "messages.2: role 'system' must follow",
        ),
        ([user("Hi"), user("there"), assistant("Hello"), system(), user("ok")], "messages.3: role 'system'"),
        ([system("one"), system("two"), user("ok")], "messages.0: use the top-level 'system' parameter"),
        ([user("Hi"), system("")], "messages.1: system content must contain at least one block"),
        ([user("Hi"), {"role": "tool", "content": "x"}], "messages.1.role: Input should be 'user' or"),
    ],
)
def test_where_system_messages_may_stand(messages: list[Json], answer: str) -> None:
    breach = first_breach(ask(*messages))
    assert breach is not None
    assert breach.message.startswith(answer)


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        (b'{"a": ', "Expecting value"),
        (b"[1]", "expected an object"),
        (rb'{"messages": [], "a": "\ud83c\ud83c"}', "no low surrogate in string"),
        (rb'{"messages": [], "a": "\udf89"}', "invalid high surrogate in string"),
        (rb'{"messages": [], "a": "\ud83cx\udf89"}', "no low surrogate in string"),
    ],
)
def test_what_is_not_json(body: bytes, answer: str) -> None:
    breach = first_breach(ask(raw=body))
    assert breach is not None
    assert breach.rule == "valid_json"
    assert answer in breach.message


def test_thinking_that_the_server_never_sent_is_accepted_when_signed() -> None:
    call = ask(*LOOP, memory=remembering(before=user("another session")))
    assert list(breaches(call)) == []


def test_altered_thinking_of_an_earlier_turn_has_a_wrong_signature() -> None:
    call = ask(
        user("hi"),
        assistant(thought("hmm"), use()),
        user(result()),
        assistant("ok"),
        user("next"),
        memory=remembering(),
    )
    breach = first_breach(call)
    assert breach is not None
    assert breach.message == "messages.1.content.0: Invalid `signature` in `thinking` block"


@pytest.mark.lab
def test_no_rule_fires_on_what_the_real_client_sends(
    claude_home: ClaudeHome, anthropic_server: AnthropicServer
) -> None:
    picture = claude_home.cwd / "dot.png"
    picture.write_bytes(png(8, 8))
    turns = inline(
        {"thinking": "look", "tools": [{"name": "Read", "input": {"file_path": str(picture)}}]},
        {
            "thinking": "two at once",
            "text": "Two commands.",
            "tools": [
                {"name": "Bash", "input": {"command": "echo one", "description": "one"}},
                {"name": "Bash", "input": {"command": "exit 3", "description": "fail"}},
            ],
        },
        {"text": "done"},
    )
    first = claude_home.run("-p", f"go {turns}")
    second = claude_home.run("-p", "next", "--resume", first.session_id)
    for request in (*first.requests, *second.requests):
        betas = request.headers["anthropic-beta"].split(",")
        call = read_call(json.dumps(request.body).encode(), betas, Memory())
        assert [breach.message for breach in breaches(call)] == []
    assert anthropic_server.breaches == []
    assert '"type": "image"' in json.dumps(second.requests[0].messages)
