"""The request rules of the Messages API, as a literal table.

A row is a name, the public source of the rule or of its wording, and a pure check: Call → error message or
None. The rows are asked from top to bottom; the first that answers refuses the request. The order at the real
API is unknown where a request breaks several rules at once.

Stricter than the API on purpose: `first_message` (enforced by some of its hosts only), `thinking_kept` (the
API can't always tell that thinking was left out; its documents ask for it).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from tests.lab import anthropic_images as images
from tests.lab import anthropic_thinking as thinking
from tests.lab.anthropic_request import Call, Memory, Message

SYSTEM_BETA = "mid-conversation-system-2026-04-07"
MAX_REQUEST = 32 * 1024 * 1024  # bytes
MAX_CACHE_CONTROL = 4
ID = re.compile(r"[a-zA-Z0-9_-]+")
ANYWHERE = "; the directive-only form (content: [] with output_config) is accepted at any position"
SURROGATES = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}|\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\.", re.DOTALL)

Check = Callable[[Call], str | None]


class Breach(NamedTuple):
    """A rule's refusal, with the HTTP status and error type that go with it."""

    rule: str
    message: str
    status: int
    kind: str


class Rule(NamedTuple):
    """One row: see the module's text."""

    name: str
    check: Check
    source: str
    status: int = 400
    kind: str = "invalid_request_error"


def _pairs(turns: tuple[Message, ...]) -> Iterator[tuple[Message | None, Message | None]]:
    """Yield each turn beside the one before it, with None before the first and after the last."""
    yield from zip((None, *turns), (*turns, None), strict=True)


def valid_json(call: Call) -> str | None:
    """The body is JSON, and its strings hold no half surrogate pair."""
    if call.json_error:
        return f"The request body is not valid JSON: {call.json_error}"
    high: re.Match[bytes] | None = None
    for found in SURROGATES.finditer(call.raw):
        escape = found[0].lower()
        is_high, is_low = escape[:4] in (b"\\ud8", b"\\ud9", b"\\uda", b"\\udb"), escape[:3] == b"\\ud"
        if high is not None and not (high.end() == found.start() and is_low and not is_high):
            return _surrogate(call.raw, high.end(), "no low surrogate in string")
        if high is None and is_low and not is_high:
            return _surrogate(call.raw, found.start(), "invalid high surrogate in string")
        high = found if is_high and high is None else None
    return _surrogate(call.raw, high.end(), "no low surrogate in string") if high is not None else None


def _surrogate(raw: bytes, at: int, what: str) -> str:
    line, column = raw.count(b"\n", 0, at) + 1, at - (raw.rfind(b"\n", 0, at) + 1) + 1
    return f"The request body is not valid JSON: {what}: line {line} column {column} (char {at})"


def request_size(call: Call) -> str | None:
    """A request has at most 32 MB."""
    return "Request exceeds the maximum size" if len(call.raw) > MAX_REQUEST else None


def prompt_length(call: Call) -> str | None:
    """The prompt fits the window (checked only when the server was given one)."""
    if call.token_limit is None or call.tokens <= call.token_limit:
        return None
    return f"prompt is too long: {call.tokens} tokens > {call.token_limit} maximum"


def roles(call: Call) -> str | None:
    """Roles are user and assistant; system needs the beta."""
    for message in call.messages:
        if message.role == "system" and SYSTEM_BETA not in call.betas:
            return (
                'messages: Unexpected role "system". The Messages API accepts a top-level `system` '
                'parameter, not "system" as an input message role.'
            )
        if message.role not in ("user", "assistant", "system"):
            return f"messages.{message.n}.role: Input should be 'user' or 'assistant'"
    return None


def system_place(call: Call) -> str | None:
    """System messages (or groups) stand after a user turn, and before an assistant turn or the end."""
    if SYSTEM_BETA not in call.betas:
        return None
    for before, after in _pairs(call.turns):
        if after is not None and after.role == "system":
            if before is None:
                return (
                    f"messages.{after.n}: use the top-level 'system' parameter for the initial system prompt"
                    f"{ANYWHERE}"
                )
            if before.role == "assistant":
                return (
                    f"messages.{after.n}: role 'system' must follow a 'user' message or an 'assistant' "
                    f"message ending in a server tool result{ANYWHERE}"
                )
        elif before is not None and before.role == "system" and after is not None and after.role == "user":
            return (
                f"messages.{before.n}: role 'system' must precede an 'assistant' message or end the array"
                f"{ANYWHERE}"
            )
    return None


def first_message(call: Call) -> str | None:
    """The conversation starts with the user."""
    starts_wrong = bool(call.messages) and call.messages[0].role == "assistant"
    return 'messages: first message must use the "user" role' if starts_wrong else None


def nonempty_message(call: Call) -> str | None:
    """Every message has content; only the last may be an empty assistant message."""
    for message in call.messages:
        if message.blocks:
            continue
        if message.role == "system":
            return f"messages.{message.n}: system content must contain at least one block"
        if message.role != "assistant" or message.n != len(call.messages) - 1:
            return (
                f"messages.{message.n}: all messages must have non-empty content except for the optional "
                "final assistant message"
            )
    return None


def nonempty_text(call: Call) -> str | None:
    """A text block has text."""
    empty = any(block.type == "text" and not block.body.get("text") for block in call.blocks())
    return "messages: text content blocks must be non-empty" if empty else None


def visible_text(call: Call) -> str | None:
    """A text block has more than whitespace."""
    texts = (str(block.body.get("text") or "") for block in call.blocks() if block.type == "text")
    blank = any(text and not text.strip() for text in texts)
    return "messages: text content blocks must contain non-whitespace text" if blank else None


def trailing_space(call: Call) -> str | None:
    """An assistant message at the end (a prefill) does not end in whitespace."""
    last = call.messages[-1] if call.messages else None
    if last is None or last.role != "assistant" or not last.blocks or last.blocks[-1].type != "text":
        return None
    text = str(last.blocks[-1].body.get("text") or "")
    ends = text.strip() and text != text.rstrip()
    return "messages: final assistant content cannot end with trailing whitespace" if ends else None


def id_pattern(call: Call) -> str | None:
    """Tool ids are made of letters, digits, underscore and hyphen."""
    for block in call.blocks():
        key = {"tool_use": "id", "tool_result": "tool_use_id"}.get(block.type)
        if key and not ID.fullmatch(str(block.body.get(key) or "")):
            return f"{block.place}.{block.type}.{key}: String should match pattern '^{ID.pattern}$'"
    return None


def unique_ids(call: Call) -> str | None:
    """No two tool_use blocks share an id."""
    seen: set[str] = set()
    for block in call.blocks():
        if block.type == "tool_use":
            if block.body["id"] in seen:
                return f"{block.place}: `tool_use` ids must be unique"
            seen.add(block.body["id"])
    return None


def _answers(turn: Message | None) -> list[str]:
    blocks = turn.of("tool_result") if turn is not None and turn.role == "user" else []
    return [str(block.body.get("tool_use_id")) for block in blocks]


def _unanswered(turn: Message, ids: Collection[str]) -> str:
    return (
        f"messages.{turn.n}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(ids)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
        "message."
    )


def known_results(call: Call) -> str | None:
    """A tool_result answers a tool_use of the turn before it."""
    for before, turn in _pairs(call.turns):
        if turn is None:
            continue
        calls = before.of("tool_use") if before is not None and before.role == "assistant" else []
        ids = {block.body.get("id") for block in calls}
        for block in turn.of("tool_result"):
            if block.body.get("tool_use_id") not in ids:
                return (
                    f"{block.place}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{block.body.get('tool_use_id')}. Each `tool_result` block must have a corresponding "
                    "`tool_use` block in the previous message."
                )
    return None


def answered_calls(call: Call) -> str | None:
    """Every tool_use is answered in the turn right after it."""
    for turn, after in _pairs(call.turns):
        if turn is not None and turn.role == "assistant":
            open_ids = [
                str(b.body.get("id")) for b in turn.of("tool_use") if b.body.get("id") not in _answers(after)
            ]
            if open_ids:
                return _unanswered(turn, open_ids)
    return None


def results_first(call: Call) -> str | None:
    """In a user turn the tool results stand before everything else (same answer as a missing result)."""
    for before, turn in _pairs(call.turns):
        if turn is None or before is None or turn.role != "user":
            continue
        kinds = [block.type == "tool_result" for block in turn.blocks]
        if kinds != sorted(kinds, reverse=True):
            late = turn.blocks[kinds.index(False) :]
            return _unanswered(before, [str(b.body["tool_use_id"]) for b in late if b.type == "tool_result"])
    return None


def single_results(call: Call) -> str | None:
    """A tool_use has one result."""
    for turn in call.turns:
        for name, count in Counter(_answers(turn)).items():
            if count > 1:
                last = [b for b in turn.of("tool_result") if b.body.get("tool_use_id") == name][-1]
                return (
                    f"{last.place}: each tool_use must have a single result. Found multiple `tool_result` "
                    f"blocks with id: {name}"
                )
    return None


def cache_marks(call: Call) -> str | None:
    """At most four cache_control marks in tools, system and messages."""
    parts = [call.body.get(key) for key in ("tools", "system", "messages")]
    count = json.dumps(parts).count('"cache_control": {')
    if count <= MAX_CACHE_CONTROL:
        return None
    return f"A maximum of {MAX_CACHE_CONTROL} blocks with cache_control may be provided. Found {count}."


CC = "https://github.com/anthropics/claude-code/issues"
DOCS = "https://platform.claude.com/docs/en"

RULES: tuple[Rule, ...] = (
    Rule("request_size", request_size, f"{DOCS}/api/overview#request-size-limits", 413, "request_too_large"),
    Rule("valid_json", valid_json, f"{CC}/3277"),
    Rule("roles", roles, "https://github.com/CherryHQ/cherry-studio/issues/12316"),
    Rule("system_place", system_place, f"{CC}/73821"),
    Rule("first_message", first_message, "https://github.com/anthropics/anthropic-sdk-typescript/issues/622"),
    Rule("nonempty_message", nonempty_message, f"{CC}/6774"),
    Rule("nonempty_text", nonempty_text, f"{CC}/59812"),
    Rule("visible_text", visible_text, f"{CC}/23440"),
    Rule("trailing_space", trailing_space, "https://github.com/tailcallhq/forgecode/issues/1872"),
    Rule("id_pattern", id_pattern, "https://github.com/maximhq/bifrost/issues/5097"),
    Rule("unique_ids", unique_ids, f"{CC}/20901"),
    Rule("known_results", known_results, f"{CC}/13460"),
    Rule("answered_calls", answered_calls, f"{CC}/5060"),
    Rule("results_first", results_first, f"{DOCS}/agents-and-tools/tool-use/handle-tool-calls"),
    Rule("single_results", single_results, f"{CC[:-7]}/commit/20c5837683b01361339d73f7e2ae647fd8293051"),
    Rule("thinking_last", thinking.thinking_last, "https://github.com/tailcallhq/forgecode/issues/3071"),
    Rule("thinking_first", thinking.thinking_first, f"{CC}/12894"),
    Rule("thinking_signed", thinking.thinking_signed, f"{CC}/10627"),
    Rule("thinking_unchanged", thinking.thinking_unchanged, f"{CC}/63203"),
    Rule("thinking_kept", thinking.thinking_kept, f"{DOCS}/build-with-claude/thinking-tool-workflows"),
    Rule(
        "thinking_bound",
        thinking.thinking_bound,
        f"{DOCS}/build-with-claude/preserved-thinking/prefix-checks",
    ),
    Rule("cache_marks", cache_marks, "https://github.com/tghamm/Anthropic.SDK/issues/50"),
    Rule("image_media_type", images.image_media_type, f"{CC}/8184"),
    Rule("image_empty", images.image_empty, f"{CC}/12750"),
    Rule("image_base64", images.image_base64, f"{DOCS}/build-with-claude/vision"),
    Rule("image_format", images.image_format, f"{CC}/13131"),
    Rule("image_size", images.image_size, f"{CC}/14201"),
    Rule("image_count", images.image_count, f"{DOCS}/build-with-claude/vision"),
    Rule("image_dimensions", images.image_dimensions, f"{CC}/52220"),
    Rule("prompt_length", prompt_length, f"{DOCS}/build-with-claude/context-windows"),
)


def breaches(call: Call, lenient: Collection[str] = ()) -> Iterator[Breach]:
    """Yield what every rule that is not in `lenient` has against the request."""
    for rule in RULES:
        message = rule.check(call) if rule.name not in lenient else None
        if message is not None:
            yield Breach(rule.name, message, rule.status, rule.kind)


def first_breach(call: Call, lenient: Collection[str] = ()) -> Breach | None:
    """Return the refusal that the API would answer, or None."""
    return next(breaches(call, lenient), None)


def read_call(
    raw: bytes,
    betas: Collection[str] = (),
    memory: Memory | None = None,
    *,
    token_limit: int | None = None,
    preserved_thinking: bool = False,
    count: Callable[[dict[str, object]], int] = lambda _: 0,
) -> Call:
    """Read a request's body; one that is no JSON object comes back empty with `json_error` set."""
    error, found = None, None
    try:
        found = json.loads(raw)
    except ValueError as problem:
        error = str(problem)
    body: dict[str, object] = found if isinstance(found, dict) else {}
    if error is None and body is not found:
        error = "expected an object"
    return Call(
        body,
        raw,
        frozenset(betas),
        memory or Memory(),
        token_limit,
        count(body) if token_limit is not None else 0,
        preserved_thinking,
        error,
    )
